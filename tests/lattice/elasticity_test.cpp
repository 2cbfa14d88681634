// Energy, force and linearisation of the lattice against finite differences and against a plain
// implementation of the stabilised element written from the formulas.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

#include "lattice/lattice_support.h"
#include "supple/core/parallel.h"
#include "supple/math/simd.h"

namespace supple::testing {
namespace {

constexpr double spacing = 0.3;

CellMaterial varied_material(const Vec3i& c) {
  return {1.0 + 0.1 * ((c[0] * 7 + c[1] * 3 + c[2]) & 7), 1.7 + 0.2 * ((c[0] + c[1] * 5) & 3)};
}

// Energy of one cell from the formulas [McAdams 2011, eq. 15 to 17 in 3D], and of being
// thinner than `flat`.
double cell_energy(const std::array<Vec3d, 8>& x, const CellMaterial& m, double h, double inversion,
                   double flat) {
  double edges = 0;
  for (int i = 0; i < 8; ++i)
    for (int a = 0; a < 3; ++a)
      if ((i >> a & 1) == 0)
        edges +=
            ((x[static_cast<size_t>(i | 1 << a)] - x[static_cast<size_t>(i)]) / h).squaredNorm();
  Mat3d f = Mat3d::Zero();
  for (int i = 0; i < 8; ++i)
    for (int a = 0; a < 3; ++a)
      f.col(a) += ((i >> a & 1) ? 1 : -1) * x[static_cast<size_t>(i)] / (4 * h);
  Eigen::JacobiSVD<Mat3d> svd(f, Eigen::ComputeFullU | Eigen::ComputeFullV);
  const double sign = svd.matrixU().determinant() * svd.matrixV().determinant();
  const double trace =
      svd.singularValues()[0] + svd.singularValues()[1] + sign * svd.singularValues()[2];
  const double v = h * h * h;
  const Vec3d stretches = svd.singularValues().cwiseProduct(Vec3d(1, 1, sign)),
              below = (stretches.array() - flat).cwiseMin(0);
  return m.mu * v / 4 * edges + v * inversion * (m.mu + m.lambda / 2) * below.squaredNorm() +
         v * (-2 * m.mu * trace + 3 * m.mu + m.lambda / 2 * (trace - 3) * (trace - 3));
}

double plain_energy(const LatticeSystem& s, const BlockVector<double>& x, double inversion = 0,
                    double flat = 0) {
  const SparseLattice& l = s.lattice();
  double total = 0;
  for (size_t b = 0; b < l.block_count(); ++b)
    for (int32_t n = 0; n < 64; ++n)
      if (l.cells[b] >> n & 1) {
        std::array<Vec3d, 8> corner;
        const auto at = l.corners(static_cast<int32_t>(b), n);
        for (size_t i = 0; i < 8; ++i) corner[i] = x.at(at[i]);
        // Materials are kept in single precision.
        const CellMaterial m = varied_material(l.coordinates(static_cast<int32_t>(b), n));
        total += cell_energy(
            corner,
            {static_cast<double>(static_cast<float>(m.mu * spacing / 8)) * 8 / spacing,
             static_cast<double>(static_cast<float>(m.lambda * spacing / 16)) * 16 / spacing},
            spacing, inversion, flat);
      }
  return total;
}

LatticeSystem ragged_system(uint32_t seed) {
  return LatticeSystem(SparseLattice(ragged_cells(seed, 19, 0.3)), spacing, varied_material,
                       [](const Vec3i& n) { return n[0] <= -4; });
}

// Cells of about half of the blocks, so that columns of blocks have all kinds of heights and gaps.
LatticeSystem scattered_system(uint32_t seed, std::optional<Vec3i> tile_shifts = {}) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> chance(0, 1);
  std::vector<Vec3i> cells;
  for (const Vec3i& block : box_cells(10, 9, 11)) {
    if (chance(random) < 0.5) continue;
    for (const Vec3i& cell : box_cells(4, 4, 4))
      if (chance(random) < 0.4) cells.push_back(4 * block + cell - Vec3i(12, 20, 16));
  }
  return LatticeSystem(SparseLattice(cells, tile_shifts), spacing, varied_material,
                       [](const Vec3i& n) { return n[0] <= -4; });
}

class EveryTarget : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { set_widest_target(GetParam()); }
  void TearDown() override { set_widest_target(""); }
};
INSTANTIATE_TEST_SUITE_P(Targets, EveryTarget, ::testing::ValuesIn(simd_targets()));

