// Surfaces of simple solids: closed, facing outwards, of the right size.
#include "supple/mesh/primitives.h"

#include <gtest/gtest.h>

#include <numbers>

#include "supple/mesh/topology.h"
#include "supple/mesh/weld.h"

namespace supple {
namespace {

constexpr double pi = std::numbers::pi;

Topology topology_of(const TriangleMesh& mesh) {
  const Weld weld = weld_by_position(mesh.positions);
  return analyse_topology(weld.points(),
                          welded_mesh(weld, mesh.positions, mesh.triangles).triangles);
}

double longest_edge(const TriangleMesh& mesh) {
  double longest = 0;
  for (const Vec3i& t : mesh.triangles)
    for (int k = 0; k < 3; ++k)
      longest = std::max(longest,
                         static_cast<double>((mesh.positions[static_cast<size_t>(t[k])] -
                                              mesh.positions[static_cast<size_t>(t[(k + 1) % 3])])
                                                 .norm()));
  return longest;
}

TEST(Primitives, Box) {
  const TriangleMesh mesh = box_surface({2, 0.5, 1}, 0.1);
  EXPECT_TRUE(topology_of(mesh).closed());
  EXPECT_NEAR(signed_volume(mesh.positions, mesh.triangles), 1, 1e-5);
  EXPECT_NEAR(surface_area(mesh.positions, mesh.triangles), 7, 1e-4);
  EXPECT_LT(longest_edge(mesh), 0.15);
  const Box3f box = bounding_box(mesh.positions);
  EXPECT_EQ(box.max(), Vec3f(1, 0.25f, 0.5f));
  EXPECT_EQ(box.min(), Vec3f(-1, -0.25f, -0.5f));
  // A coarse one is still whole.
  EXPECT_EQ(box_surface({1, 1, 1}, 10).triangles.size(), 12u);
}

TEST(Primitives, Sphere) {
  const TriangleMesh mesh = sphere_surface(2, 0.1);
  EXPECT_TRUE(topology_of(mesh).closed());
  EXPECT_EQ(weld_by_position(mesh.positions).points(), mesh.positions.size());
  EXPECT_NEAR(signed_volume(mesh.positions, mesh.triangles), 32 * pi / 3, 0.1);
  for (const Vec3f& p : mesh.positions) EXPECT_NEAR(p.norm(), 2, 1e-5);
}

TEST(Primitives, Tube) {
  for (const double bore : {0.0, 0.1}) {
    const TriangleMesh mesh = tube_surface({1, 0.25, bore, pi / 2}, 0.04);
    const Topology topology = topology_of(mesh);
    EXPECT_TRUE(topology.closed()) << bore;
    EXPECT_EQ(topology.shells, 1);
    // Pappus: cross-section times the way of its centre.
    const double volume = pi * (0.0625 - bore * bore) * pi / 2;
    EXPECT_NEAR(signed_volume(mesh.positions, mesh.triangles), volume, 0.02 * volume) << bore;
  }
}

}  // namespace
}  // namespace supple
