// The laws of tetrahedra: gradients and Hessians by finite differences, rest states, projections,
// the limits of invertible StVK and the polynomial that tests them.
#include "supple/material/law_functions.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

#include <random>

namespace supple {
namespace {

constexpr Law all_laws[] = {Law::stvk,        Law::invertible_stvk, Law::stvk_volume,
                            Law::neo_hookean, Law::corotated,       Law::linear};

Mat3d random_matrix(std::mt19937& random, double size) {
  std::uniform_real_distribution<double> number(-size, size);
  Mat3d m;
  for (int i = 0; i < 9; ++i) m(i / 3, i % 3) = number(random);
  return m;
}

Mat3d random_rotation(std::mt19937& random) {
  std::normal_distribution<double> number;
  return Quatd(number(random), number(random), number(random), number(random))
      .normalized()
      .toRotationMatrix();
}

// From next to the rest state to inside out.
Mat3d random_deformation(std::mt19937& random, int kind) {
  if (kind % 3 == 0)
    return random_rotation(random) * (Mat3d::Identity() + random_matrix(random, 0.05));
  if (kind % 3 == 1) return Mat3d::Identity() + random_matrix(random, 0.6);
  return random_matrix(random, 1.5);
}

Elastic<double> material(double poisson) {
  LawLimits limits;
  limits.lower = std::max(limits.lower, least_lower_limit(poisson));
  return elastic(lame_moduli(1, poisson), limits);
}

// Smooth in F: principal stretches away from the limits, from each other's negatives and zero.
bool is_smooth_at(const Mat3d& f, const Elastic<double>& m) {
  const Vec3d s = Eigen::JacobiSVD<Mat3d>(f).singularValues();
  for (int i = 0; i < 3; ++i)
    if (std::abs(s[i] - m.lower) < 1e-3 || std::abs(s[i] - m.upper) < 1e-3) return false;
  return s[2] > 0.05 && (f.determinant() > 0 || s[1] - s[2] > 0.05);
}

class EveryLaw : public ::testing::TestWithParam<Law> {};

TEST_P(EveryLaw, StressIsTheGradientOfTheEnergy) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 600; ++trial) {
    const Elastic<double> m = material(trial % 2 ? 0.3 : 0.45);
    const Mat3d f = random_deformation(random, trial);
    if (!is_smooth_at(f, m)) continue;
    const Mat3d p = stress(GetParam(), f, m);
    for (int i = 0; i < 9; ++i) {
      const double step = 1e-5;
      Mat3d up = f, down = f;
      up(i / 3, i % 3) += step;
      down(i / 3, i % 3) -= step;
      const double slope =
          (energy_density(GetParam(), up, m) - energy_density(GetParam(), down, m)) / (2 * step);
      ASSERT_NEAR(slope, p(i / 3, i % 3), 1e-7 * (1 + p.norm())) << "trial " << trial;
    }
  }
}

TEST_P(EveryLaw, DerivativeIsThatOfTheStress) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 600; ++trial) {
    const Elastic<double> m = material(trial % 2 ? 0.3 : 0.45);
    const Mat3d f = random_deformation(random, trial);
    if (!is_smooth_at(f, m)) continue;
    const StressDerivative d = stress_derivative(GetParam(), f, m, false);
    for (int i = 0; i < 9; ++i) {
      const double step = 1e-5;
      Mat3d up = f, down = f;
      up(i / 3, i % 3) += step;
      down(i / 3, i % 3) -= step;
      const Mat3d slope = (stress(GetParam(), up, m) - stress(GetParam(), down, m)) / (2 * step);
      for (int j = 0; j < 9; ++j)
        ASSERT_NEAR(slope(j / 3, j % 3), d(j, i), 1e-6 * (1 + d.norm()))
            << "trial " << trial << " entry " << j << ", " << i;
    }
  }
}

