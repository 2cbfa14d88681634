// Eight-point Gauss quadrature: cells against finite differences and the reference, bodies against
// the reference and against what elasticity demands.
#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include "lattice/lattice_cases.h"
#include "lattice/reference_support.h"
#include "lattice/solve_options.h"
#include "supple/lattice/gauss_cells.h"
#include "supple/lattice/gauss_kernels.h"
#include "supple/solve/newton.h"

namespace supple::testing {
namespace {

using reference::Definite;
using reference::Matrix24;
using reference::Moduli;
using reference::Quadrature;
using reference::Vector24;

constexpr double h = 0.25;

bool never(const Vec3i&) { return false; }

CornerNumbers numbers(const reference::Corners& x) {
  CornerNumbers result;
  std::copy_n(x.data(), 24, result.begin());
  return result;
}

Vec3d point(int q) {
  const Vec3d signs(q & 1 ? 1 : -1, q >> 1 & 1 ? 1 : -1, q >> 2 ? 1 : -1);
  return Vec3d::Constant(0.5) + signs * (0.5 / std::sqrt(3.0));
}

// Corners moved by a random matrix near `start` and then each by itself.
reference::Corners random_corners(std::mt19937& random, const Mat3d& start) {
  std::normal_distribution<double> normal;
  Mat3d f = start;
  for (int i = 0; i < 9; ++i) f(i / 3, i % 3) += 0.4 * normal(random);
  reference::Corners x;
  for (int i = 0; i < 8; ++i)
    x.col(i) = h * (f * Vec3d(i & 1, i >> 1 & 1, i >> 2) +
                    0.15 * Vec3d(normal(random), normal(random), normal(random)));
  return x;
}

// Cells of all kinds: upright and mirrored, plain, with rests of their own and with what resists
// inversion.
class GaussCellTest : public OnTarget {
 protected:
  template <class Check>
  void for_cells(int count, const Check& check) {
    std::mt19937 random(5);
    std::uniform_real_distribution<float> rest(2.6f, 3.4f);
    for (int n = 0; n < count; ++n) {
      std::array<float, gauss_points> rests;
      for (float& r : rests) r = rest(random);
      GaussCell cell{.mu = 1, .lambda = 4.0 * (n & 3), .spacing = h};
      if (n & 4) cell.rests = rests.data();
      if (n & 8) cell.inversion = 4 * (2 * cell.mu + cell.lambda);
      if (n & 32) cell.flat = 0.1;
      const Mat3d start = (n & 16 ? -1 : 1) * Mat3d::Identity();
      check(cell, random_corners(random, start));
    }
  }

  static Matrix24 matrix(const GaussCell& cell, const reference::Corners& x, Differential kind) {
    Matrix24 result;
    gauss_matrix(cell, numbers(x), differential_rule<double>(kind), result.data());
    return result;
  }

