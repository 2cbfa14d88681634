// Elements of the lattice against the reference implementation and against what elasticity demands:
// symmetry, definiteness, rigid motions, patch test, no hourglassing.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Geometry>

#include "lattice/reference_support.h"
#include "lattice/solve_options.h"
#include "supple/solve/newton.h"
#include "support/test_support.h"

namespace supple::testing {
namespace {

using reference::Corners;
using reference::Definite;
using reference::Matrix24;
using reference::Moduli;
using reference::Quadrature;

constexpr double h = 0.25;

bool never(const Vec3i&) { return false; }

Vec3i corner_of(int i) { return {i & 1, i >> 1 & 1, i >> 2}; }

// Cells that share no nodes, so that a product with the right vector reads one column of every
// element matrix.
class SeparateCells {
 public:
  SeparateCells(int side, unsigned seed)
      : m_system(SparseLattice(cells(side)), h, material, never), m_x(m_system.zero()) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    for (const Vec3i& cell : cells(side)) {
      Mat3d f;
      for (int i = 0; i < 9; ++i) f(i / 3, i % 3) = 0.6 * normal(random);
      f += (cell[0] & 2 ? 1 : -1) * Mat3d::Identity();  // half of them about mirrored
      Corners x;
      for (int i = 0; i < 8; ++i)
        x.col(i) = h * (f * corner_of(i).cast<double>() +
                        0.1 * Vec3d(normal(random), normal(random), normal(random)));
      for (int i = 0; i < 8; ++i) m_x.set(place(cell, i), x.col(i));
      m_cells.push_back(cell);
      m_corners.push_back(x);
    }
  }

  static CellMaterial material(const Vec3i& cell) {
    return {1, static_cast<double>(cell[1] & 7) * 4};  // Poisson's ratios from 0 to 0.47
  }

  /// All element matrices, from products.
  std::vector<Eigen::Matrix<float, 24, 24>> matrices(Differential kind) {
    m_system.linearise(m_x, kind);
    std::vector<Eigen::Matrix<float, 24, 24>> result(m_cells.size());
    BlockVector<float> unit = m_system.zero_step(), column = m_system.zero_step();
    for (int i = 0; i < 8; ++i)
      for (int c = 0; c < 3; ++c) {
        unit.set_zero();
        for (const Vec3i& cell : m_cells) unit.set(place(cell, i), Vec3f::Unit(c));
        m_system.apply(unit, column);
        for (size_t n = 0; n < m_cells.size(); ++n)
          for (int j = 0; j < 8; ++j)
            result[n].block<3, 1>(3 * j, 3 * i + c) = column.at(place(m_cells[n], j));
      }
    return result;
  }

  const std::vector<Vec3i>& all() const { return m_cells; }
  const Corners& corners(size_t cell) const { return m_corners[cell]; }
  Moduli moduli(size_t cell) const {
    return {material(m_cells[cell]).mu, material(m_cells[cell]).lambda};
  }
  const LatticeSystem& system() const { return m_system; }
  LatticePlace place(const Vec3i& cell, int i) const {
    return m_system.lattice().place(cell + corner_of(i));
  }

 private:
  static std::vector<Vec3i> cells(int side) {
    std::vector<Vec3i> result = box_cells(side, side, side);
    for (Vec3i& c : result) c = 2 * (c - Vec3i::Constant(side / 2));
    return result;
  }

