// Shapes cut into voxels: closed, open, of no thickness, lines, hollow, and none.
#include "supple/voxels/voxel_solid.h"

#include <gtest/gtest.h>

#include <numbers>

#include "mesh/shapes.h"
#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/io/load.h"
#include "supple/mesh/primitives.h"
#include "support/test_support.h"

namespace supple {
namespace {

double volume_of(const VoxelSolid& voxels) {
  double sum = 0;
  for (const VoxelLeaf& leaf : voxels.leaves)
    sum += static_cast<double>(leaf.filled) * std::pow(voxels.solid.spacing / (1 << leaf.depth), 3);
  return sum;
}

VoxelSolid cut(const TriangleMesh& mesh, const VoxelSolidOptions& options) {
  return voxelise_solid(mesh.positions, mesh.triangles, options);
}

// The points of a polyline, and its segments as triangles.
TriangleMesh line_through(const std::vector<Vec3f>& points) {
  TriangleMesh mesh;
  mesh.positions = points;
  for (size_t i = 0; i + 1 < points.size(); ++i) {
    const auto a = static_cast<int32_t>(i);
    mesh.triangles.emplace_back(a, a + 1, a + 1);
  }
  return mesh;
}

TEST(VoxelSolid, HoldsTheVolumeAtAnyDepth) {
  const TriangleMesh ball = sphere_surface(0.5, 0.03);
  const double volume = std::numbers::pi / 6;
  for (int levels = 0; levels <= 4; ++levels) {
    const VoxelSolid voxels = cut(ball, {.cells = 4, .levels = levels});
    EXPECT_NEAR(volume_of(voxels), volume, 0.02 * volume) << levels;
    double ratios = 0;
    for (const LatticePlace& cell : voxels.mesh.cells) ratios += voxels.solid.covered(cell);
    EXPECT_NEAR(ratios * std::pow(voxels.solid.spacing, 3), volume_of(voxels), 1e-5 * volume);
  }
}

TEST(VoxelSolid, BoxIsInflatedByOnePercentAboutItsMiddle) {
  TriangleMesh box = box_surface({2, 1, 0.5}, 0.25);
  for (Vec3f& p : box.positions) p += Vec3f(3, -1, 7);
  const VoxelSolid voxels = cut(box, {.cells = 8, .levels = 2});
  EXPECT_NEAR(voxels.solid.spacing, 2 * 1.01 / 8, 1e-6);
  Box3d reach;
  for (const LatticePlace& node : voxels.mesh.nodes)
    reach.extend(voxels.solid.position(voxels.solid.lattice.coordinates(node.block, node.local)));
  EXPECT_LT((reach.center() - Vec3d(3, -1, 7)).norm(), 1e-6);
  EXPECT_TRUE(reach.contains(bounding_box(box.positions).cast<double>()));
}

TEST(VoxelSolid, HalfFullBoundaryIsAnOption) {
  const VoxelSolid voxels =
      cut(sphere_surface(0.5, 0.03), {.cells = 4, .levels = 2, .fill = FillRule::half});
  for (const VoxelLeaf& leaf : voxels.leaves)
    EXPECT_TRUE(leaf.filled == 1 || (leaf.filled == 0.5f && leaf.depth == 2));
}

TEST(VoxelSolid, LinesAreMatterAlongTheirWay) {
  const TriangleMesh line = line_through({{0, 0, 0}, {1, 0.3f, 0}, {1.2f, 1, 0.4f}});
  const VoxelSolid voxels = cut(line, {.cells = 6, .levels = 2});
  // Every point of the line is in a cell, and no cell is far from it.
  std::vector<Vec3d> points;
  for (size_t i = 0; i + 1 < line.positions.size(); ++i)
    for (int s = 0; s <= 200; ++s)
      points.emplace_back((line.positions[i] + static_cast<float>(s) / 200 *
                                                   (line.positions[i + 1] - line.positions[i]))
                              .cast<double>());
  for (const Vec3d& p : points) {
    const Vec3d at = (p - voxels.solid.origin) / voxels.solid.spacing;
    EXPECT_TRUE(voxels.solid.lattice.has_cell(at.array().floor().cast<int32_t>()));
  }
  for (size_t c = 0; c < voxels.mesh.cells.size(); ++c)
    for (const VoxelLeaf& leaf : voxels.leaves_of(c)) {
      double nearest = 1e9;
      for (const Vec3d& p : points)
        nearest = std::min(nearest, (p - voxels.centre(c, leaf)).norm());
      EXPECT_LT(nearest, voxels.solid.spacing / 4);
      EXPECT_EQ(leaf.filled, 0.5f);
    }
}

TEST(VoxelSolid, VolumeSheetAndLineMixInOneBody) {
  TriangleMesh mesh = sphere_surface(0.3, 0.05);
  const auto first = static_cast<int32_t>(mesh.positions.size());
  for (const Vec3f& p : {Vec3f(0.2f, 0, -0.2f), Vec3f(0.9f, 0, -0.2f), Vec3f(0.9f, 0, 0.2f),
                         Vec3f(0.2f, 0, 0.2f), Vec3f(-0.2f, 0, 0), Vec3f(-1, 0.1f, 0)})
    mesh.positions.push_back(p);
  mesh.triangles.emplace_back(first, first + 1, first + 2);
  mesh.triangles.emplace_back(first, first + 2, first + 3);
  mesh.triangles.emplace_back(first + 4, first + 5, first + 5);
  const VoxelSolid voxels = cut(mesh, {.cells = 8, .levels = 2});
  const std::vector<int32_t> pieces = voxels.mesh.pieces();
  EXPECT_EQ(*std::max_element(pieces.begin(), pieces.end()), 0);
  const auto kind_at = [&](const Vec3d& p) {
    return voxels.solid.lattice.has_cell(
        ((p - voxels.solid.origin) / voxels.solid.spacing).array().floor().cast<int32_t>());
  };
  EXPECT_TRUE(kind_at({0, 0, 0}));
  EXPECT_TRUE(kind_at({0.8, 0, 0.1}));
  EXPECT_TRUE(kind_at({-0.9, 0.0875, 0}));
  EXPECT_FALSE(kind_at({0.8, 0.3, 0}));
  EXPECT_FALSE(kind_at({-0.9, 0.5, 0}));
}

TEST(VoxelSolid, CavitiesAreFilledUnlessKeptHollow) {
  TriangleMesh mesh = sphere_surface(0.5, 0.04);
  const TriangleMesh inner = sphere_surface(0.35, 0.04);
  const auto first = static_cast<int32_t>(mesh.positions.size());
  for (const Vec3f& p : inner.positions) mesh.positions.push_back(p);
  for (const Vec3i& t : inner.triangles)
    mesh.triangles.emplace_back(first + t[0], first + t[2], first + t[1]);
  const double ball = std::numbers::pi / 6,
               shell = ball - 4 * std::numbers::pi / 3 * std::pow(0.35, 3);
  const VoxelSolidOptions options{.cells = 5, .levels = 3};
  VoxelSolidOptions hollow = options;
  hollow.hollow = true;
  EXPECT_GT(volume_of(cut(mesh, options)), 0.85 * ball);
  EXPECT_NEAR(volume_of(cut(mesh, hollow)), shell, 0.04 * shell);
}

TEST(VoxelSolid, RefusesWhatIsNothingOrSmallerThanACell) {
  const TriangleMesh ball = sphere_surface(0.5, 0.1);
  EXPECT_THROW(voxelise_solid({}, {}), Error);
  EXPECT_THROW(voxelise_solid(ball.positions, {}), Error);
  EXPECT_THROW(cut(ball, {.spacing = 2}), Error);
  EXPECT_THROW(cut(ball, {.cells = 1000, .levels = 4}), Error);
  TriangleMesh point;
  point.positions.assign(3, Vec3f(1, 2, 3));
  point.triangles.emplace_back(0, 1, 2);
  EXPECT_THROW(cut(point, {}), Error);
}

TEST(VoxelSolid, IsTheSameForAnyNumberOfThreads) {
  const TriangleMesh ball = sphere_surface(0.5, 0.05);
  std::vector<VoxelSolid> results;
  for (const int threads : {1, 2, 5}) {
    set_thread_count(threads);
    results.push_back(cut(ball, {.cells = 6, .levels = 3}));
  }
  set_thread_count(0);
  for (const VoxelSolid& other : results) {
    ASSERT_EQ(other.leaves.size(), results[0].leaves.size());
    for (size_t i = 0; i < other.leaves.size(); ++i) {
      EXPECT_EQ(other.leaves[i].path, results[0].leaves[i].path);
      EXPECT_EQ(other.leaves[i].filled, results[0].leaves[i].filled);
    }
  }
}

// Whatever real files hold: open, of many parts, intersecting themselves, with stray triangles.
TEST(VoxelSolid, RealMeshesAndCharactersAreCut) {
  SUPPLE_NEEDS_ASSETS();
  int count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(*test::assets())) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".obj" && extension != ".glb" && extension != ".gltf") continue;
    Character character;
    try {
      character = read_character(entry.path());
    } catch (const Error&) {
      continue;  // what cannot be read is other tests' affair
    }
    if (character.skin.triangles.empty()) continue;
    const TriangleMesh& skin = character.skin;
    const VoxelSolid voxels =
        voxelise_solid(skin.positions, skin.triangles, {.cells = 8, .levels = 2});
    EXPECT_GT(voxels.mesh.cells.size(), 8u) << entry.path();
    for (size_t c = 0; c < voxels.mesh.cells.size(); ++c) EXPECT_FALSE(voxels.leaves_of(c).empty());
    // Every corner of a triangle lies in a cell.
    for (const Vec3i& t : skin.triangles)
      for (int k = 0; k < 3; ++k) {
        const Vec3d at =
            (skin.positions[static_cast<size_t>(t[k])].cast<double>() - voxels.solid.origin) /
            voxels.solid.spacing;
        ASSERT_TRUE(voxels.solid.lattice.has_cell(at.array().floor().cast<int32_t>()))
            << entry.path();
      }
    ++count;
  }
  EXPECT_GT(count, 10);
}

}  // namespace
}  // namespace supple
