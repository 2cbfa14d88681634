// Skins that move with cells, against the embedding in double precision.
#include "supple/mesh/cell_skin.h"

#include <gtest/gtest.h>

#include <random>

#include "supple/core/parallel.h"
#include "supple/math/simd.h"
#include "supple/mesh/primitives.h"

namespace supple {
namespace {

class CellSkinOnTargets : public testing::TestWithParam<std::string> {
  void SetUp() override { set_widest_target(GetParam()); }
  void TearDown() override { set_widest_target(""); }
};

TEST_P(CellSkinOnTargets, MovesPointsAsTheEmbeddingDoes) {
  const TriangleMesh ball = sphere_surface(0.5, 0.03);
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (const int cells : {1, 3, 12}) {
    const SolidLattice solid = fill_lattice(ball.positions, ball.triangles, {.cells = cells});
    const LatticeMesh mesh(solid.lattice);
    std::vector<Vec3f> points = ball.positions;
    for (int i = 0; i < 50; ++i)  // some of them outside of all cells
      points.emplace_back(Vec3d(normal(random), normal(random), normal(random)).cast<float>());
    std::vector<Vec3d> nodes;
    for (const LatticePlace& node : mesh.nodes)
      nodes.push_back(solid.position(solid.lattice.coordinates(node.block, node.local)) +
                      0.3 * Vec3d(normal(random), normal(random), normal(random)));
    std::vector<Vec3f> expected(points.size()), found(points.size());
    LatticeEmbedding(solid, mesh, points).interpolate(nodes, expected);
    const CellSkin skin(solid, mesh, points);
    EXPECT_EQ(skin.size(), points.size());
    for (const int threads : {1, 3}) {
      set_thread_count(threads);
      skin.interpolate(nodes, found);
      for (size_t i = 0; i < points.size(); ++i)
        ASSERT_LT((found[i] - expected[i]).norm(), 2e-6f * (1 + expected[i].norm())) << i;
    }
    set_thread_count(0);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryTarget, CellSkinOnTargets, testing::ValuesIn(simd_targets()));

}  // namespace
}  // namespace supple
