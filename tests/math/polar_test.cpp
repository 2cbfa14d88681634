// Rotations out of matrices: factors multiply back, and nothing nearer is found at random.
#include "supple/math/polar.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <Eigen/SVD>

#include <random>

namespace supple {
namespace {

Mat3d random_matrix(std::mt19937& random) {
  std::normal_distribution<double> normal;
  Mat3d m;
  for (int i = 0; i < 9; ++i) m(i / 3, i % 3) = normal(random);
  return m;
}

void expect_rotation(const Mat3d& r) {
  EXPECT_LT((r.transpose() * r - Mat3d::Identity()).norm(), 1e-12);
  EXPECT_GT(r.determinant(), 0);
}

TEST(Polar, FactorsMultiplyBack) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    Mat3d m = random_matrix(random);
    if (trial % 3 == 0) m.col(1) = m.col(0);
    const Polar polar = polar_decomposition(m);
    expect_rotation(polar.rotation);
    EXPECT_LT((polar.rotation * polar.stretch - m).norm(), 1e-12);
    EXPECT_LT((polar.stretch - polar.stretch.transpose()).norm(), 1e-12);
    // One sign throughout: xᵀ S x never changes it.
    const double sign = m.determinant() < -1e-9 ? -1 : 1;
    const Vec3d x = random_matrix(random).col(0);
    if (trial % 3) {
      EXPECT_GT(sign * x.dot(polar.stretch * x), 0);
    }
  }
}

TEST(NearestRotation, NoRandomRotationIsNearer) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 50; ++trial) {
    const Mat3d m = random_matrix(random);
    const Mat3d r = nearest_rotation(m);
    expect_rotation(r);
    for (int k = 0; k < 50; ++k) {
      const Quatd nudge(1, 0.1 * random_matrix(random)(0, 0), 0.1 * random_matrix(random)(0, 0),
                        0.1 * random_matrix(random)(0, 0));
      EXPECT_GE((nudge.normalized().toRotationMatrix() * r - m).norm(), (r - m).norm() - 1e-12);
    }
  }
}

// The quick way agrees with the thorough one on flat, mirrored, stretched and odd matrices.
TEST(RotationOfMatter, IsTheNearestRotation) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 2000; ++trial) {
    Mat3d m = random_matrix(random);
    if (trial % 4 == 1) m = Mat3d::Identity() + 0.2 * m;
    if (trial % 4 == 2) m = 1e3 * m;
    const Vec3d s = Eigen::JacobiSVD<Mat3d>(m).singularValues();
    const double away = m.determinant() > 0 ? s[1] + s[2] : s[1] - s[2];
    if (away < 1e-3 * s[0]) continue;  // two rotations are about as near
    EXPECT_LT((rotation_of_matter(m) - nearest_rotation(m)).norm(), 1e-9) << m;
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Mat3d& m :
       {Mat3d(Mat3d::Zero()), Mat3d(Mat3d::Constant(nan)), Mat3d(Vec3d(1, 1, 0).asDiagonal())})
    expect_rotation(rotation_of_matter(m));
}

TEST(SmallestRotation, TurnsByTheAngleBetween) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 100; ++trial) {
    const Vec3d a = random_matrix(random).col(0).normalized();
    Vec3d b = random_matrix(random).col(0).normalized();
    if (trial == 0) b = a;
    if (trial == 1) b = -a;
    const Quatd q = smallest_rotation(a, b);
    EXPECT_LT((q * a - b).norm(), 1e-7);
    EXPECT_NEAR(2 * std::atan2(q.vec().norm(), std::abs(q.w())),
                std::atan2(a.cross(b).norm(), a.dot(b)), 1e-7);
  }
}

}  // namespace
}  // namespace supple
