// Winding numbers: known values, and the tree against the plain sum.
#include "supple/mesh/winding_number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
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
    const double error =
        std::abs(tree.at(point) - winding_number(mesh.positions, mesh.triangles, point));
    ASSERT_TRUE(std::isfinite(error));
    worst = std::max(worst, error);
  }
  EXPECT_LT(worst, allowed);
}

// One arc tangent per triangle, in any order.
double plain_sum(const TriangleMesh& mesh, const Vec3d& point) {
  double sum = 0;
  for (const Vec3i& t : mesh.triangles) {
    const Vec3d a = mesh.positions[static_cast<size_t>(t[0])].cast<double>() - point,
                b = mesh.positions[static_cast<size_t>(t[1])].cast<double>() - point,
                c = mesh.positions[static_cast<size_t>(t[2])].cast<double>() - point;
    sum += std::atan2(a.dot(b.cross(c)), a.norm() * b.norm() * c.norm() + a.dot(b) * c.norm() +
                                             b.dot(c) * a.norm() + c.dot(a) * b.norm());
  }
  return sum / (2 * std::numbers::pi);
}

// Thousands of triangles, far and near, some of them at right angles to the point and beyond.
TEST(WindingNumber, IsThatOfOneTriangleAfterTheOther) {
  TriangleMesh mesh = make_sphere(5);
  append(mesh, make_dome(4), Vec3f(0.4f, 0.1f, 0));
  append(mesh, make_box(Vec3f(3, 3, 3)), Vec3f(-1.5f, -1.5f, -1.5f));
  std::mt19937 random(5);
  std::uniform_real_distribution<double> place(-1.7, 1.7);
  for (const double scale : {1e-4, 1.0, 1e4}) {
    TriangleMesh scaled = mesh;
    for (Vec3f& p : scaled.positions) p *= static_cast<float>(scale);
    for (int i = 0; i < 100; ++i) {
      const Vec3d point = scale * Vec3d(place(random), place(random), place(random));
      EXPECT_NEAR(winding_number(scaled.positions, scaled.triangles, point),
                  plain_sum(scaled, point), 1e-9);
    }
  }
  // Next to a face, most of the half space is one triangle.
  const TriangleMesh box = make_box(Vec3f(1, 1, 1));
  for (const double off : {1e-3, 1e-6, -1e-6, -1e-3})
    EXPECT_NEAR(winding_number(box.positions, box.triangles, Vec3d(off, 0.31, 0.27)), off > 0,
                1e-9);
}

TEST(WindingNumber, FollowsVerticesThatMove) {
  TriangleMesh mesh = make_sphere(4);
  append(mesh, make_dome(4), Vec3f(0.5f, 0.2f, 0));
  WindingNumber tree(mesh.positions, mesh.triangles, 6);
  TriangleMesh moved = mesh;
  for (Vec3f& p : moved.positions)
    p = Vec3f(1.3f * p[0] + 0.4f * p[1] * p[1], p[1] - 0.3f * p[0] * p[0], 0.6f * p[2]);
  tree.refit(moved.positions);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> place(-1.6, 1.6);
  for (int i = 0; i < 2000; ++i) {
    const Vec3d point(place(random), place(random), place(random));
    EXPECT_NEAR(tree.at(point), plain_sum(moved, point), 0.004);
  }
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
