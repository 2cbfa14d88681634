// Links of a solid: none through the air, all through matter.
#include "supple/mesh/solid_graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <set>

#include "mesh/shapes.h"
#include "supple/mesh/weld.h"

namespace supple {
namespace {

using test::append;
using test::make_box;

struct Solid {
  Solid(TriangleMesh given, int resolution) : mesh(std::move(given)) {
    VoxelOptions options;
    options.resolution = resolution;
    grid = grid_around(mesh.positions, options);
    overlaps = triangles_in_cells(grid, mesh.positions, mesh.triangles);
    classify_cells(grid, overlaps, mesh.positions, mesh.triangles);
    sight = std::make_unique<SolidSight>(grid, overlaps, mesh);
    graph = make_solid_graph(mesh, grid, *sight);
  }

  // All nodes that can be reached from a vertex.
  std::set<int32_t> reached_from(size_t vertex) const {
    std::set<int32_t> reached;
    std::vector<int32_t> open{static_cast<int32_t>(graph.vertex_node(vertex))};
    while (!open.empty()) {
      const int32_t node = open.back();
      open.pop_back();
      if (!reached.insert(node).second) continue;
      for (const SolidLink& link : graph.of(static_cast<size_t>(node))) open.push_back(link.node);
    }
    return reached;
  }

  TriangleMesh mesh;
  VoxelGrid grid;
  CellTriangles overlaps;
  std::unique_ptr<SolidSight> sight;
  SolidGraph graph;
};

// Two plates with a gap between: of one and a half cells, of half a cell, of a twentieth.
TEST(SolidGraph, DoesNotCrossTheAir) {
  for (const float gap : {0.15f, 0.05f, 0.005f})
    for (const float offset : {0.0f, 0.013f, 0.049f}) {
      TriangleMesh mesh = make_box(Vec3f(0.5f - offset, 1, 0.5f));
      append(mesh, make_box(Vec3f(0.5f, 1, 0.5f)), Vec3f(0.5f - offset + gap, 0, 0));
      const Solid solid(mesh, 10);
      const std::set<int32_t> left = solid.reached_from(0);
      for (const int32_t node : left)
        ASSERT_LE(solid.graph.positions[static_cast<size_t>(node)][0], 0.5 - offset + 1e-6) << gap;
      EXPECT_GT(left.size(), 150u);
      EXPECT_EQ(left.size() + solid.reached_from(8).size(), solid.graph.nodes());
    }
}

TEST(SolidGraph, JoinsPartsThatOverlap) {
  TriangleMesh mesh = make_box(Vec3f(0.6f, 1, 0.5f));
  append(mesh, make_box(Vec3f(0.6f, 0.7f, 0.4f)), Vec3f(0.4f, 0.1f, 0.03f));
  const Solid solid(mesh, 12);
  EXPECT_EQ(solid.reached_from(0).size(), solid.graph.nodes());
}

// A blade thinner than any cell hangs together along its surface.
TEST(SolidGraph, JoinsThinParts) {
  const Solid solid(make_box(Vec3f(1, 0.01f, 0.02f)), 20);
  EXPECT_EQ(solid.reached_from(0).size(), solid.graph.nodes());
}

TEST(SolidGraph, LinksAreMutual) {
  const Solid solid(test::make_sphere(3), 16);
  for (size_t i = 0; i < solid.graph.nodes(); ++i)
    for (const SolidLink& link : solid.graph.of(i)) {
      bool found = false;
      for (const SolidLink& back : solid.graph.of(static_cast<size_t>(link.node)))
        found |= back.node == static_cast<int32_t>(i) && back.length == link.length &&
                 back.conductance == link.conductance;
      ASSERT_TRUE(found);
      ASSERT_GT(link.length, 0);
      ASSERT_GE(link.conductance, 0);
    }
}

TEST(SolidGraph, AllCellsOfASphereSeeEachOther) {
  const Solid solid(test::make_sphere(4), 20);
  for (size_t i = 0; i < solid.graph.cell_nodes; ++i) {
    const Vec3d& p = solid.graph.positions[i];
    ASSERT_LT(p.norm(), 1.0);
    const bool deep = p.norm() < 1 - 2.1 * solid.grid.spacing;
    ASSERT_GE(solid.graph.of(i).size(), deep ? 26u : 1u);
  }
}

}  // namespace
}  // namespace supple