  LatticeSystem m_system;
  BlockVector<double> m_x;
  std::vector<Vec3i> m_cells;
  std::vector<Corners> m_corners;
};

class Element : public OnTarget {};

TEST_P(Element, ProjectedMatricesAreSemiDefiniteInSinglePrecision) {
  const int rounds = GetParam() == simd_targets().front() ? 4 : 1;
  for (int round = 0; round < rounds * test::soak_factor(); ++round) {
    SeparateCells separate(30, static_cast<unsigned>(round));
    const auto matrices = separate.matrices(Differential::projected);
    const int failures = parallel_reduce(
        matrices.size(), 500, 0,
        [&](size_t begin, size_t end) {
          int failed = 0;
          for (size_t n = begin; n < end; ++n) {
            // Positive definite when shifted by the tolerance: what a Cholesky factorisation tells.
            const Eigen::MatrixXd k = matrices[n].cast<double>();
            const Eigen::MatrixXd even = (k + k.transpose()) / 2;
            const Eigen::MatrixXd shifted = even + 1e-5 * h * Eigen::MatrixXd::Identity(24, 24);
            failed += Eigen::LLT<Eigen::MatrixXd>(shifted).info() != Eigen::Success;
          }
          return failed;
        },
        std::plus<>());
    EXPECT_EQ(failures, 0);
  }
}

TEST_P(Element, MatricesAreThoseOfTheReference) {
  SeparateCells separate(12, 99);
  for (const Differential kind : {Differential::projected, Differential::exact}) {
    const auto matrices = separate.matrices(kind);
    int tried = 0;
    for (size_t n = 0; n < matrices.size(); ++n) {
      const Corners& x = separate.corners(n);
      const Vec3d sigma =
          reference::signed_svd(x * reference::shape_gradients(Vec3d::Constant(0.5), h)).sigma;
      const Moduli m = separate.moduli(n);
      // Away from the pole, and where the upper limit of 10 mu is idle.
      const double least = sigma[1] + sigma[2];
      const double turning = (m.lambda * (sigma.sum() - 3) - 2 * m.mu) / least;
      if (least < 0.1 || (kind == Differential::projected && turning > 10 * m.mu)) continue;
      ++tried;
      const Matrix24 exact = reference::element(x, m, h, Quadrature::stabilised).matrix;
      Matrix24 expected = exact;
      if (kind == Differential::projected) expected = reference::projected(exact);
      const Matrix24 ours = matrices[n].cast<double>();
      EXPECT_LT((ours - expected).norm(), 3e-6 * exact.norm() / std::min(1.0, least)) << sigma;
      EXPECT_LT((ours - ours.transpose()).norm(), 1e-6 * ours.norm());
    }
    EXPECT_GT(tried, 1000);
  }
}

TEST_P(Element, AssembledMatrixDiagonalForceAndEnergyAreThoseOfTheReference) {
  Twins twins(ragged_cells(11, 9, 0.35), h, varied_moduli,
              [](const Vec3i& n) { return n[0] < -3; });
  LatticeSystem& s = twins.system;
  std::mt19937 random(12);
  // About a state of moderate strain, so that the comparison is not one of poles.
  const Eigen::VectorXd x = twins.body.rest() + 0.15 * h * twins.random_vector(12);
  const BlockVector<double> at = twins.blocks<double>(x);
  BlockVector<double> force = s.zero();
  const double energy = twins.body.energy(x, Quadrature::stabilised);
  EXPECT_NEAR(s.energy(at), energy, 1e-12 * energy);
  EXPECT_NEAR(s.force(at, force), energy, 1e-12 * energy);
  const Eigen::VectorXd expected = twins.body.force(x, Quadrature::stabilised);
  EXPECT_LT((twins.plain(force) - expected).norm(), 1e-12 * expected.norm());
  for (const Differential kind : {Differential::projected, Differential::exact}) {
    s.linearise(at, kind);
    const reference::Sparse k = twins.body.matrix(
        x, Quadrature::stabilised, kind == Differential::exact ? Definite::no : Definite::yes);
    const Eigen::VectorXd v = twins.random_vector(13), kv = k * v;
    BlockVector<double> y = s.zero();
    const double form = s.apply(twins.blocks<double>(v), y);
    EXPECT_LT((twins.plain(y) - kv).norm(), 2e-6 * kv.norm());
    EXPECT_NEAR(form, v.dot(kv), 2e-6 * kv.norm() * v.norm());
    BlockVector<float> single = s.zero_step();
    s.apply(twins.blocks<float>(v), single);
    EXPECT_LT((twins.plain(single) - kv).norm(), 2e-6 * kv.norm());
    const Eigen::VectorXd inverse = twins.plain(s.hierarchy().finest().inverse_diagonal);
    for (Eigen::Index i = 0; i < k.rows(); ++i) {
      if (twins.body.is_free(static_cast<size_t>(i / 3))) {
        EXPECT_NEAR(1 / inverse[i], k.coeff(i, i), 5e-6 * k.coeff(i, i));
      } else {
        EXPECT_EQ(inverse[i], 0);
      }
    }
  }
}

TEST_P(Element, RigidMotionsCostNothing) {
  Twins twins(ragged_cells(21, 12, 0.4), h, varied_moduli, never);
  std::mt19937 random(22);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 5; ++trial) {
    const Mat3d r =
        Quatd(normal(random), normal(random), normal(random), normal(random)).normalized().matrix();
    const Vec3d shift(10 * normal(random), normal(random), normal(random));
    Eigen::VectorXd x = twins.body.rest();
    for (Eigen::Index n = 0; n < x.size(); n += 3)
      x.segment<3>(n) = (r * x.segment<3>(n) + shift).eval();
    BlockVector<double> force = twins.system.zero();
    const auto cells = static_cast<double>(twins.system.lattice().cell_count());
    EXPECT_NEAR(twins.system.force(twins.blocks<double>(x), force), 0, 1e-13 * cells);
    EXPECT_LT(twins.plain(force).lpNorm<Eigen::Infinity>(), 1e-12);
  }
}

