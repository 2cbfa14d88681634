// The body-centred cubic lattice: its tetrahedra fill space, and those of a solid are found.
#include "supple/mesh/bcc_lattice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "mesh/shapes.h"
#include "supple/mesh/tet_locate.h"
#include "supple/mesh/tet_quality.h"
#include "supple/mesh/triangle_tet.h"

namespace supple {
namespace {

using Name = std::array<int32_t, 3>;
Name name_of(const Vec3i& v) { return {v[0], v[1], v[2]}; }

TEST(BccLattice, PointsAreInTheirTetrahedra) {
  const BccLattice lattice{Vec3d(0.3, -0.2, 0.1), 0.7};
  std::mt19937 random(1);
  std::uniform_real_distribution<double> place(-3, 3);
  for (int i = 0; i < 5000; ++i) {
    const Vec3d point(place(random), place(random), place(random));
    const Vec3i tet = lattice.tet_at(point);
    const TetMesh mesh = lattice_tets(lattice, std::array{tet});
    EXPECT_GE(tet_weights(mesh, mesh.tets[0], point).minCoeff(), -1e-12);
    EXPECT_NEAR(six_volumes(mesh, mesh.tets[0]) / 6, 0.7 * 0.7 * 0.7 / 12, 1e-12);
    EXPECT_NEAR(smallest_dihedral(mesh), 60, 1e-9);
    // Its name is twice its middle.
    const Vec3d middle =
        (mesh.positions[0] + mesh.positions[1] + mesh.positions[2] + mesh.positions[3]) / 4;
    EXPECT_LT((lattice.origin + 0.7 / 4 * tet.cast<double>() - middle).norm(), 1e-12);
  }
}

TEST(BccLattice, NeighboursShareSidesAndNodesAreSurrounded) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> place(-5, 5);
  const BccLattice lattice;
  for (int i = 0; i < 300; ++i) {
    const Vec3i tet = lattice.tet_at(Vec3d(place(random), place(random), place(random)));
    std::set<Name> nodes, shared_sides, others;
    for (const Vec3i& node : BccLattice::corners(tet)) nodes.insert(name_of(node));
    EXPECT_EQ(nodes.size(), 4u);
    for (const Vec3i& next : BccLattice::neighbours(tet)) {
      others.insert(name_of(next));
      std::vector<Name> apart;
      for (const Vec3i& node : BccLattice::corners(next))
        if (!nodes.contains(name_of(node))) apart.push_back(name_of(node));
      EXPECT_EQ(apart.size(), 1u);
      const std::array<Vec3i, 4> back = BccLattice::neighbours(next);
      EXPECT_TRUE(std::find(back.begin(), back.end(), tet) != back.end());
    }
    EXPECT_EQ(others.size(), 4u);
    for (const Vec3i& node : BccLattice::corners(tet)) {
      std::set<Name> around;
      for (const Vec3i& other : BccLattice::around(node)) {
        around.insert(name_of(other));
        const std::array<Vec3i, 4> corners = BccLattice::corners(other);
        EXPECT_TRUE(std::find(corners.begin(), corners.end(), node) != corners.end());
      }
      EXPECT_EQ(around.size(), 24u);
      EXPECT_TRUE(around.contains(name_of(tet)));
    }
  }
}

// Against tests of every tetrahedron of a block one by one.
TEST(BccLattice, FindsTheTetrahedraOfASolid) {
  for (const bool dome : {false, true}) {
    const TriangleMesh skin = dome ? test::make_dome(2) : test::make_sphere(2);
    const SkinSolid solid(skin);
    const BccLattice lattice{Vec3d(0.013, 0.027, -0.011), 0.41};
    std::set<Name> found, expected;
    for (const Vec3i& tet : tets_of_solid(lattice, skin, solid, 1u << 20))
      found.insert(name_of(tet));
    for (int x = -20; x <= 20; ++x)
      for (int y = -20; y <= 20; ++y)
        for (int z = -20; z <= 20; ++z) {
          const Vec3i tet(x, y, z);
          std::array<int, 4> kinds{};
          for (int k = 0; k < 3; ++k) ++kinds[static_cast<size_t>(tet[k] & 3)];
          if (kinds[0] != 1 || kinds[2] != 1) continue;
          const TetMesh mesh = lattice_tets(lattice, std::array{tet});
          const TetShape shape(tet_corners(mesh, mesh.tets[0]));
          bool kept = solid.reaches_into(tet_corners(mesh, mesh.tets[0]));
          for (const Vec3i& t : skin.triangles)
            kept =
                kept || shape.overlaps({skin.positions[static_cast<size_t>(t[0])].cast<double>(),
                                        skin.positions[static_cast<size_t>(t[1])].cast<double>(),
                                        skin.positions[static_cast<size_t>(t[2])].cast<double>()});
          if (kept) expected.insert(name_of(tet));
        }
    EXPECT_EQ(found, expected);
    EXPECT_GT(found.size(), 300u);
  }
}

}  // namespace
}  // namespace supple