TEST_P(EveryTarget, EnergyIsThatOfTheFormulas) {
  LatticeSystem s = ragged_system(1);
  BlockVector<double> x = s.rest();
  EXPECT_NEAR(s.energy(x), 0, 1e-9);
  shake(s.lattice(), 0.25, 2, x);
  const double expected = plain_energy(s, x);
  EXPECT_NEAR(s.energy(x), expected, 1e-10 * expected);
}

// Expects the force at x to be the energy's slope along random directions, in which fixed nodes do
// not move.
void expect_slopes(const LatticeSystem& s, const BlockVector<double>& x, double tolerance) {
  BlockVector<double> f = s.zero(), moved = s.zero();
  s.force(x, f);
  for (uint32_t seed = 0; seed < 4; ++seed) {
    BlockVector<double> direction = s.zero();
    shake(s.lattice(), 1, 100 + seed, direction);
    for_nodes(s.lattice(), [&](LatticePlace at, const Vec3i& n) {
      if (n[0] <= -4) direction.set(at, Vec3d::Zero());
    });
    const auto energy_at = [&](double t) {
      for (size_t i = 0; i < x.size(); ++i) moved[i] = x[i] + t * direction[i];
      return s.energy(moved);
    };
    const double e = 1e-4;
    const double slope =
        (8 * (energy_at(e) - energy_at(-e)) - (energy_at(2 * e) - energy_at(-2 * e))) / (12 * e);
    EXPECT_NEAR(-dot(f, direction), slope,
                tolerance * std::sqrt(dot(f, f) * dot(direction, direction)));
  }
}

TEST_P(EveryTarget, ForceIsTheGradientOfTheEnergy) {
  LatticeSystem s = ragged_system(3);
  BlockVector<double> x = s.rest();
  shake(s.lattice(), 0.2, 4, x);
  expect_slopes(s, x, 1e-7);
}

// Cells that are flat or inside out push back harder where they are told to; others do not notice.
TEST_P(EveryTarget, CellsInsideOutResist) {
  constexpr double stiffness = 4;
  for (const double flat : {0.0, 0.1}) {
    LatticeSystem s = ragged_system(3);
    BlockVector<double> x = s.rest();
    shake(s.lattice(), 0.02, 4, x);
    const double gentle = s.energy(x);
    s.resist_inversion(stiffness, flat);
    EXPECT_EQ(s.energy(x), gentle);
    shake(s.lattice(), 0.4, 5, x);
    // `flat` is kept in single precision.
    const double expected =
        plain_energy(s, x, stiffness, static_cast<double>(static_cast<float>(flat)));
    EXPECT_GT(expected, 1.005 * plain_energy(s, x));
    EXPECT_NEAR(s.energy(x), expected, 1e-10 * expected);
    expect_slopes(s, x, 1e-6);
  }
}

TEST_P(EveryTarget, ExactLinearisationIsTheDerivativeOfTheForce) {
  LatticeSystem s = ragged_system(5);
  BlockVector<double> x = s.rest(), moved = s.zero();
  shake(s.lattice(), 0.08, 6, x);
  s.linearise(x, Differential::exact);
  BlockVector<double> direction = s.zero(), kd = s.zero(), ahead = s.zero(), behind = s.zero();
  shake(s.lattice(), 1, 7, direction);
  for_nodes(s.lattice(), [&](LatticePlace at, const Vec3i& n) {
    if (n[0] <= -4) direction.set(at, Vec3d::Zero());
  });
  s.apply(direction, kd);
  const double e = 1e-5;
  const auto force_at = [&](double t, BlockVector<double>& f) {
    for (size_t i = 0; i < x.size(); ++i) moved[i] = x[i] + t * direction[i];
    s.force(moved, f);
  };
  force_at(e, ahead);
  force_at(-e, behind);
  double error = 0, size = 0;
  for (size_t i = 0; i < kd.size(); ++i) {
    const double slope = -(ahead[i] - behind[i]) / (2 * e);
    error = std::max(error, std::abs(slope - kd[i]));
    size = std::max(size, std::abs(slope));
  }
  // Rotations and L are kept in single precision.
  EXPECT_LT(error, 6e-6 * size);
}

