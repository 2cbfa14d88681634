// Lattices by numbers, and points embedded in them.
#include "supple/mesh/lattice_mesh.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "mesh/shapes.h"

namespace supple {
namespace {

SolidLattice ball(int cells) {
  const TriangleMesh mesh = test::make_sphere(4);
  return fill_lattice(mesh.positions, mesh.triangles, {.cells = cells});
}

std::vector<Vec3d> rest_of(const SolidLattice& solid, const LatticeMesh& mesh) {
  std::vector<Vec3d> rest;
  for (const LatticePlace& n : mesh.nodes)
    rest.push_back(solid.position(solid.lattice.coordinates(n.block, n.local)));
  return rest;
}

TEST(LatticeMesh, NumbersAgreeWithPlaces) {
  const SolidLattice solid = ball(11);
  const LatticeMesh mesh(solid.lattice);
  ASSERT_EQ(mesh.nodes.size(), solid.lattice.node_count());
  ASSERT_EQ(mesh.cells.size(), solid.lattice.cell_count());
  const std::vector<Vec3d> rest = rest_of(solid, mesh);
  for (size_t c = 0; c < mesh.cells.size(); ++c) {
    EXPECT_EQ(mesh.cell_number(mesh.cells[c]), static_cast<int32_t>(c));
    const Vec3d low = rest[static_cast<size_t>(mesh.corners[c][0])];
    for (int i = 0; i < 8; ++i) {
      const Vec3d away = rest[static_cast<size_t>(mesh.corners[c][static_cast<size_t>(i)])] - low;
      EXPECT_LT((away / solid.spacing - Vec3d(i & 1, (i >> 1) & 1, i >> 2)).norm(), 1e-9);
    }
  }
  EXPECT_EQ(mesh.cell_number({0, 63}) >= 0, (solid.lattice.cells[0] >> 63 & 1) != 0);
}

TEST(LatticeMesh, PiecesAreThoseThatShareNodes) {
  // Two blocks of cells that touch in one corner node are one piece; one further away is another.
  const std::vector<Vec3i> cells = {{0, 0, 0}, {1, 1, 1}, {5, 0, 0}, {6, 0, 0}, {-4, 9, 2}};
  const LatticeMesh mesh{SparseLattice(cells)};
  const std::vector<int32_t> pieces = mesh.pieces();
  EXPECT_EQ(std::set<int32_t>(pieces.begin(), pieces.end()).size(), 3u);
  std::vector<int> sizes(3, 0);
  for (const int32_t p : pieces) ++sizes.at(static_cast<size_t>(p));
  EXPECT_EQ(std::multiset<int>(sizes.begin(), sizes.end()), (std::multiset<int>{8, 12, 15}));
}

TEST(LatticeEmbedding, CarriesAffineMotionsExactlyInsideAndOut) {
  const SolidLattice solid = ball(9);
  const LatticeMesh mesh(solid.lattice);
  std::mt19937 random(5);
  std::uniform_real_distribution<float> part(-3, 3);
  std::vector<Vec3f> points = test::make_sphere(3).positions;
  for (int i = 0; i < 2000; ++i) points.emplace_back(part(random), part(random), part(random));
  points.emplace_back(100.0f, -50.0f, 3.0f);
  const LatticeEmbedding embedding(solid, mesh, points);
  Eigen::Affine3d motion;
  motion.linear() << 1.2, 0.3, -0.4, 0.1, 0.7, 0.2, 0, -0.6, 1.5;
  motion.translation() = Vec3d(3, -2, 1);
  std::vector<Vec3d> nodes = rest_of(solid, mesh);
  std::vector<Vec3f> out(points.size());
  embedding.interpolate(nodes, out);
  for (size_t i = 0; i < points.size(); ++i)
    EXPECT_LT((out[i] - points[i]).norm(), 1e-6f * (1 + points[i].norm()));
  for (Vec3d& x : nodes) x = motion * x;
  embedding.interpolate(nodes, out);
  for (size_t i = 0; i < points.size(); ++i) {
    const Vec3f expected = (motion * points[i].cast<double>()).cast<float>();
    EXPECT_LT((out[i] - expected).norm(), 2e-6f * (1 + expected.norm()));
  }
}

TEST(LatticeEmbedding, InsideIsTrilinearAndOutsideGrowsWithDistance) {
  const std::vector<Vec3i> cell = {{0, 0, 0}};
  SolidLattice solid;
  solid.lattice = SparseLattice(cell);
  solid.spacing = 2;
  const LatticeMesh mesh(solid.lattice);
  const std::vector<Vec3f> points = {{0.5f, 1.5f, 1}, {1, 1, 1}, {3, 1, 1}, {20, 20, 20}};
  const LatticeEmbedding embedding(solid, mesh, points);
  ASSERT_EQ(embedding.size(), 4u);
  // The value x y z at the nodes.
  std::vector<float> values;
  for (const Vec3d& p : rest_of(solid, mesh))
    values.push_back(static_cast<float>(p[0] * p[1] * p[2]));
  std::vector<float> out(4);
  embedding.interpolate(values, out);
  EXPECT_FLOAT_EQ(out[0], 0.75f);
  EXPECT_FLOAT_EQ(out[1], 1);
  EXPECT_FLOAT_EQ(out[2], 3);
  // At the corner 2 2 2 the value is 8 and grows by 4 per metre along each axis.
  EXPECT_FLOAT_EQ(out[3], 8 + 3 * 18 * 4);
}

TEST(LatticeEmbedding, PointsOutsideBelongToTheNearestCell) {
  std::mt19937 random(8);
  std::uniform_int_distribution<int> place(-6, 6);
  std::uniform_real_distribution<float> part(-9, 9);
  std::vector<Vec3i> cells;
  for (int i = 0; i < 40; ++i) cells.emplace_back(place(random), place(random), place(random));
  SolidLattice solid;
  solid.lattice = SparseLattice(cells);
  solid.spacing = 1;
  const LatticeMesh mesh(solid.lattice);
  std::vector<Vec3f> points;
  for (int i = 0; i < 400; ++i) points.emplace_back(part(random), part(random), part(random));
  const LatticeEmbedding embedding(solid, mesh, points);
  const auto distance = [&](const Vec3i& cell, const Vec3f& p) {
    const Box3d box(cell.cast<double>(), (cell + Vec3i::Ones()).cast<double>());
    return box.squaredExteriorDistance(Vec3d(p.cast<double>()));
  };
  // Nodes of one cell marked: its points, and only points with no nearer cell, feel it wholly.
  for (size_t i = 0; i < points.size(); ++i) {
    double least = 1e9;
    for (const Vec3i& cell : cells) least = std::min(least, distance(cell, points[i]));
    bool found = false;
    for (size_t c = 0; c < mesh.cells.size() && !found; ++c) {
      const Vec3i cell = solid.lattice.coordinates(mesh.cells[c].block, mesh.cells[c].local);
      if (distance(cell, points[i]) > least + 1e-9) continue;
      std::vector<float> mark(mesh.nodes.size(), 0);
      for (const int32_t n : mesh.corners[c]) mark[static_cast<size_t>(n)] = 1;
      std::vector<float> out(points.size());
      embedding.interpolate(mark, out);
      found = std::abs(out[i] - 1) < 1e-5f;
    }
    EXPECT_TRUE(found) << points[i].transpose();
  }
}

}  // namespace
}  // namespace supple