TEST_P(EveryLaw, ProjectedDerivativeIsTheNearestWithoutNegativeEigenvalues) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 2000; ++trial) {
    const Elastic<double> m = material(0.4);
    const Mat3d f = random_deformation(random, trial);
    const StressDerivative exact = stress_derivative(GetParam(), f, m, false);
    const StressDerivative projected = stress_derivative(GetParam(), f, m, true);
    const Eigen::SelfAdjointEigenSolver<StressDerivative> solver(exact);
    const StressDerivative expected = solver.eigenvectors() *
                                      solver.eigenvalues().cwiseMax(0).asDiagonal() *
                                      solver.eigenvectors().transpose();
    const double scale = 1 + exact.norm();
    ASSERT_LT((exact - exact.transpose()).norm(), 1e-9 * scale);
    ASSERT_LT((projected - expected).norm(), 1e-8 * scale) << "trial " << trial;
    const double least =
        Eigen::SelfAdjointEigenSolver<StressDerivative>(projected).eigenvalues()[0];
    ASSERT_GT(least, -1e-9 * scale);
  }
}

TEST_P(EveryLaw, RestsUndeformedAndAgreesWithTheModuli) {
  for (const double poisson : {0.0, 0.3, 0.45, 0.49}) {
    const Elastic<double> m = material(poisson);
    EXPECT_NEAR(energy_density(GetParam(), Mat3d::Identity(), m), 0, 1e-12);
    EXPECT_LT(stress(GetParam(), Mat3d::Identity(), m).norm(), 1e-12);
    // For small strains all are linear elasticity; the volume term adds to the bulk modulus.
    const double bulk = GetParam() == Law::stvk_volume ? m.volume * (m.lambda + 2 * m.mu / 3) : 0;
    std::mt19937 random(4);
    const Mat3d strain = random_matrix(random, 1);
    const double step = 1e-6;
    const Mat3d p = stress(GetParam(), Mat3d::Identity() + step * strain, m) / step;
    const Mat3d expected = m.mu * (strain + strain.transpose()) +
                           (m.lambda + bulk) * strain.trace() * Mat3d::Identity();
    EXPECT_LT((p - expected).norm(), 1e-4 * (1 + expected.norm())) << poisson;
    // Rest is stable: the derivative there has no negative eigenvalue.
    const StressDerivative d = stress_derivative(GetParam(), Mat3d::Identity(), m, false);
    EXPECT_GT(Eigen::SelfAdjointEigenSolver<StressDerivative>(d).eigenvalues()[0], -1e-9);
  }
}

TEST_P(EveryLaw, DoesNotCareForTurns) {
  if (GetParam() == Law::linear) {
    // The one that does: it takes turns for strain.
    const Mat3d turned = Eigen::AngleAxisd(0.5, Vec3d::UnitX()).toRotationMatrix();
    EXPECT_GT(energy_density(Law::linear, turned, material(0.3)), 1e-3);
    return;
  }
  std::mt19937 random(5);
  for (int trial = 0; trial < 200; ++trial) {
    const Elastic<double> m = material(0.3);
    const Mat3d f = random_deformation(random, trial), r = random_rotation(random);
    const double energy = energy_density(GetParam(), f, m);
    EXPECT_NEAR(energy_density(GetParam(), r * f, m), energy, 1e-10 * (1 + std::abs(energy)));
    EXPECT_NEAR(energy_density(GetParam(), f * r, m), energy, 1e-10 * (1 + std::abs(energy)));
    // No moment: P Fᵀ is symmetric.
    const Mat3d moment = stress(GetParam(), f, m) * f.transpose();
    EXPECT_LT((moment - moment.transpose()).norm(), 1e-11 * (1 + moment.norm()));
  }
}