  // How far the points of a cell are from where second derivatives jump or have poles.
  static double margin(const reference::Corners& x) {
    double least = 1;
    for (int q = 0; q < 8; ++q) {
      const Vec3d s = reference::signed_svd(x * reference::shape_gradients(point(q), h)).sigma;
      least = std::min(
          {least, std::abs(s[2]), std::abs(s[2] - 0.1), std::abs(s[1] - 0.1), s[1] + s[2]});
    }
    return least;
  }
};

// The largest L of a cell's points without limits, in units of mu.
double most_turning(const GaussCell& cell, const reference::Corners& x) {
  double most = 0;
  for (int q = 0; q < 8; ++q) {
    const Vec3d s = reference::signed_svd(x * reference::shape_gradients(point(q), h)).sigma;
    most = std::max(most, (cell.lambda / cell.mu * (s.sum() - 3) - 2) / (s[1] + s[2]));
  }
  return most;
}

TEST_P(GaussCellTest, ForcesAreTheGradientOfEnergy) {
  int checked = 0;
  for_cells(256, [&](const GaussCell& cell, reference::Corners x) {
    if (margin(x) < 1e-3) return;
    CornerNumbers gradient;
    const double energy = gauss_energy(cell, numbers(x), &gradient);
    EXPECT_EQ(energy, gauss_energy(cell, numbers(x), nullptr));
    Vector24 expected;
    for (int i = 0; i < 24; ++i) {
      constexpr double d = 2e-5 * h;
      const double at = x.data()[i];
      const auto moved = [&](double by) {
        x.data()[i] = at + by;
        return gauss_energy(cell, numbers(x), nullptr);
      };
      expected[i] = (moved(d) - moved(-d)) / (2 * d);
      x.data()[i] = at;
    }
    const Eigen::Map<const Vector24> found(gradient.data());
    EXPECT_LT((found - expected).norm(), 1e-7 * expected.norm());
    ++checked;
  });
  EXPECT_GT(checked, 200);
}

TEST_P(GaussCellTest, ExactMatricesAreTheDerivativeOfForces) {
  int checked = 0;
  for_cells(512, [&](const GaussCell& cell, reference::Corners x) {
    if (margin(x) < 0.02) return;
    const Matrix24 found = matrix(cell, x, Differential::exact);
    Matrix24 expected;
    for (int i = 0; i < 24; ++i) {
      constexpr double d = 1e-5 * h;
      const double at = x.data()[i];
      CornerNumbers above, below;
      x.data()[i] = at + d;
      gauss_energy(cell, numbers(x), &above);
      x.data()[i] = at - d;
      gauss_energy(cell, numbers(x), &below);
      x.data()[i] = at;
      for (size_t j = 0; j < 24; ++j)
        expected(static_cast<int>(j), i) = (above[j] - below[j]) / (2 * d);
    }
    EXPECT_LT((found - expected).norm(), 1e-6 * expected.norm());
    EXPECT_EQ(found, found.transpose());
    ++checked;
  });
  EXPECT_GT(checked, 200);
}

TEST_P(GaussCellTest, AgreesWithTheReference) {
  for_cells(512, [&](GaussCell cell, const reference::Corners& x) {
    cell.rests = nullptr;
    cell.inversion = 0;
    if (margin(x) < 1e-3) return;
    const reference::Element expected =
        reference::element(x, {cell.mu, cell.lambda}, h, Quadrature::gauss);
    CornerNumbers gradient;
    EXPECT_NEAR(gauss_energy(cell, numbers(x), &gradient), expected.energy,
                1e-13 * expected.energy);
    const Eigen::Map<const Vector24> found(gradient.data());
    EXPECT_LT((found - expected.gradient).norm(), 1e-12 * expected.gradient.norm());
    EXPECT_LT((matrix(cell, x, Differential::exact) - expected.matrix).norm(),
              1e-10 * expected.matrix.norm());
  });
}

// The smallest eigenvalue of a cell's projected matrix, in units of the largest.
double least_eigenvalue(const Matrix24& k) {
  EXPECT_TRUE(k.allFinite());
  const Eigen::VectorXd values = reference::eigenvalues(k);
  return values[0] / std::max(values[23], 1e-30);
}

TEST_P(GaussCellTest, ProjectedMatricesAreSemiDefinite) {
  int indefinite = 0;
  for_cells(1024, [&](const GaussCell& cell, const reference::Corners& x) {
    EXPECT_GT(least_eigenvalue(matrix(cell, x, Differential::projected)), -1e-13);
    EXPECT_GT(least_eigenvalue(matrix(cell, x, Differential::warped)), -1e-13);
    EXPECT_GT(least_eigenvalue(matrix(cell, x, Differential::zhu)), -1e-13);
    indefinite += least_eigenvalue(matrix(cell, x, Differential::exact)) < -1e-6;
  });
  EXPECT_GT(indefinite, 300);
  // Cells collapsed to a plane, a line and a point, mirrored and blown up.
  for (const Vec3d& s : {Vec3d(1, 1, 0), Vec3d(1, 0, 0), Vec3d(0, 0, 0), Vec3d(1, 1e-9, -1e-9),
                         Vec3d(-1, -1, -1), Vec3d(1, 1, -1), Vec3d(1e6, 1e-6, -1e-6)})
    for (const double inversion : {0.0, 40.0}) {
      const GaussCell cell{.mu = 1, .lambda = 8, .spacing = h, .inversion = inversion};
      reference::Corners x;
      for (int i = 0; i < 8; ++i)
        x.col(i) = h * s.cwiseProduct(Vec3d(i & 1, i >> 1 & 1, i >> 2)) + Vec3d(3, -2, 1);
      EXPECT_GT(least_eigenvalue(matrix(cell, x, Differential::projected)), -1e-12) << s;
    }
}

// Point by point, with the reference's derivative of the stress.
TEST_P(GaussCellTest, TheProjectionIsTheNearestOfEachPoint) {
  int checked = 0;
  for_cells(512, [&](GaussCell cell, const reference::Corners& x) {
    cell.rests = nullptr;
    cell.inversion = 0;
    if (margin(x) < 0.02 || most_turning(cell, x) > 10) return;  // the upper limit has no say
    Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(24, 24);
    for (int q = 0; q < 8; ++q) {
      const reference::Gradients g = reference::shape_gradients(point(q), h);
      Eigen::MatrixXd b = Eigen::MatrixXd::Zero(9, 24);
      for (int i = 0; i < 8; ++i)
        for (int a = 0; a < 3; ++a)
          for (int c = 0; c < 3; ++c) b(3 * a + c, 3 * i + c) = g(i, a);
      const Eigen::MatrixXd d =
          reference::projected(reference::stress_derivative(x * g, {cell.mu, cell.lambda}));
      expected += h * h * h / 8 * b.transpose() * d * b;
    }
    EXPECT_LT((matrix(cell, x, Differential::projected) - expected).norm(),
              1e-10 * expected.norm());
    ++checked;
  });
  EXPECT_GT(checked, 300);
}

TEST_P(GaussCellTest, RestsMakePressureAnswerToVolume) {
  const Vec3d s(1.4, 0.8, 0.9);
  const Mat3d turn = Quatd(0.3, -0.5, 0.7, 0.2).normalized().toRotationMatrix();
  reference::Corners x;
  for (int i = 0; i < 8; ++i)
    x.col(i) = h * (turn * s.cwiseProduct(Vec3d(i & 1, i >> 1 & 1, i >> 2)));
  std::array<float, gauss_points> rests;
  rests.fill(3);
  const double change = s.sum() - 3 - (s.prod() - 1);
  EXPECT_NEAR(static_cast<double>(gauss_rests(numbers(x), h, VolumeAnswer::plain, rests.data())),
              std::abs(change), 1e-6);
  EXPECT_EQ(gauss_rests(numbers(x), h, VolumeAnswer::plain, rests.data()), 0);
  const GaussCell cell{.mu = 0, .lambda = 2, .spacing = h, .rests = rests.data()};
  CornerNumbers gradient;
  gauss_energy(cell, numbers(x), &gradient);
  // lambda (J - 1) on each face, a quarter of it at each corner.
  const Vec3d found(gradient[21], gradient[22], gradient[23]);
  const Vec3d expected = turn * Vec3d::Constant(2 * (s.prod() - 1) * h * h / 4);
  EXPECT_LT((found - expected).norm(), 1e-6 * expected.norm());
  // Kept within bounds.
  for (int i = 0; i < 8; ++i) x.col(i) = h * Vec3d(4 * (i & 1), i >> 1 & 1, -(i >> 2));
  gauss_rests(numbers(x), h, VolumeAnswer::plain, rests.data());
  for (const float r : rests) EXPECT_EQ(r, 3.4f);
  gauss_rests(numbers(x), h, VolumeAnswer::gentle, rests.data());
  for (const float r : rests) EXPECT_EQ(r, 4.0f);
  // Broad points answer more gently.
  for (int i = 0; i < 8; ++i) x.col(i) = h * Vec3d(2 * (i & 1), i >> 1 & 1, 0.4 * (i >> 2));
  gauss_rests(numbers(x), h, VolumeAnswer::gentle, rests.data());
  for (const float r : rests) EXPECT_NEAR(static_cast<double>(r), 3.4 + 0.2 / 2, 1e-6);
}

TEST_P(GaussCellTest, BodiesAgreeWithTheReference) {
  Twins twins(
      bitten_box({9, 8, 7}, 81, 0.05), h, varied_moduli, [](const Vec3i& n) { return n[0] < 0; },
      60);
  twins.system.use_eight_points();
  const Eigen::VectorXd x = twins.body.rest() + 0.3 * h * twins.random_vector(82);
  const BlockVector<double> at = twins.blocks<double>(x);
  BlockVector<double> force = twins.system.zero();
  const double energy = twins.body.energy(x, Quadrature::gauss);
  EXPECT_NEAR(twins.system.energy(at), energy, 1e-12 * energy);
  EXPECT_NEAR(twins.system.force(at, force), energy, 1e-12 * energy);
  const Eigen::VectorXd expected = twins.body.force(x, Quadrature::gauss);
  EXPECT_LT((twins.plain(force) - expected).norm(), 1e-11 * expected.norm());
  twins.system.linearise(at, Differential::exact);
  const reference::Sparse k = twins.body.matrix(x, Quadrature::gauss, Definite::no);
  const Eigen::VectorXd v = twins.random_vector(83), kv = k * v;
  BlockVector<double> y = twins.system.zero();
  EXPECT_NEAR(twins.system.apply(twins.blocks<double>(v), y), v.dot(kv), 1e-6 * kv.norm());
  EXPECT_LT((twins.plain(y) - kv).norm(), 1e-6 * kv.norm());
  const Eigen::VectorXd inverse = twins.plain(twins.system.hierarchy().finest().inverse_diagonal);
  for (Eigen::Index i = 0; i < x.size(); ++i)
    if (twins.body.is_free(static_cast<size_t>(i / 3))) {
      EXPECT_NEAR(inverse[i] * k.coeff(i, i), 1, 1e-5);
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, GaussCellTest, ::testing::ValuesIn(simd_targets()));

// With everything a scene may add: springs, pulls, weight, rests and what resists inversion.
TEST(GaussBody, ForcesAndProductsAreDerivativesWithAllThatActs) {
  LatticeSystem s(
      SparseLattice(ragged_cells(84, 7, 0.5)), h,
      [](const Vec3i& c) {
        return CellMaterial{1 + 0.125 * (c[0] & 3), 1.5};
      },
      [](const Vec3i& n) { return n[0] < -2; });
  s.use_eight_points();
  s.resist_inversion(4);
  BlockVector<double> x = s.rest(), weight = s.zero();
  shake(s.lattice(), 0.35 * h, 85, x);
  EXPECT_GT(s.keep_volume(x), 0.1);
  EXPECT_EQ(s.keep_volume(x), 0);
  s.set_springs(
      std::vector<TargetSpring>{{{{0.3, 0.4, 0.2}, {1, 2, 3, 0.5f, 0.25f, 0.125f}}, {1, 2, 3}}});
  s.set_pulls(std::vector<float>(s.lattice().block_count() * block_cells, 0.25f), s.rest());
  shake(s.lattice(), 1, 86, weight);
  s.set_external_forces(weight);
  BlockVector<double> v = s.zero(), force = s.zero(), above = s.zero(), below = s.zero(), kv = v;
  const Level& finest = s.hierarchy().finest();
  shake(s.lattice(), 1, 87, v);
  for_nodes(s.lattice(), [&](LatticePlace at, const Vec3i&) {
    if (!(finest.free[static_cast<size_t>(at.block)] >> at.local & 1)) v.set(at, Vec3d::Zero());
  });
  s.force(x, force);
  constexpr double d = 1e-6 * h;
  BlockVector<double> up = x, down = x;
  add_scaled(d, v, up);
  add_scaled(-d, v, down);
  const double slope = (s.force(up, above) - s.force(down, below)) / (2 * d);
  EXPECT_NEAR(slope, -dot(force, v), 1e-7 * std::sqrt(dot(force, force) * dot(v, v)));
  s.linearise(x, Differential::exact);
  s.apply(v, kv);
  add_scaled(-1.0, above, below);
  for (size_t i = 0; i < below.size(); ++i) below[i] = below[i] / (2 * d) - kv[i];
  EXPECT_LT(std::sqrt(dot(below, below)), 1e-5 * std::sqrt(dot(kv, kv)));
}

TEST(GaussBody, RigidMotionsCostNothing) {
  Twins twins(ragged_cells(88, 6, 0.6), h, varied_moduli, never);
  twins.system.use_eight_points();
  std::mt19937 random(89);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 5; ++trial) {
    const Quatd turn =
        Quatd(normal(random), normal(random), normal(random), normal(random)).normalized();
    Eigen::VectorXd x = twins.body.rest();
    for (Eigen::Index n = 0; n < x.size(); n += 3)
      x.segment<3>(n) = (turn * Vec3d(x.segment<3>(n))).eval() + Vec3d(4, -5, 6);
    BlockVector<double> force = twins.system.zero();
    EXPECT_LT(twins.system.force(twins.blocks<double>(x), force), 1e-26);
    EXPECT_LT(twins.plain(force).lpNorm<Eigen::Infinity>(), 1e-14);
  }
}

TEST(GaussBody, AffineMapsAreEquilibriaAndAreFound) {
  const std::vector<Vec3i> cells = bitten_box({9, 8, 8}, 31, 0.03);
  const SparseLattice lattice(cells);
  const auto on_boundary = [&](const Vec3i& n) {
    for (int i = 0; i < 8; ++i)
      if (!lattice.has_cell(n - Vec3i(i & 1, i >> 1 & 1, i >> 2))) return true;
    return false;
  };
  Twins twins(cells, h, even_moduli, on_boundary);
  twins.system.use_eight_points();
  std::mt19937 random(32);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 4; ++trial) {
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
    x = twins.blocks<double>(affine +
                             0.1 * h * twins.random_vector(40 + static_cast<unsigned>(trial)));
    NewtonWork<LatticeSystem> work(twins.system);
    const NewtonReport report = solve_newton(twins.system, x, work, newton_options(1e-9));
    EXPECT_TRUE(report.converged) << report.residual;
    EXPECT_LT((twins.plain(x) - affine).lpNorm<Eigen::Infinity>(), 1e-8 * h);
  }
}

// No mode is without stiffness but the rigid ones, alone and in a body that nothing holds.
TEST(GaussBody, OnlyRigidMotionsAreFree) {
  Twins twins(box_cells(2, 1, 1), h, even_moduli, never);
  twins.system.use_eight_points();
  const Eigen::VectorXd x = twins.body.rest();
  twins.system.linearise(twins.blocks<double>(x), Differential::projected);
  Eigen::MatrixXd k(x.size(), x.size());
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    BlockVector<double> column = twins.system.zero();
    twins.system.apply(twins.blocks<double>(Eigen::VectorXd::Unit(x.size(), i)), column);
    k.col(i) = twins.plain(column);
  }
  const Eigen::VectorXd values = reference::eigenvalues(k);
  EXPECT_GT(values[0], -1e-6 * h);
  EXPECT_LT(values[5], 1e-6 * h);
  EXPECT_GT(values[6], 1e-2 * h);
}

