// Tetrahedra: volumes, orientation, and a boundary that encloses the same volume.
#include "supple/mesh/tet_mesh.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "mesh/shapes.h"
#include "supple/mesh/topology.h"

namespace supple {
namespace {

using test::make_tet_cube;

// A cube of tetrahedra with inner nodes moved a little; a quarter cell keeps all of them positive.
TetMesh shaken_cube(int n, unsigned seed) {
  TetMesh mesh = make_tet_cube(n);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> shift(-0.12 / n, 0.12 / n);
  for (Vec3d& p : mesh.positions) p += Vec3d(shift(random), shift(random), shift(random));
  return mesh;
}

TEST(TetMesh, VolumesOfKnownShapes) {
  TetMesh corner{{{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}}, {{0, 1, 2, 3}}};
  EXPECT_DOUBLE_EQ(six_volumes(corner, corner.tets[0]), 6);
  EXPECT_DOUBLE_EQ(volume(corner), 1);
  EXPECT_NEAR(volume(make_tet_cube(3)), 1, 1e-12);
  EXPECT_EQ(volume(TetMesh{}), 0);
}

TEST(TetMesh, OrientsTurnedTetrahedra) {
  const TetMesh good = shaken_cube(3, 1);
  TetMesh mesh = good;
  std::mt19937 random(2);
  int turned = 0;
  for (Vec4i& tet : mesh.tets)
    if (random() % 3 == 0) {
      const auto a = static_cast<int>(random() % 4);
      std::swap(tet[a], tet[(a + 1) % 4]);
      ++turned;
    }
  EXPECT_EQ(orient_positively(mesh), turned);
  EXPECT_EQ(orient_positively(mesh), 0);
  for (size_t t = 0; t < mesh.tets.size(); ++t) {
    EXPECT_GT(six_volumes(mesh, mesh.tets[t]), 0);
    Vec4i a = mesh.tets[t], b = good.tets[t];
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    EXPECT_EQ(a, b);
  }
  EXPECT_NEAR(volume(mesh), volume(good), 1e-12);
}

TEST(TetMesh, BoundaryIsClosedAndEnclosesTheSameVolume) {
  for (const int n : {1, 2, 5}) {
    const TetMesh mesh = shaken_cube(n, static_cast<unsigned>(n));
    std::vector<int32_t> nodes = {-1, -2};  // what was there before must go
    const TriangleMesh surface = boundary_surface(mesh, &nodes);
    EXPECT_EQ(surface.triangles.size(), static_cast<size_t>(6 * n * n * 2));
    const Topology topology = analyse_topology(surface.positions.size(), surface.triangles);
    EXPECT_TRUE(topology.closed());
    EXPECT_EQ(topology.shells, 1);
    EXPECT_NEAR(signed_volume(surface.positions, surface.triangles), volume(mesh), 1e-6);
    ASSERT_EQ(nodes.size(), surface.positions.size());
    for (size_t v = 0; v < nodes.size(); ++v)
      EXPECT_EQ(surface.positions[v],
                mesh.positions[static_cast<size_t>(nodes[v])].cast<float>().eval());
    // Exactly the nodes on the outside of the grid.
    EXPECT_EQ(nodes.size(),
              static_cast<size_t>((n + 1) * (n + 1) * (n + 1) - (n - 1) * (n - 1) * (n - 1)));
  }
}

TEST(TetMesh, BoundaryOfAnyPartOfACubeEnclosesItsVolume) {
  std::mt19937 random(5);
  for (int round = 0; round < 20; ++round) {
    TetMesh mesh = shaken_cube(4, random());
    std::shuffle(mesh.tets.begin(), mesh.tets.end(), random);
    mesh.tets.resize(1 + random() % mesh.tets.size());
    const TriangleMesh surface = boundary_surface(mesh);
    EXPECT_NEAR(signed_volume(surface.positions, surface.triangles), volume(mesh), 1e-6);
    EXPECT_EQ(analyse_topology(surface.positions.size(), surface.triangles).open_edges, 0);
  }
}

TEST(TetMesh, BoundaryOfNothingIsEmpty) {
  std::vector<int32_t> nodes = {3};
  EXPECT_TRUE(boundary_surface(TetMesh{}, &nodes).triangles.empty());
  EXPECT_TRUE(nodes.empty());
}

}  // namespace
}  // namespace supple
