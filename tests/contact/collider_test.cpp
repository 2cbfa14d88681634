// Colliders: exact shapes against what defines them, and moving objects.
#include "supple/contact/collider.h"

#include <gtest/gtest.h>

#include "contact/contact_shapes.h"

namespace supple {
namespace {

Vec3d any(std::mt19937& random, double size) {
  std::uniform_real_distribution<double> part(-size, size);
  return {part(random), part(random), part(random)};
}

// Every distance has a slope of 1 along its normal, and steps along it reach the surface.
template <class Shape>
void expect_distance(const Shape& shape, std::mt19937& random, double size) {
  for (int i = 0; i < 2000; ++i) {
    const Vec3d p = any(random, size), normal = shape.normal(p);
    const double distance = shape.distance(p), h = 1e-6;
    EXPECT_NEAR(normal.norm(), 1, 1e-12);
    EXPECT_NEAR(shape.distance(p - distance * normal), 0, 1e-9 * (1 + size));
    // Outside there is one closest point; inside there may be several.
    if (distance > 0.01) {
      for (int c = 0; c < 3; ++c) {
        const Vec3d step = h * Vec3d::Unit(c);
        const double slope = (shape.distance(p + step) - shape.distance(p - step)) / (2 * h);
        EXPECT_NEAR(slope, normal[c], 1e-4);
      }
    }
  }
}

TEST(ColliderShapes, HaveDistancesThatLeadToTheSurface) {
  std::mt19937 random(1);
  expect_distance(PlaneShape{{0.3, 2, -1}, 0.4}, random, 3);
  expect_distance(SphereShape{{1, 0, -1}, 1.3}, random, 3);
  expect_distance(RoundConeShape{{0, 0, 0}, {1, 2, 0.5}, 0.7, 0.2}, random, 3);
  expect_distance(RoundConeShape{{0, 0, 0}, {1, 2, 0.5}, 0.1, 0.8}, random, 3);
  expect_distance(RoundConeShape{{0, -1, 0}, {0, 1, 0}, 0.5, 0.5}, random, 3);
  expect_distance(RoundConeShape{{0, 0, 0}, {0.1, 0, 0}, 1, 0.5}, random, 3);
  expect_distance(BoxShape{{0.5, 0, 0}, {1, 0.5, 2}}, random, 3);
}

// The hull of two balls is the union of all balls between them.
TEST(ColliderShapes, RoundConesAreUnionsOfBalls) {
  std::mt19937 random(2);
  for (int round = 0; round < 30; ++round) {
    const RoundConeShape cone{any(random, 1), any(random, 1), std::abs(any(random, 0.8)[0]),
                              std::abs(any(random, 0.8)[0])};
    for (int i = 0; i < 40; ++i) {
      const Vec3d p = any(random, 2);
      double least = 1e9;
      for (int k = 0; k <= 20000; ++k) {
        const double s = k / 20000.0;
        const double radius = (1 - s) * cone.radius_a + s * cone.radius_b;
        least = std::min(least, (p - (1 - s) * cone.a - s * cone.b).norm() - radius);
      }
      EXPECT_NEAR(cone.distance(p), least, 1e-6) << round;
    }
  }
}

TEST(ColliderShapes, HaveNormalsWhereThereIsNoDirection) {
  const Vec3d nan = Vec3d::Constant(NAN);
  for (const Vec3d& p : {Vec3d(0, 0, 0), Vec3d(0, 0.5, 0), nan}) {
    EXPECT_NEAR((SphereShape{}.normal(p).norm()), 1, 1e-12);
    EXPECT_NEAR((RoundConeShape{}.normal(p).norm()), 1, 1e-12);
    EXPECT_NEAR((RoundConeShape{{0, 0, 0}, {0, 0, 0}, 1, 1}.normal(p).norm()), 1, 1e-12);
    EXPECT_NEAR((BoxShape{}.normal(p).norm()), 1, 1e-12);
    EXPECT_NEAR((PlaneShape{}.normal(p).norm()), 1, 1e-12);
  }
}

TEST(Collider, TestsPointsInTheWorld) {
  Collider ball(SphereShape{{1, 0, 0}, 0.5}, {.friction = 0.3, .thickness = 0.1});
  EXPECT_EQ(ball.options().friction, 0.3);
  EXPECT_FALSE(ball.test({1, 0.61, 0}));
  ASSERT_TRUE(ball.test({1, 0.59, 0}));
  // Turned by a right angle about z, doubled and moved: the ball is at 0 2 0 + 5 0 0, radius 1.1.
  ball.set_motion(Affine(Eigen::Translation3d(5, 0, 0) *
                         Eigen::AngleAxisd(M_PI / 2, Vec3d::UnitZ()) * Eigen::Scaling(2.0)));
  EXPECT_FALSE(ball.test({1, 0.59, 0}));
  std::mt19937 random(3);
  int touched = 0;
  for (int i = 0; i < 2000; ++i) {
    const Vec3d p = Vec3d(5, 2, 0) + any(random, 1.5);
    const double exact = (p - Vec3d(5, 2, 0)).norm() - 1.1;
    const auto contact = ball.test(p);
    EXPECT_NEAR(ball.distance(p), exact, 1e-12);
    ASSERT_EQ(contact.has_value(), exact < 0);
    if (!contact) continue;
    ++touched;
    EXPECT_NEAR(contact->depth, -exact, 1e-12);
    EXPECT_LT((contact->normal - (p - Vec3d(5, 2, 0)).normalized()).norm(), 1e-9);
    EXPECT_NEAR((contact->surface - Vec3d(5, 2, 0)).norm(), 1.1, 1e-9);
    EXPECT_EQ(contact->velocity, Vec3d::Zero());
  }
  EXPECT_GT(touched, 300);
  EXPECT_FALSE(ball.test({NAN, 0, 0}));
}

// v = speed + omega x r, in the limit of small steps.
TEST(Collider, KnowsHowFastItsMatterMoves) {
  Collider box(BoxShape{Vec3d::Zero(), {1, 1, 1}});
  const Vec3d speed(0.3, -1, 2), omega(0.5, 2, -1);
  const double dt = 1e-5;
  const Affine now =
      Affine(Eigen::Translation3d(1, 2, 3) * Eigen::AngleAxisd(0.4, Vec3d(1, 1, 0).normalized()));
  Affine before = now;
  before.linear() =
      Eigen::AngleAxisd(-omega.norm() * dt, omega.normalized()).toRotationMatrix() * now.linear();
  before.translation() -= dt * speed;
  box.set_motion(before, now, dt);
  std::mt19937 random(4);
  for (int i = 0; i < 200; ++i) {
    const auto contact = box.test(Vec3d(1, 2, 3) + any(random, 0.5));
    ASSERT_TRUE(contact);
    const Vec3d expected = speed + omega.cross(contact->surface - Vec3d(1, 2, 3));
    EXPECT_LT((contact->velocity - expected).norm(), 1e-3);
  }
}

TEST(Collider, TakesLevelSets) {
  const TriangleMesh mesh = test::make_sphere(4);
  Collider ball(LevelSet(mesh.positions, mesh.triangles, {.voxel = 0.05}));
  ball.set_motion(Affine(Eigen::Translation3d(0, 0, 4) * Eigen::Scaling(0.5)));
  std::mt19937 random(5);
  for (int i = 0; i < 500; ++i) {
    const Vec3d p = Vec3d(0, 0, 4) + any(random, 0.6);
    const double exact = (p - Vec3d(0, 0, 4)).norm() - 0.5;
    if (std::abs(exact) < 0.01) continue;
    const auto contact = ball.test(p);
    ASSERT_EQ(contact.has_value(), exact < 0);
    if (contact) {
      EXPECT_NEAR((contact->surface - Vec3d(0, 0, 4)).norm(), 0.5, 0.04);
    }
  }
}

TEST(Collider, RefusesOddInput) {
  const auto refused = [](const ColliderShape& shape, const ColliderOptions& options = {}) {
    return test::problem_of([&] { Collider(shape, options); }, ErrorKind::input);
  };
  EXPECT_NE(refused(SphereShape{{0, 0, 0}, -1}).find("radius"), std::string::npos);
  EXPECT_NE(refused(SphereShape{{NAN, 0, 0}, 1}).find("centre"), std::string::npos);
  EXPECT_NE(refused(PlaneShape{{0, 0, 0}, 1}).find("direction"), std::string::npos);
  EXPECT_NE(refused(BoxShape{{0, 0, 0}, {1, NAN, 1}}).find("half"), std::string::npos);
  EXPECT_NE(refused(SphereShape{}, {.friction = -1}).find("friction"), std::string::npos);
  EXPECT_NE(refused(SphereShape{}, {.thickness = NAN}).find("thickness"), std::string::npos);
  Collider ball(SphereShape{});
  const auto motion_refused = [&](const Affine& motion) {
    return test::problem_of([&] { ball.set_motion(motion); }, ErrorKind::input);
  };
  EXPECT_NE(motion_refused(Affine(Eigen::Scaling(1.0, 2.0, 1.0))).find("stretches"),
            std::string::npos);
  EXPECT_NE(motion_refused(Affine(Eigen::Scaling(0.0))).find("scale 0"), std::string::npos);
  EXPECT_NE(motion_refused(Affine(Eigen::Translation3d(NAN, 0, 0))).find("finite"),
            std::string::npos);
  EXPECT_TRUE(ball.test({0.5, 0, 0}));
}

}  // namespace
}  // namespace supple
