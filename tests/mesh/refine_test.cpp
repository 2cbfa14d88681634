// Finer meshes keep the shape, stay closed, and have edges as short as asked for.
#include "supple/mesh/refine.h"

#include <gtest/gtest.h>

#include <map>

#include "mesh/shapes.h"

namespace supple {
namespace {

// Every edge is run along once in each direction.
void expect_closed(const TriangleMesh& mesh) {
  std::map<std::pair<int32_t, int32_t>, int> edges;
  for (const Vec3i& t : mesh.triangles)
    for (int c = 0; c < 3; ++c) ++edges[{t[c], t[(c + 1) % 3]}];
  for (const auto& [edge, count] : edges) {
    EXPECT_EQ(count, 1);
    EXPECT_TRUE(edges.contains({edge.second, edge.first}));
  }
}

double longest_edge(const TriangleMesh& mesh) {
  double longest = 0;
  for (const Vec3i& t : mesh.triangles)
    for (int c = 0; c < 3; ++c)
      longest = std::max(longest,
                         static_cast<double>((mesh.positions[static_cast<size_t>(t[c])] -
                                              mesh.positions[static_cast<size_t>(t[(c + 1) % 3])])
                                                 .norm()));
  return longest;
}

TEST(Refine, KeepsShapeAndVertices) {
  const TriangleMesh box = test::make_box(Vec3f(1, 0.1f, 0.4f)), ball = test::make_sphere(2);
  for (const TriangleMesh* mesh : {&box, &ball})
    for (const double longest : {2.0, 0.5, 0.21, 0.07}) {
      const TriangleMesh fine = with_short_edges(*mesh, longest);
      expect_closed(fine);
      EXPECT_LE(longest_edge(fine), longest * (1 + 1e-6));
      EXPECT_NEAR(signed_volume(fine.positions, fine.triangles),
                  signed_volume(mesh->positions, mesh->triangles), 1e-6);
      EXPECT_NEAR(surface_area(fine.positions, fine.triangles),
                  surface_area(mesh->positions, mesh->triangles), 1e-5);
      for (size_t v = 0; v < mesh->positions.size(); ++v)
        EXPECT_EQ(fine.positions[v], mesh->positions[v]);
    }
  EXPECT_EQ(with_short_edges(ball, 2).triangles, ball.triangles);
  for (const int parts : {1, 2, 5}) {
    const TriangleMesh fine = refined(box, parts);
    expect_closed(fine);
    EXPECT_EQ(fine.triangles.size(), box.triangles.size() * static_cast<size_t>(parts * parts));
    EXPECT_NEAR(signed_volume(fine.positions, fine.triangles), 0.04, 1e-6);
  }
}

}  // namespace
}  // namespace supple
