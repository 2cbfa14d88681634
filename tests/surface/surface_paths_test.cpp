#include "supple/surface/surface_paths.h"

#include <gtest/gtest.h>

#include <set>

#include "support/test_support.h"
#include "surface/meshes.h"

namespace supple {
namespace {

using test::ball;
using test::cube;
using test::rod;

TEST(SurfacePaths, CoverEveryVertexOnceAlongEdges) {
  for (const TriangleMesh& mesh : {cube(3000), ball(2000), rod(0.1)}) {
    const VertexLists neighbours = vertex_neighbours(mesh.positions.size(), mesh.triangles);
    for (const size_t limit : {size_t{7}, longest_path}) {
      const SurfacePaths paths = build_paths(mesh.positions, neighbours, limit);
      std::vector<int> seen(mesh.positions.size(), 0);
      for (const int32_t v : paths.order) ++seen[static_cast<size_t>(v)];
      EXPECT_TRUE(std::ranges::all_of(seen, [](int n) { return n == 1; }));
      for (size_t p = 0; p + 1 < paths.starts.size(); ++p) {
        ASSERT_LE(paths.starts[p + 1] - paths.starts[p], limit);
        for (uint32_t i = paths.starts[p]; i + 1 < paths.starts[p + 1]; ++i) {
          const auto around = neighbours.of(static_cast<size_t>(paths.order[i]));
          ASSERT_TRUE(std::ranges::find(around, paths.order[i + 1]) != around.end());
        }
      }
    }
  }
}

// About 2 ω + 1 paths cross a region of a regular mesh [Diziol 2011, section 4].
TEST(SurfacePaths, FewCrossARegion) {
  const TriangleMesh mesh = cube(6000);
  const VertexLists neighbours = vertex_neighbours(mesh.positions.size(), mesh.triangles);
  const SurfacePaths paths = build_paths(mesh.positions, neighbours);
  for (const int width : {1, 3, 5}) {
    RegionTable table;
    append_regions(paths, neighbours, width, 0, table);
    const double mean =
        static_cast<double>(table.intervals.size()) / static_cast<double>(mesh.positions.size());
    EXPECT_LT(mean, 1.15 * (2 * width + 1));
  }
}

TEST(SurfacePaths, IntervalsAreTheRegions) {
  const TriangleMesh mesh = ball(700);
  const VertexLists neighbours = vertex_neighbours(mesh.positions.size(), mesh.triangles);
  const SurfacePaths paths = build_paths(mesh.positions, neighbours, 20);
  for (const int width : {1, 2, 4}) {
    RegionTable table;
    append_regions(paths, neighbours, width, 0, table);
    const VertexLists members = region_members(table, paths.starts);
    for (size_t place = 0; place < mesh.positions.size(); ++place) {
      // The region by brute force.
      std::set<int32_t> region{paths.order[place]};
      for (int w = 0; w < width; ++w)
        for (const int32_t v : std::vector<int32_t>(region.begin(), region.end()))
          for (const int32_t n : neighbours.of(static_cast<size_t>(v))) region.insert(n);
      std::set<int32_t> found;
      for (const int32_t m : members.of(place)) found.insert(paths.order[static_cast<size_t>(m)]);
      ASSERT_EQ(found, region) << place;
      ASSERT_EQ(static_cast<size_t>(table.sizes[place]), region.size());
    }
  }
}

TEST(SurfacePaths, LooseVerticesAreShellsOfTheirOwn) {
  const std::vector<Vec3f> positions{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {5, 5, 5}};
  const std::vector<Vec3i> triangles{{0, 1, 2}};
  const SurfacePaths paths = build_paths(positions, vertex_neighbours(4, triangles));
  EXPECT_EQ(paths.starts, (std::vector<uint32_t>{0, 3, 4}));
  EXPECT_EQ(paths.shells, (std::vector<uint32_t>{0, 1, 2}));
}

// Half the sum over a fan is the sum of its triangles' areas, whatever hangs together how.
TEST(SurfacePaths, FansAddUpToTheirTriangles) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    const int vertices = 5 + round % 4;
    std::vector<Vec3f> positions;
    for (int v = 0; v < vertices; ++v) positions.push_back(Vec3f::Random());
    std::vector<Vec3i> triangles;
    for (int t = 0; t < 12; ++t)
      triangles.emplace_back(static_cast<int>(random() % unsigned(vertices)),
                             static_cast<int>(random() % unsigned(vertices)),
                             static_cast<int>(random() % unsigned(vertices)));
    const VertexLists fans = vertex_fans(positions.size(), triangles);
    for (size_t v = 0; v < positions.size(); ++v) {
      Vec3f expected = Vec3f::Zero(), sum = expected;
      for (const Vec3i& t : triangles)
        for (int k = 0; k < 3; ++k)
          if (t[k] == static_cast<int32_t>(v))
            expected += (positions[static_cast<size_t>(t[(k + 1) % 3])] - positions[v])
                            .cross(positions[static_cast<size_t>(t[(k + 2) % 3])] - positions[v]);
      const auto fan = fans.of(v);
      for (size_t k = 0; k + 1 < fan.size(); ++k)
        sum += (positions[static_cast<size_t>(fan[k])] - positions[v])
                   .cross(positions[static_cast<size_t>(fan[k + 1])] - positions[v]);
      ASSERT_LT((sum - expected).norm(), 1e-4f) << round << ": " << v;
    }
  }
}

}  // namespace
}  // namespace supple
