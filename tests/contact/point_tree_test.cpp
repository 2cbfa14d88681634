// The tree over points against looking at all of them.
#include "supple/contact/point_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numbers>
#include <random>

#include "supple/mesh/primitives.h"

namespace supple {
namespace {

std::vector<int32_t> look_at_all(const Collider& collider, const std::vector<Vec3d>& points,
                                 double reach, const Affine& placed) {
  std::vector<int32_t> out;
  for (size_t p = 0; p < points.size(); ++p)
    if (collider.distance(placed * points[p]) < reach) out.push_back(static_cast<int32_t>(p));
  return out;
}

// A ball of triangles, as a level set.
LevelSet ball_of_triangles() {
  const TriangleMesh mesh = sphere_surface(0.4, 0.05);
  return LevelSet(mesh.positions, mesh.triangles);
}

// Points on a bent tube, moved further with time.
std::vector<Vec3d> tube(size_t count, double bend) {
  std::vector<Vec3d> points;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> part(0, 1);
  for (size_t i = 0; i < count; ++i) {
    const double along = 4 * part(random) - 2, around = 2 * std::numbers::pi * part(random);
    points.emplace_back(along, 0.3 * std::sin(around) + bend * along * along,
                        0.3 * std::cos(around));
  }
  return points;
}

std::vector<ColliderShape> all_shapes() {
  return {PlaneShape{Vec3d(0.2, 1, 0), -0.25}, SphereShape{Vec3d(1, 0, 0), 0.4},
          RoundConeShape{Vec3d(-1, 0, 0), Vec3d(0, 0.5, 0), 0.2, 0.1},
          BoxShape{Vec3d(0.5, 0, 0), Vec3d(0.4, 0.05, 2)}, ball_of_triangles()};
}

TEST(PointTree, FindsWhatAllPairsFind) {
  Affine placed = Affine::Identity();
  placed.rotate(Eigen::AngleAxisd(0.7, Vec3d(1, 2, 3).normalized()));
  placed.pretranslate(Vec3d(0.1, 0.2, -0.1));
  for (const ColliderShape& shape : all_shapes()) {
    Collider collider(shape, {.friction = 0.5, .thickness = 0.01});
    PointTree tree(tube(3000, 0));
    for (int step = 0; step < 20; ++step) {
      const std::vector<Vec3d> points = tube(3000, 0.02 * step);
      tree.refit(points);
      Affine motion = Affine::Identity();
      motion.rotate(Eigen::AngleAxisd(0.2 * step, Vec3d::UnitX()));
      motion.scale(step % 2 ? 1.5 : 1.0);
      collider.set_motion(motion);
      for (const double reach : {0.0, 0.015}) {
        std::vector<int32_t> found;
        tree.find_near(collider, points, reach, found, placed);
        std::sort(found.begin(), found.end());
        EXPECT_EQ(found, look_at_all(collider, points, reach, placed))
            << "shape " << shape.index() << ", step " << step << ", reach " << reach;
      }
    }
  }
}

// What is touched in few places is found by asking about few: here less than a tenth of the points,
// and far from everything about one box.
TEST(PointTree, AsksAboutFew) {
  const std::vector<Vec3d> points = tube(20000, 0);
  const PointTree tree(points);
  std::vector<int32_t> found;
  const Collider small(SphereShape{Vec3d(1, 0.35, 0), 0.1});
  EXPECT_LT(tree.find_near(small, points, 0.01, found), 2000u);
  EXPECT_GT(found.size(), 10u);
  found.clear();
  const Collider far(SphereShape{Vec3d(100, 0, 0), 1});
  EXPECT_EQ(tree.find_near(far, points, 0.01, found), 1u);
  EXPECT_TRUE(found.empty());
}

TEST(PointTree, HoldsFewPointsAndEqualOnes) {
  const Collider ball(SphereShape{Vec3d::Zero(), 1});
  for (const size_t count : {0, 1, 7, 8, 9, 100}) {
    const std::vector<Vec3d> points(count, Vec3d(0.5, 0, 0));
    const PointTree tree(points);
    std::vector<int32_t> found;
    tree.find_near(ball, points, 0, found);
    EXPECT_EQ(found.size(), count);
  }
}

// A number that is no number hides no other point.
TEST(PointTree, FindsPointsBesideBrokenOnes) {
  std::vector<Vec3d> points = tube(500, 0);
  PointTree tree(points);
  const Collider ball(SphereShape{Vec3d::Zero(), 1});
  points[100].setConstant(std::numeric_limits<double>::quiet_NaN());
  points[200].setConstant(std::numeric_limits<double>::infinity());
  tree.refit(points);
  std::vector<int32_t> found;
  tree.find_near(ball, points, 0, found);
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, look_at_all(ball, points, 0, Affine::Identity()));
}

}  // namespace
}  // namespace supple