TEST_P(Element, ABodyHasExactlySixZeroModesAtRest) {
  Twins twins({{-1, 0, 3}, {0, 0, 3}, {0, 1, 3}, {0, 1, 4}}, h, varied_moduli, never);
  Eigen::VectorXd x = twins.body.rest();
  const Mat3d r = Eigen::AngleAxisd(1.1, Vec3d(1, -2, 0.5).normalized()).toRotationMatrix();
  for (Eigen::Index n = 0; n < x.size(); n += 3) x.segment<3>(n) = (r * x.segment<3>(n)).eval();
  for (const Differential kind : {Differential::exact, Differential::projected}) {
    twins.system.linearise(twins.blocks<double>(x), kind);
    Eigen::MatrixXd k(x.size(), x.size());
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      BlockVector<double> column = twins.system.zero();
      twins.system.apply(twins.blocks<double>(Eigen::VectorXd::Unit(x.size(), i)), column);
      k.col(i) = twins.plain(column);
    }
    EXPECT_LT((k - k.transpose()).norm(), 1e-6 * k.norm());
    const Eigen::VectorXd values = reference::eigenvalues(k);
    EXPECT_GT(values[0], -1e-6 * h);
    EXPECT_LT(values[5], 1e-6 * h);
    EXPECT_GT(values[6], 1e-2 * h);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Element, ::testing::ValuesIn(simd_targets()));

TEST(PatchTest, AffineMapsAreEquilibriaAndAreFound) {
  const std::vector<Vec3i> cells = bitten_box({11, 9, 8}, 31, 0.04);
  const SparseLattice lattice(cells);
  const auto on_boundary = [&](const Vec3i& n) {
    for (int i = 0; i < 8; ++i)
      if (!lattice.has_cell(n - corner_of(i))) return true;
    return false;
  };
  Twins twins(cells, h, even_moduli, on_boundary);
  int inside = 0;
  for (const Vec3i& n : twins.body.nodes()) inside += !on_boundary(n);
  ASSERT_GT(inside, 60);
  std::mt19937 random(32);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 6; ++trial) {
    Mat3d f;
    for (int i = 0; i < 9; ++i) f(i / 3, i % 3) = 0.2 * normal(random);
    f += Mat3d::Identity();
    f = Quatd(normal(random), normal(random), normal(random), normal(random)).normalized() * f;
    Eigen::VectorXd affine = twins.body.rest();
    for (Eigen::Index n = 0; n < affine.size(); n += 3)
      affine.segment<3>(n) = (f * affine.segment<3>(n)).eval() + Vec3d(1, 2, 3);
    BlockVector<double> x = twins.blocks<double>(affine), force = twins.system.zero();
    twins.system.force(x, force);
    EXPECT_LT(twins.plain(force).lpNorm<Eigen::Infinity>(), 1e-13);
    // From a shaken start it comes back.
    x = twins.blocks<double>(affine +
                             0.1 * h * twins.random_vector(40 + static_cast<unsigned>(trial)));
    NewtonWork<LatticeSystem> work(twins.system);
    const NewtonReport report = solve_newton(twins.system, x, work, newton_options(1e-9));
    EXPECT_TRUE(report.converged) << report.residual;
    EXPECT_LT((twins.plain(x) - affine).lpNorm<Eigen::Infinity>(), 1e-8 * h);
  }
}

