// Spatial algebra against full matrices, and rotation vectors against Eigen's.
#include "supple/math/spatial.h"

#include <gtest/gtest.h>
#include <Eigen/LU>

#include <numbers>
#include <random>

namespace supple {
namespace {

using Mat6d = Eigen::Matrix<double, 6, 6>;
using Vec6d = Eigen::Matrix<double, 6, 1>;

class SpatialTest : public testing::Test {
 protected:
  Vec3d vector() {
    std::normal_distribution<double> normal;
    return {normal(m_random), normal(m_random), normal(m_random)};
  }
  Mat3d matrix() {
    Mat3d m;
    m << vector(), vector(), vector();
    return m;
  }
  Symmetric3d symmetric() {
    const Mat3d m = matrix();
    return Symmetric3d::of(m * m.transpose());
  }

 private:
  std::mt19937 m_random{1};
};

Mat6d full(const SpatialInertia& s) {
  Mat6d m;
  m << s.a.matrix(), s.b, s.b.transpose(), s.c.matrix();
  return m;
}

TEST_F(SpatialTest, InertiasAreMatrices) {
  for (int i = 0; i < 20; ++i) {
    const SpatialInertia s{symmetric(), matrix(), symmetric()};
    const Twist v{vector(), vector()};
    Vec6d x;
    x << v.angular, v.linear;
    const Vec6d y = full(s) * x;
    const Wrench w = s * v;
    EXPECT_LT((y.head<3>() - w.torque).norm() + (y.tail<3>() - w.force).norm(), 1e-12);
  }
}

TEST_F(SpatialTest, MovingInertiasMovesTwistsAndWrenches) {
  for (int i = 0; i < 20; ++i) {
    const SpatialInertia s{symmetric(), matrix(), symmetric()},
        t{symmetric(), matrix(), symmetric()};
    const Vec3d r = vector();
    Mat6d x = Mat6d::Identity();
    x.bottomLeftCorner<3, 3>() = -cross_matrix(r);
    SpatialInertia sum = t;
    add_moved(sum, s, r);
    const Mat6d expected = full(t) + x.transpose() * full(s) * x;
    EXPECT_LT((full(sum) - expected).norm(), 1e-12 * expected.norm());
  }
}

TEST_F(SpatialTest, RigidInertiaGivesKineticEnergyOfItsPoints) {
  double mass = 0, energy = 0;
  Vec3d centre = Vec3d::Zero();
  Mat3d about = Mat3d::Zero();
  const Twist v{vector(), vector()};
  for (int i = 0; i < 10; ++i) {
    const Vec3d r = vector();
    const double m = 0.1 + r[0] * r[0];
    mass += m;
    centre += m * r;
    about += m * (r.squaredNorm() * Mat3d::Identity() - r * r.transpose());
    energy += m * (v.linear + v.angular.cross(r)).squaredNorm() / 2;
  }
  const Wrench p = SpatialInertia::rigid(mass, centre / mass, Symmetric3d::of(about)) * v;
  EXPECT_NEAR((p.torque.dot(v.angular) + p.force.dot(v.linear)) / 2, energy, 1e-12 * energy);
}

TEST_F(SpatialTest, SymmetricMatricesTurn) {
  for (int i = 0; i < 20; ++i) {
    const Symmetric3d s = symmetric();
    const Mat3d r = rotation_of(vector()).toRotationMatrix();
    const Mat3d expected = r * s.matrix() * r.transpose();
    EXPECT_LT((rotated(s, r).matrix() - expected).norm(), 1e-13 * expected.norm());
  }
}

TEST_F(SpatialTest, FactorsSolve) {
  for (int i = 0; i < 50; ++i) {
    const Symmetric3d s = symmetric();
    const Vec3d b = vector();
    const Factored3d f(s, 0);
    EXPECT_FALSE(f.singular);
    EXPECT_LT((s * f.solve(b) - b).norm(), 1e-9 * b.norm());
  }
  const Vec3d u = vector();
  const Factored3d flat(Symmetric3d::of(u * u.transpose()), 1e-13 * u.squaredNorm());
  EXPECT_TRUE(flat.singular);
  EXPECT_TRUE(flat.solve(vector()).allFinite());
  EXPECT_TRUE(Factored3d(Symmetric3d{}, 0).singular);
}

TEST_F(SpatialTest, RotationVectorsComeBack) {
  for (const double angle :
       {0.0, 1e-300, 1e-12, 1e-6, 0.99e-4, 1.01e-4, 0.1, 1.0, 3.0, 3.14159265358}) {
    const Vec3d turn = angle * vector().normalized();
    const Quatd q = rotation_of(turn);
    EXPECT_NEAR(q.norm(), 1, 1e-15);
    EXPECT_LT((rotation_vector(q) - turn).norm(), 1e-12 * angle + 1e-300) << angle;
    EXPECT_LT((rotation_vector(Quatd(-q.coeffs())) - turn).norm(), 1e-12 * angle + 1e-300) << angle;
    if (angle == 0) continue;
    const Quatd expected(Eigen::AngleAxisd(angle, turn.stableNormalized()));
    EXPECT_LT((q.coeffs() - expected.coeffs()).norm(), 1e-15);
  }
  // Beyond half a turn the shorter way is taken.
  const Vec3d far = rotation_vector(rotation_of({4, 0, 0}));
  EXPECT_NEAR(far[0], 4 - 2 * std::numbers::pi, 1e-14);
}

}  // namespace
}  // namespace supple
