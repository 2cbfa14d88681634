// Points in tetrahedral meshes, against looking at every tetrahedron.
#include "supple/mesh/tet_locate.h"

#include <gtest/gtest.h>

#include <random>

#include "mesh/shapes.h"
#include "supple/core/parallel.h"
#include "supple/core/timer.h"
#include "support/test_support.h"

namespace supple {
namespace {

TetMesh shaken_cube(int n, unsigned seed) {
  TetMesh mesh = test::make_tet_cube(n);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> shift(-0.12 / n, 0.12 / n);
  for (Vec3d& p : mesh.positions) p += Vec3d(shift(random), shift(random), shift(random));
  return mesh;
}

Vec3d at(const TetMesh& mesh, const TetLocation& location) {
  Vec3d sum = Vec3d::Zero();
  for (int k = 0; k < 4; ++k)
    sum += location.weights[k] *
           mesh.positions[static_cast<size_t>(mesh.tets[static_cast<size_t>(location.tet)][k])];
  return sum;
}

// Squared distance of a point from a tetrahedron, by alternating projection of its weights.
double distance_to(const TetMesh& mesh, const Vec4i& tet, const Vec3d& point) {
  // Frank-Wolfe with exact steps, away from no more than four corners, until it stands still.
  Eigen::Vector4d w = Eigen::Vector4d::Constant(0.25);
  Eigen::Matrix<double, 3, 4> x;
  for (int k = 0; k < 4; ++k) x.col(k) = mesh.positions[static_cast<size_t>(tet[k])] - point;
  for (int i = 0; i < 3000; ++i) {
    const Vec3d r = x * w;
    int to = 0, from = -1;
    const Eigen::Vector4d slope = x.transpose() * r;
    slope.minCoeff(&to);
    for (int k = 0; k < 4; ++k)
      if (w[k] > 0 && (from < 0 || slope[k] > slope[from])) from = k;
    if (from == to) break;
    const Vec3d way = x.col(to) - x.col(from);
    const double step = std::clamp(-r.dot(way) / way.squaredNorm(), 0.0, w[from]);
    w[to] += step;
    w[from] -= step;
  }
  return (x * w).norm();
}

TEST(TetLocate, FindsTheTetrahedronOfEveryPoint) {
  const TetMesh mesh = shaken_cube(4, 1);
  std::mt19937 random(2);
  std::uniform_real_distribution<double> place(-0.3, 1.3);
  std::vector<Vec3d> points;
  for (int i = 0; i < 400; ++i) points.emplace_back(place(random), place(random), place(random));
  for (const Vec3d& p : mesh.positions) points.push_back(p);
  const std::vector<TetLocation> found = locate_points(mesh, points);
  int inside = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    EXPECT_NEAR(found[i].weights.sum(), 1, 1e-9);
    EXPECT_LT((at(mesh, found[i]) - points[i]).norm(), 1e-9);
    double nearest = INFINITY;
    bool held = false;
    for (const Vec4i& tet : mesh.tets) {
      held = held || tet_weights(mesh, tet, points[i]).minCoeff() >= -1e-9;
      nearest = std::min(nearest, distance_to(mesh, tet, points[i]));
    }
    EXPECT_EQ(held, found[i].weights.minCoeff() >= -1e-9) << i;
    const double own = distance_to(mesh, mesh.tets[static_cast<size_t>(found[i].tet)], points[i]);
    EXPECT_NEAR(own, nearest, 1e-5) << i;
    inside += held;
  }
  EXPECT_GT(inside, 100);
}

TEST(TetLocate, NothingAndOddMeshes) {
  EXPECT_EQ(locate_points(TetMesh{}, std::array{Vec3d(1, 2, 3)})[0].tet, -1);
  TetMesh flat{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}, {{0, 1, 2, 3}}};
  const TetLocation found = locate_points(flat, std::array{Vec3d(1, 2, 3)})[0];
  EXPECT_EQ(found.tet, 0);
  EXPECT_TRUE(found.weights.allFinite());
}

TEST(TetLocate, SameForAnyNumberOfThreads) {
  const TetMesh mesh = shaken_cube(5, 1);
  std::mt19937 random(2);
  std::uniform_real_distribution<double> place(-0.3, 1.3);
  std::vector<Vec3d> points;
  for (int i = 0; i < 3000; ++i) points.emplace_back(place(random), place(random), place(random));
  set_thread_count(1);
  const std::vector<TetLocation> one = locate_points(mesh, points);
  set_thread_count(0);
  const std::vector<TetLocation> all = locate_points(mesh, points);
  for (size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(one[i].tet, all[i].tet);
    EXPECT_EQ(one[i].weights, all[i].weights);
  }
}

}  // namespace
}  // namespace supple
