// Skins that their cells leave within themselves are moved out of it, and others left alone.
#include "supple/contact/skin_clearance.h"

#include <gtest/gtest.h>

#include "contact/contact_shapes.h"
#include "supple/core/parallel.h"
#include "supple/mesh/weld.h"
#include "support/skin_overlap.h"

namespace supple {
namespace {

constexpr double spacing = 0.1;

// Two boxes a good way apart; moved, one comes to lie in the other.
TriangleMesh two_boxes() {
  TriangleMesh boxes = box_surface(Vec3d(1, 1, 1), 0.1);
  const TriangleMesh other = boxes;
  test::append(boxes, other, Vec3f(3, 0, 0));
  return boxes;
}

struct Body {
  explicit Body(TriangleMesh surface)
      : mesh(std::move(surface)),
        solid(fill_lattice(mesh.positions, mesh.triangles, {.spacing = spacing})),
        cells(solid.lattice),
        skin(mesh.positions, mesh.triangles, spacing),
        rest(test::rest_nodes(solid, cells)),
        clearance(solid, cells, rest, skin) {}

  // Nodes and skin moved by a map of the space at rest.
  template <class Map>
  void deform(const Map& map) {
    nodes.clear();
    points.clear();
    for (const Vec3d& x : rest) nodes.push_back(map(x));
    for (const Vec3f& x : mesh.positions)
      points.push_back(map(x.cast<double>()).template cast<float>());
  }