TEST(Hourglass, AlternatingNodesCostNothingWithOnePointAndMuchWithOurs) {
  Twins twins(ragged_cells(51, 8, 0.5), h, even_moduli, never);
  const Vec3d d(0.03, -0.02, 0.05);
  Eigen::VectorXd x = twins.body.rest();
  for (size_t n = 0; n < twins.body.nodes().size(); ++n)
    if (twins.body.nodes()[n].sum() & 1) x.segment<3>(3 * static_cast<Eigen::Index>(n)) += d;
  const BlockVector<double> at = twins.blocks<double>(x);
  BlockVector<double> force = twins.system.zero();
  // Each of twelve edges a cell is longer by d: mu h / 4 |d|².
  const double expected =
      12 * h / 4 * d.squaredNorm() * static_cast<double>(twins.system.lattice().cell_count());
  EXPECT_NEAR(twins.system.force(at, force), expected, 1e-11 * expected);
  EXPECT_GT(twins.plain(force).norm(), 0.01);
  twins.system.hierarchy().finest().hourglass = 0;
  EXPECT_NEAR(twins.system.force(at, force), 0, 1e-13 * expected);
  EXPECT_LT(twins.plain(force).norm(), 1e-12);
  EXPECT_NEAR(twins.body.energy(x, Quadrature::centre), 0, 1e-12);
  // The linearisation sees it the same way.
  BlockVector<double> v = twins.system.zero(), y = twins.system.zero();
  for_nodes(twins.system.lattice(), [&](LatticePlace place, const Vec3i& n) {
    if (n.sum() & 1) v.set(place, d);
  });
  twins.system.linearise(at, Differential::projected);
  EXPECT_NEAR(twins.system.apply(v, y), 0, 1e-6 * expected);
  twins.system.hierarchy().finest().hourglass = 1;
  EXPECT_NEAR(twins.system.apply(v, y), 2 * expected, 1e-5 * expected);
}

// How much of a displacement lies in hourglass modes: over all cells, squares of the five
// alternating patterns to squares of all, without translation.
double roughness(const Twins& twins, const Eigen::VectorXd& u, const std::vector<Vec3i>& cells) {
  double rough = 0, whole = 0;
  for (const Vec3i& cell : cells)
    for (int mode = 1; mode < 8; ++mode) {
      Vec3d sum = Vec3d::Zero();
      for (int i = 0; i < 8; ++i)
        sum += (std::popcount(static_cast<unsigned>(~i & mode)) & 1 ? -1 : 1) *
               u.segment<3>(3 * twins.body.index(cell + corner_of(i)));
      whole += sum.squaredNorm();
      if (std::popcount(static_cast<unsigned>(mode)) > 1) rough += sum.squaredNorm();
    }
  return rough / whole;
}

// A flat patch stretched by pinning its four corners to target places [McAdams 2011, fig. 3].
double stretched_patch(float hourglass) {
  constexpr int n = 16;
  const std::vector<Vec3i> cells = box_cells(n, n, 1);
  const auto pinned = [](const Vec3i& p) { return p[0] % n == 0 && p[1] % n == 0; };
  Twins twins(cells, h, even_moduli, pinned);
  for (size_t l = 0; l < twins.system.hierarchy().levels(); ++l)
    twins.system.hierarchy().level(l).hourglass = hourglass;
  Eigen::VectorXd x = twins.body.rest();
  for (size_t i = 0; i < twins.body.nodes().size(); ++i)
    if (pinned(twins.body.nodes()[i])) {
      const auto at = 3 * static_cast<Eigen::Index>(i);
      x[at] = 1.5 * x[at] + (x[at + 1] > 0 ? 0.2 : 0);
      x[at + 1] *= 1.5;
    }
  BlockVector<double> moved = twins.blocks<double>(x);
  NewtonWork<LatticeSystem> work(twins.system);
  auto options = newton_options(1e-2, 60);
  options.linear.method = LinearMethod::jacobi_cg;
  options.linear.limits.iterations = 500;
  const NewtonReport report = solve_newton(twins.system, moved, work, options);
  EXPECT_TRUE(report.converged) << report.residual;
  return roughness(twins, twins.plain(moved) - twins.body.rest(), cells);
}

TEST(Hourglass, AStretchedPatchStaysSmooth) {
  const double stabilised = stretched_patch(1), one_point = stretched_patch(0);
  EXPECT_LT(stabilised, 0.1);
  EXPECT_GT(one_point, 0.5);
  std::printf("roughness: stabilised %.4f, one point %.4f\n", stabilised, one_point);
}

}  // namespace
}  // namespace supple::testing