INSTANTIATE_TEST_SUITE_P(Laws, EveryLaw, ::testing::ValuesIn(all_laws), [](const auto& info) {
  std::string name(law_names[static_cast<size_t>(info.param)]);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(InvertibleStvk, IsStvkWithinTheLimits) {
  std::mt19937 random(6);
  const Elastic<double> m = material(0.3);
  int inside = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const Mat3d f = random_deformation(random, trial);
    if (!is_within_limits(f, m)) continue;
    ++inside;
    const Mat3d p = stress(Law::stvk, f, m);
    EXPECT_LT((stress(Law::invertible_stvk, f, m) - p).norm(), 1e-12 * (1 + p.norm()));
  }
  EXPECT_GT(inside, 500);
}

// [Kim 2011, fig. 5]: along one axis the stress goes on with the slope it has at the limits.
TEST(InvertibleStvk, GoesOnLinearlyBeyondTheLimits) {
  const Elastic<double> m = material(0.3);
  const auto along = [&](double stretch, Law law) {
    return stress(law, Vec3d(stretch, 1, 1).asDiagonal(), m)(0, 0);
  };
  const double step = 1e-6;
  for (const double limit : {m.lower, m.upper}) {
    const double slope =
        (along(limit + step, Law::stvk) - along(limit - step, Law::stvk)) / (2 * step);
    const double away = limit == m.lower ? -1 : 1;
    // Turned further inside out than it is wide, an element is taken for one mirrored elsewhere.
    for (const double far : {0.01, 0.3, 1.0, 1.6})
      EXPECT_NEAR(along(limit + away * far, Law::invertible_stvk),
                  along(limit, Law::stvk) + away * far * slope, 1e-6)
          << limit << " " << far;
  }
}

TEST(InvertibleStvk, PushesBackHoweverFlatOrInsideOut) {
  for (const double poisson : {0.0, 0.2, 0.3, 0.4, 0.45, 0.49}) {
    const Elastic<double> m = material(poisson);
    std::mt19937 random(7);
    std::uniform_real_distribution<double> number(-3, 3);
    for (int trial = 0; trial < 5000; ++trial) {
      // Convex in the stretches outside of the limits: towards rest is always downhill.
      const Vec3d s(number(random), number(random), number(random));
      if ((s - Vec3d::Ones()).norm() < 0.1) continue;
      const Mat3d f = s.cwiseAbs().asDiagonal();
      const Mat3d p = stress(Law::invertible_stvk, f, m);
      EXPECT_GT((p.diagonal().cwiseProduct(s.cwiseAbs() - Vec3d::Ones())).sum(), 0)
          << poisson << ": " << s.transpose();
    }
    // A mirrored element is pushed through the plane, not away from it.
    for (const double squashed : {0.5, 0.1, 0.0, -0.1, -1.0, -3.0})
      EXPECT_LT(stress(Law::invertible_stvk, Vec3d(1, 1, squashed).asDiagonal(), m)(2, 2), 0);
  }
}

// [Kim 2011, eq. 7]: no element beyond the limits may be taken for little deformed.
TEST(InvertibleStvk, PolynomialNeverMissesALargeDeformation) {
  std::mt19937 random(8);
  const Elastic<double> m = material(0.3);
  int missed = 0, found = 0, wrong = 0, near = 0;
  for (int trial = 0; trial < 1000000; ++trial) {
    const Mat3d f = trial % 4 == 0 ? random_matrix(random, 1.5)
                                   : Mat3d(Mat3d::Identity() + random_matrix(random, 0.35));
    const bool within = is_within_limits(f, m);
    const Eigen::Vector3d squares = Eigen::SelfAdjointEigenSolver<Mat3d>()
                                        .computeDirect(f.transpose() * f, Eigen::EigenvaluesOnly)
                                        .eigenvalues();
    const double least = std::sqrt(std::max(squares[0], 0.0)), most = std::sqrt(squares[2]);
    const bool truly = f.determinant() > 0 && least >= m.lower && most <= m.upper;
    if (within && !truly) {
      // The direct solver rounds; ask one that does not.
      const Vec3d s = Eigen::JacobiSVD<Mat3d>(f).singularValues();
      missed += f.determinant() <= 0 || s[2] < m.lower || s[0] > m.upper;
    }
    if (!within && truly) {
      const bool close = least < m.lower * (1 + 1e-6) || most > m.upper * (1 - 1e-6);
      near += close;
      wrong += !close;
    }
    found += !within;
  }
  EXPECT_EQ(missed, 0);
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(found, 100000);
  EXPECT_LT(found, 900000);
  EXPECT_LT(near, 50);
}

}  // namespace
}  // namespace supple
