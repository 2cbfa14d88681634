// Delaunay triangulations: they fill the convex hull, and no sphere holds another point.
#include "supple/mesh/delaunay.h"

#include <gtest/gtest.h>

#include <random>

#include "supple/core/error.h"
#include "supple/mesh/tet_locate.h"
#include "supple/mesh/tet_mesh.h"

namespace supple {
namespace {

TEST(Delaunay, SpheresAreEmptyAndTheHullIsFull) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> place(0, 1);
  TetMesh mesh;
  for (int corner = 0; corner < 8; ++corner)
    mesh.positions.emplace_back(corner & 1, corner >> 1 & 1, corner >> 2);
  for (int i = 0; i < 200; ++i)
    mesh.positions.emplace_back(place(random), place(random), place(random));
  mesh.tets = delaunay_tets(mesh.positions);
  EXPECT_NEAR(volume(mesh), 1, 1e-9);
  for (const Vec4i& tet : mesh.tets) {
    EXPECT_GE(six_volumes(mesh, tet), 0);
    // The centre is as far from all corners: 2 (x_k - x_0) · c = |x_k|² - |x_0|².
    Mat3d rows;
    Vec3d right;
    const Vec3d o = mesh.positions[static_cast<size_t>(tet[0])];
    for (int k = 0; k < 3; ++k) {
      const Vec3d x = mesh.positions[static_cast<size_t>(tet[k + 1])];
      rows.row(k) = 2 * (x - o).transpose();
      right[k] = x.squaredNorm() - o.squaredNorm();
    }
    if (six_volumes(mesh, tet) < 1e-9) continue;
    const Vec3d centre = rows.inverse() * right;
    const double radius = (centre - o).norm();
    for (const Vec3d& p : mesh.positions) EXPECT_GE((p - centre).norm(), radius - 1e-6);
  }
}

TEST(Delaunay, RefusesPlanes) {
  EXPECT_THROW(delaunay_tets({}), Error);
  const std::vector<Vec3d> flat{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0.3, 0.6, 0}};
  EXPECT_THROW(delaunay_tets(flat), Error);
  const std::vector<Vec3d> tet{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  EXPECT_EQ(delaunay_tets(tet).size(), 1u);
}

}  // namespace
}  // namespace supple
