// Winding numbers: known values, and the tree against the plain sum.
#include "supple/mesh/winding_number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "mesh/shapes.h"

namespace supple {
namespace {

using test::append;
using test::make_box;
using test::make_dome;
using test::make_sphere;

TEST(WindingNumber, IsWholeForClosedSurfaces) {
  const TriangleMesh box = make_box(Vec3f(1, 2, 3));
  EXPECT_NEAR(winding_number(box.positions, box.triangles, Vec3d(0.5, 1, 1.5)), 1, 1e-12);
  EXPECT_NEAR(winding_number(box.positions, box.triangles, Vec3d(0.01, 0.01, 0.01)), 1, 1e-12);
  EXPECT_NEAR(winding_number(box.positions, box.triangles, Vec3d(-0.01, 1, 1)), 0, 1e-12);
  TriangleMesh two = make_sphere(3);
  append(two, make_sphere(3), Vec3f(0.5f, 0, 0));
  EXPECT_NEAR(winding_number(two.positions, two.triangles, Vec3d(0.25, 0, 0)), 2, 1e-12);
  for (Vec3i& t : two.triangles) std::swap(t[0], t[1]);
  EXPECT_NEAR(winding_number(two.positions, two.triangles, Vec3d(-0.9, 0, 0)), -1, 1e-12);
}

// On the axis of a spherical cap seen at half angle θ the solid angle is 2π (1 − cos θ).
TEST(WindingNumber, OfADomeFollowsItsSolidAngle) {
  const TriangleMesh dome = make_dome(6);
  for (const double y : {-2.0, -0.5, 0.0, 0.5}) {
    const double cosine = -y / std::hypot(1.0, y);
    EXPECT_NEAR(winding_number(dome.positions, dome.triangles, Vec3d(0, y, 0)), (1 - cosine) / 2,
                2e-3)
        << y;
  }
}

void expect_tree_agrees(const TriangleMesh& mesh, double accuracy, double allowed) {
  const WindingNumber tree(mesh.positions, mesh.triangles, accuracy);
  std::mt19937 random(3);
  std::uniform_real_distribution<double> place(-1.6, 1.6);
  double worst = 0;
  for (int i = 0; i < 3000; ++i) {
    const Vec3d point(place(random), place(random), place(random));
    worst = std::max(
        worst, std::abs(tree.at(point) - winding_number(mesh.positions, mesh.triangles, point)));
  }
  EXPECT_LT(worst, allowed);
}

TEST(WindingNumber, TreeAgreesWithTheSum) {
  expect_tree_agrees(make_sphere(4), 3, 0.02);
  expect_tree_agrees(make_dome(4), 3, 0.02);
  TriangleMesh two = make_sphere(3);
  append(two, make_dome(4), Vec3f(0.5f, 0.2f, 0));
  expect_tree_agrees(two, 3, 0.02);
  expect_tree_agrees(two, 6, 0.002);
  expect_tree_agrees(make_box(Vec3f(1, 1, 1)), 3, 1e-12);
}

TEST(WindingNumber, OfNothingIsZero) {
  const TriangleMesh nothing;
  EXPECT_EQ(WindingNumber(nothing.positions, nothing.triangles).at(Vec3d::Zero()), 0);
  const std::vector<Vec3f> point{Vec3f(1, 2, 3)};
  const std::vector<Vec3i> triangles{Vec3i(0, 0, 0)};
  const WindingNumber degenerate(point, triangles);
  EXPECT_EQ(degenerate.at(Vec3d(1, 2, 3)), 0);
  EXPECT_EQ(degenerate.at(Vec3d(5, 5, 5)), 0);
}

}  // namespace
}  // namespace supple