// A small body, solved directly, that nothing holds: shaken it comes back to rest, up to a rigid
// motion.
TEST(GaussBody, WhatNothingHoldsComesBackToRest) {
  Twins twins(box_cells(4, 4, 4), h, even_moduli, never);
  twins.system.use_eight_points();
  ASSERT_EQ(twins.system.hierarchy().levels(), 1u);
  BlockVector<double> x =
      twins.blocks<double>(twins.body.rest() + 0.2 * h * twins.random_vector(90));
  NewtonWork<LatticeSystem> work(twins.system);
  const NewtonReport report = solve_newton(twins.system, x, work, newton_options(1e-6));
  EXPECT_TRUE(report.converged) << report.residual;
  EXPECT_LT(report.energy, 1e-12);
  EXPECT_LE(report.iterations, 12);
  std::printf("%d iterations, %d linear\n", report.iterations, report.linear_iterations);
}

// Conjugate gradients' iterations to 1e-3 and 1e-6, which hardly grow with the size of the body.
TEST(GaussBody, MultigridPreconditionsIt) {
  for (const char* name :
       {"twist_030", "twist_045", "sphere_030", "sphere_045", "tube_030", "tube_045", "twist_049"})
    for (const int n : {8, 16, 24}) {
      LatticeCase made = make_case(name, n);
      made.system->use_eight_points();
      BlockVector<double> force = made.system->zero();
      made.system->force(made.interpolated, force);
      made.system->linearise(made.interpolated, Differential::projected);
      BlockVector<float> dx = made.system->zero_step();
      int iterations[2];
      for (int i = 0; i < 2; ++i) {
        const LinearReport report = made.system->solve(
            force, dx, linear_options(LinearMethod::multigrid_cg, i == 0 ? 1e-3 : 1e-5, 100));
        iterations[i] = report.iterations;
      }
      const LinearReport jacobi =
          made.system->solve(force, dx, linear_options(LinearMethod::jacobi_cg, 1e-3, 1000));
      const LinearReport alone =
          made.system->solve(force, dx, linear_options(LinearMethod::v_cycle, 1e-3, 100));
      std::printf("%-11s %2d: %d / %d iterations, %d of Jacobi's, %d cycles alone\n", name, n,
                  iterations[0], iterations[1], jacobi.iterations, alone.iterations);
      EXPECT_LE(iterations[0], 6) << name << n;
      EXPECT_LE(iterations[1], 10) << name << n;
    }
}

TEST(GaussBody, NewtonFindsTheEquilibriumFromAJump) {
  for (const char* name : {"twist_030", "twist_045", "sphere_045", "stretch_045", "springs_100"}) {
    LatticeCase made = make_case(name, 12);
    made.system->use_eight_points();
    NewtonWork<LatticeSystem> work(*made.system);
    const NewtonReport report =
        solve_newton(*made.system, made.jump, work, newton_options(1e-3, 60));
    EXPECT_TRUE(report.converged) << name << ' ' << report.residual;
    EXPECT_LE(report.iterations, 15) << name;
    std::printf("%-11s %d iterations, %d linear\n", name, report.iterations,
                report.linear_iterations);
  }
}

}  // namespace
}  // namespace supple::testing