void expect_product_of_cell_matrices(LatticeSystem s) {
  BlockVector<double> x = s.rest();
  shake(s.lattice(), 0.3, 9, x);
  s.linearise(x, Differential::projected);
  const Level& level = s.hierarchy().finest();
  const SparseLattice& l = level.lattice();
  BlockVector<float> d = s.zero_step(), kd = s.zero_step();
  std::mt19937 random(10);
  std::uniform_real_distribution<float> part(-1, 1);
  for_nodes(l, [&](LatticePlace at, const Vec3i& n) {
    if (n[0] > -4) d.set(at, {part(random), part(random), part(random)});
  });
  s.apply(d, kd);
  BlockVector<double> same = s.zero(), in_double = s.zero();
  for_nodes(l, [&](LatticePlace at, const Vec3i&) { same.set(at, d.at(at).cast<double>()); });
  s.apply(same, in_double);
  BlockVector<double> expected = s.zero(), diagonal = s.zero();
  for (size_t b = 0; b < l.block_count(); ++b)
    for (int32_t n = 0; n < 64; ++n)
      if (l.cells[b] >> n & 1) {
        const auto at = l.corners(static_cast<int32_t>(b), n);
        const CellMatrix k = level.cell_matrix({static_cast<int32_t>(b), n});
        for (size_t i = 0; i < 8; ++i) {
          Vec3d sum = expected.at(at[i]);
          for (size_t j = 0; j < 8; ++j)
            sum += (k.block<3, 3>(3 * static_cast<int>(i), 3 * static_cast<int>(j)) * d.at(at[j]))
                       .cast<double>();
          expected.set(at[i], sum);
          diagonal.set(at[i], diagonal.at(at[i]) +
                                  k.diagonal().segment<3>(3 * static_cast<int>(i)).cast<double>());
        }
      }
  for_nodes(l, [&](LatticePlace at, const Vec3i& n) {
    if (n[0] <= -4) {
      EXPECT_EQ(kd.at(at), Vec3f::Zero());
      EXPECT_EQ(in_double.at(at), Vec3d::Zero());
      EXPECT_EQ(level.inverse_diagonal.at(at), Vec3f::Zero());
      return;
    }
    EXPECT_LT((kd.at(at).cast<double>() - expected.at(at)).norm(), 3e-5);
    EXPECT_LT((in_double.at(at) - expected.at(at)).norm(), 3e-5);
    for (int c = 0; c < 3; ++c)
      EXPECT_NEAR(1 / static_cast<double>(level.inverse_diagonal.at(at)[c]), diagonal.at(at)[c],
                  2e-5 * diagonal.at(at)[c]);
  });
}

TEST_P(EveryTarget, ProductAndDiagonalAreThoseOfTheCellMatrices) {
  expect_product_of_cell_matrices(ragged_system(8));
  for (const uint32_t seed : {9, 10}) expect_product_of_cell_matrices(scattered_system(seed));
}

// Of all shapes that lattices of some number of blocks have, and a few that none has.
TEST_P(EveryTarget, TilesOfAnyShapeGiveTheSame) {
  for (const Vec3i& shifts : {Vec3i(3, 4, 4), Vec3i(3, 3, 3), Vec3i(3, 2, 3), Vec3i(2, 2, 2),
                              Vec3i(1, 2, 2), Vec3i(0, 0, 0), Vec3i(1, 5, 0)})
    expect_product_of_cell_matrices(scattered_system(11, shifts));
}

// Sums, vectors past the cache and smoothing, with tiles that are gone through row by row.
TEST(Tiles, OfAnyShapeGiveTheSameBitsForAnyNumberOfThreads) {
  for (const Vec3i& shifts : {Vec3i(3, 4, 4), Vec3i(3, 3, 3), Vec3i(3, 2, 3), Vec3i(2, 2, 2),
                              Vec3i(1, 2, 2), Vec3i(1, 3, 1), Vec3i(0, 3, 0)}) {
    LatticeSystem s = scattered_system(12, shifts);
    BlockVector<double> at = s.rest();
    shake(s.lattice(), 0.2, 13, at);
    s.linearise(at, Differential::projected);
    Level& level = s.hierarchy().finest();
    BlockVector<float> x = s.zero_step(), b = x;
    for (size_t i = 0; i < x.size(); ++i)
      if (level.inverse_diagonal[i] > 0) {
        x[i] = std::sin(static_cast<float>(i));
        b[i] = std::cos(static_cast<float>(i));
      }
    BlockVector<float> product = s.zero_step();
    level.product(x, product);
    BlockVector<double> fine = s.zero(), fine_product = fine;
    for (size_t i = 0; i < x.size(); ++i)
      fine[i] = level.inverse_diagonal[i] > 0 ? std::sin(static_cast<double>(i)) : 0;
    // direction = 0.3 x + 0.7 D⁻¹ (b - A x), x += direction.
    BlockVector<float> direction = x, moved = x;
    for (size_t i = 0; i < x.size(); ++i) {
      direction[i] = 0.3f * x[i] + 0.7f * level.inverse_diagonal[i] * (b[i] - product[i]);
      moved[i] += direction[i];
    }
    std::vector<float> first;
    for (const size_t streams_from : {size_t{1000000}, size_t{0}}) {
      level.streams_from = streams_from;
      level.asks_from = streams_from;
      set_thread_count(1);
      BlockVector<float> same = product;
      const double form = level.product(x, same), fine_form = level.product(fine, fine_product);
      EXPECT_NEAR(form, dot(x, product), 1e-6 * form);
      EXPECT_NEAR(fine_form, dot(fine, fine_product), 1e-13 * fine_form);
      for (const int threads : {1, 2, 8}) {
        set_thread_count(threads);
        BlockVector<float> y = s.zero_step(), step = x, to = x, scratch = x;
        // What was there before does not matter.
        std::fill_n(y.data(), s.lattice().block_count() * vector_block,
                    std::numeric_limits<float>::quiet_NaN());
        std::fill_n(fine_product.data(), s.lattice().block_count() * vector_block,
                    std::numeric_limits<double>::quiet_NaN());
        EXPECT_EQ(level.product(x, y), form);
        EXPECT_EQ(level.product(fine, fine_product), fine_form) << threads << " threads";
        ASSERT_EQ(0, std::memcmp(y.data(), product.data(), y.size() * sizeof(float)));
        level.smooth({.b = b.data(),
                      .inverse_diagonal = level.inverse_diagonal.data(),
                      .before = step.data(),
                      .direction = step.data(),
                      .x = to.data(),
                      .momentum = 0.3f,
                      .weight = 0.7f},
                     to, scratch);
        for (size_t i = 0; i < x.size(); ++i) {
          ASSERT_NEAR(step[i], direction[i], 2e-6f);
          ASSERT_NEAR(to[i], moved[i], 2e-6f);
        }
        const std::vector<float> now(to.data(), to.data() + to.size());
        if (first.empty()) first = now;
        EXPECT_EQ(now, first) << threads << " threads";
      }
    }
    set_thread_count(0);
  }
}