  TriangleMesh mesh;
  SolidLattice solid;
  LatticeMesh cells;
  SkinSurface skin;
  std::vector<Vec3d> rest, nodes;
  std::vector<Vec3f> points;
  SkinClearance clearance;
};

// The second box, made thinner, goes `depth` into the middle of a side of the first one.
Vec3d pushed(const Vec3d& x, double depth) {
  return x[0] > 1.5 ? Vec3d(x[0] - 2 - depth, 0.7 * x[1] + 0.013, 0.7 * x[2] + 0.017) : x;
}

TEST(SkinClearance, LeavesWhatIsClearAsItIs) {
  Body body(two_boxes());
  for (const double depth : {-2.0, -0.1, 0.004}) {
    body.deform([&](const Vec3d& x) { return pushed(x, depth); });
    const std::vector<Vec3f> before = body.points;
    const SkinClearanceReport report = body.clearance.clear(body.nodes, body.points);
    EXPECT_EQ(report.conditions, 0u);
    EXPECT_EQ(body.points, before);
  }
}

TEST(SkinClearance, PartsTwoBoxesByHalfTheWayEach) {
  Body body(two_boxes());
  const test::OverlapMeter meter(body.mesh, 2 * spacing);
  for (const double depth : {0.06, 0.1}) {
    body.deform([&](const Vec3d& x) { return pushed(x, depth); });
    const std::vector<Vec3f> before = body.points;
    const double allowed = 0.1 * spacing;
    ASSERT_GT(meter.measure(body.points, allowed).deep, 50u);
    const SkinClearanceReport report = body.clearance.clear(body.nodes, body.points);
    EXPECT_GT(report.conditions, 50u);
    EXPECT_EQ(meter.measure(body.points, allowed).deep, 0u) << depth;
    // Both sides give way, at the edges too none by all of it.
    double first = 0, second = 0;
    for (size_t v = 0; v < before.size(); ++v) {
      const auto moved = static_cast<double>((body.points[v] - before[v]).norm());
      double& side = body.mesh.positions[v][0] > 1.5f ? second : first;
      side = std::max(side, moved);
    }
    EXPECT_GT(first, 0.4 * depth);
    EXPECT_LT(first, depth);
    EXPECT_GT(second, 0.4 * depth);
    EXPECT_LT(second, depth);
    EXPECT_NEAR(report.moved, std::max(first, second), 1e-6);
  }
}

// Cells without volume hold nothing; then the triangles tell.
TEST(SkinClearance, PartsWhatCellsCannotTell) {
  Body body(two_boxes());
  const test::OverlapMeter meter(body.mesh, 2 * spacing);
  const double allowed = 0.15 * spacing;
  for (const bool by_triangles : {false, true}) {
    SkinClearance clearance(body.solid, body.cells, body.rest, body.skin,
                            {.turns = by_triangles ? 4 : 0});
    body.deform([&](const Vec3d& x) { return pushed(x, 0.09); });
    for (Vec3d& node : body.nodes) node[2] = 0;
    ASSERT_GT(meter.measure(body.points, allowed).deep, 50u);
    const SkinClearanceReport report = clearance.clear(body.nodes, body.points);
    EXPECT_EQ(report.conditions > 50, by_triangles);
    EXPECT_EQ(meter.measure(body.points, allowed).deep == 0, by_triangles);
  }
}

// A slot in the top of a box, its sides in each other from top to bottom: a crease in flat cells.
TEST(SkinClearance, PartsTheSidesOfACrease) {
  TriangleMesh box = box_surface(Vec3d(2, 2, 0.6), 0.05);
  Body body(welded_mesh(weld_by_position(box.positions), box.positions, box.triangles));
  const test::OverlapMeter meter(body.mesh, 2 * spacing);
  body.deform([](const Vec3d& x) {
    if (x[1] < 0.99 || std::abs(x[0]) > 0.555) return x;
    const double side = x[0] < 0 ? -1 : 1, down = 0.555 - std::abs(x[0]);
    return Vec3d(-0.02 * side * (1 - down / 0.555) + 0.001 * x[2], x[1] - down, x[2]);
  });
  for (Vec3d& node : body.nodes)
    if (node[1] > 0.8) node[2] = 0;
  const size_t before = meter.measure(body.points, 0.05 * spacing).deep;
  ASSERT_GT(before, 50u);
  SkinClearance without(body.solid, body.cells, body.rest, body.skin, {.turns = 0});
  std::vector<Vec3f> by_cells = body.points;
  without.clear(body.nodes, by_cells);
  const size_t left = meter.measure(by_cells, 0.05 * spacing).deep;
  const SkinClearanceReport report = body.clearance.clear(body.nodes, body.points);
  EXPECT_LT(3 * meter.measure(body.points, 0.05 * spacing).deep, left);
  EXPECT_LT(report.moved, 2.01 * spacing);
}

TEST(SkinClearance, MovesNoVertexFar) {
  Body body(two_boxes());
  for (const bool flat : {false, true}) {
    body.deform([&](const Vec3d& x) { return pushed(x, 0.45); });
    if (flat)
      for (Vec3d& node : body.nodes) node[2] = 0;
    const std::vector<Vec3f> before = body.points;
    const SkinClearanceReport report = body.clearance.clear(body.nodes, body.points);
    double most = 0;
    for (size_t v = 0; v < before.size(); ++v) {
      ASSERT_TRUE(body.points[v].allFinite());
      most = std::max(most, static_cast<double>((body.points[v] - before[v]).norm()));
    }
    EXPECT_LT(most, (flat ? 2.01 : 1.5) * spacing);
    EXPECT_NEAR(most, report.moved, 1e-6);
  }
}

TEST(SkinClearance, LeavesWhatOverlapsAtRest) {
  TriangleMesh boxes = box_surface(Vec3d(1, 1, 1), 0.1);
  const TriangleMesh other = boxes;
  test::append(boxes, other, Vec3f(0.6f, 0.31f, 0.27f));
  Body body(boxes);
  body.deform([](const Vec3d& x) { return Vec3d(1.1 * x); });
  const std::vector<Vec3f> before = body.points;
  EXPECT_EQ(body.clearance.clear(body.nodes, body.points).conditions, 0u);
  EXPECT_EQ(body.points, before);
}

TEST(SkinClearance, SameBitsForAnyThreadsAndOnASecondCall) {
  Body body(two_boxes());
  for (const bool flat : {false, true}) {
    std::vector<Vec3f> results[3];
    for (const int call : {0, 1, 2}) {
      set_thread_count(call == 2 ? 1 : 2);
      body.deform([&](const Vec3d& x) { return pushed(x, 0.09); });
      if (flat)
        for (Vec3d& node : body.nodes) node[2] = 0;
      body.clearance.clear(body.nodes, body.points);
      results[call] = body.points;
    }
    set_thread_count(0);
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
  }
}

TEST(SkinClearance, BearsNumbersThatAreNone) {
  Body body(two_boxes());
  body.deform([&](const Vec3d& x) { return pushed(x, 0.09); });
  body.nodes[7] = Vec3d::Constant(NAN);
  body.points[3] = Vec3f::Constant(NAN);
  body.clearance.clear(body.nodes, body.points);
  size_t finite = 0;
  for (const Vec3f& p : body.points) finite += p.allFinite() ? 1 : 0;
  EXPECT_GT(finite, body.points.size() - 20);
}

}  // namespace
}  // namespace supple