// What is not a number reaches the nodes of its cells and no others, whichever columns are gone
// through before or after.
TEST_P(EveryTarget, NotANumberStaysWithItsNeighbours) {
  const auto never = [](const Vec3i&) { return false; };
  LatticeSystem s(SparseLattice(box_cells(8, 8, 8)), spacing, varied_material, never);
  s.linearise(s.rest(), Differential::projected);
  Level& level = s.hierarchy().finest();
  for (const Vec3i& odd : {Vec3i(0, 0, 0), Vec3i(2, 3, 3), Vec3i(4, 4, 7), Vec3i(7, 1, 8)}) {
    BlockVector<float> x = s.zero_step(), y = x;
    BlockVector<double> fine = s.zero(), fine_y = fine;
    for_nodes(s.lattice(), [&](LatticePlace node, const Vec3i& at) {
      if (at != odd) return;
      const size_t i =
          static_cast<size_t>(node.block) * vector_block + static_cast<size_t>(node.local);
      fine[i] = x[i] = std::numeric_limits<float>::quiet_NaN();
    });
    for (const size_t streams_from : {size_t{1000000}, size_t{0}}) {
      level.streams_from = streams_from;
      // Twice, as what a product leaves must not be seen by the next one.
      for (int i = 0; i < 2; ++i) {
        level.product(x, y);
        level.product(fine, fine_y);
      }
      for_nodes(s.lattice(), [&](LatticePlace node, const Vec3i& at) {
        const bool beside = (at - odd).cwiseAbs().maxCoeff() <= 1;
        EXPECT_EQ(y.at(node).allFinite(), !beside) << at.transpose() << " by " << odd.transpose();
        EXPECT_EQ(fine_y.at(node).allFinite(), !beside) << at.transpose();
      });
    }
  }
}

TEST(Springs, HoldOnEverySideOfTheLattice) {
  const auto never = [](const Vec3i&) { return false; };
  LatticeSystem s(SparseLattice(box_cells(3, 3, 3)), spacing, varied_material, never);
  const BlockVector<double> x = s.rest();
  BlockVector<double> f = s.zero();
  for (const Vec3d& at : {Vec3d(0, 0, 0), Vec3d(3, 1.5, 1.5), Vec3d(1, 3, 2.5), Vec3d(3, 3, 3)}) {
    s.set_springs({{{at, {2, 2, 2, 0, 0, 0}}, at * spacing + Vec3d(0, 0, 0.1)}});
    EXPECT_NEAR(s.force(x, f), 0.5 * 2 * 0.1 * 0.1, 1e-6) << at.transpose();
    Vec3d sum = Vec3d::Zero();
    for_nodes(s.lattice(), [&](LatticePlace node, const Vec3i&) { sum += f.at(node); });
    EXPECT_NEAR(sum[2], 0.2, 1e-6) << at.transpose();
    EXPECT_EQ(s.hierarchy().finest().extras.springs.size(), 1u);
  }
}

}  // namespace
}  // namespace supple::testing
