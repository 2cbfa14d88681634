// Overlap of triangles and tetrahedra, against clipping.
#include "supple/mesh/triangle_tet.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace supple {
namespace {

// What is left of a triangle inside all sides of a tetrahedron, each moved out by `out`
// [Sutherland 1974].
bool clip(const std::array<Vec3d, 4>& x, const std::array<Vec3d, 3>& triangle, double out) {
  std::vector<Vec3d> polygon(triangle.begin(), triangle.end());
  for (size_t side = 0; side < 4; ++side) {
    const Vec3d &a = x[(side + 1) % 4], &b = x[(side + 2) % 4], &c = x[(side + 3) % 4];
    Vec3d normal = (b - a).cross(c - a).normalized();
    if (normal.dot(x[side] - a) < 0) normal = -normal;
    std::vector<Vec3d> kept;
    for (size_t i = 0; i < polygon.size(); ++i) {
      const Vec3d &p = polygon[i], &q = polygon[(i + 1) % polygon.size()];
      const double at_p = normal.dot(p - a) + out, at_q = normal.dot(q - a) + out;
      if (at_p >= 0) kept.push_back(p);
      if ((at_p >= 0) != (at_q >= 0)) kept.push_back(p + at_p / (at_p - at_q) * (q - p));
    }
    polygon = kept;
  }
  return !polygon.empty();
}

TEST(TriangleTet, AgreesWithClipping) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> place(-1, 1);
  const auto point = [&]() { return Vec3d(place(random), place(random), place(random)); };
  int overlapping = 0, apart = 0;
  for (int i = 0; i < 20000; ++i) {
    std::array<Vec3d, 4> tet{point(), point(), point(), point()};
    const double volume = (tet[1] - tet[0]).dot((tet[2] - tet[0]).cross(tet[3] - tet[0]));
    if (volume < 0) std::swap(tet[2], tet[3]);
    if (std::abs(volume) < 1e-3) continue;
    const Vec3d at = point();
    const double size = i % 2 ? 1 : 0.2;
    std::array<Vec3d, 3> triangle{at + size * point(), at + size * point(), at + size * point()};
    if (i % 7 == 0) triangle[2] = triangle[1];                 // a segment
    if (i % 11 == 0) triangle[1] = triangle[2] = triangle[0];  // a point
    const bool in = clip(tet, triangle, -1e-7), near = clip(tet, triangle, 1e-7);
    if (in != near) continue;  // too close to call
    EXPECT_EQ(TetShape(tet).overlaps(triangle), in) << i;
    ++(in ? overlapping : apart);
  }
  EXPECT_GT(overlapping, 1000);
  EXPECT_GT(apart, 2000);
}

TEST(TriangleTet, TouchingCounts) {
  const TetShape shape({Vec3d(0, 0, 0), Vec3d(1, 0, 0), Vec3d(0, 1, 0), Vec3d(0, 0, 1)});
  EXPECT_TRUE(shape.overlaps({Vec3d(0, 0, 0), Vec3d(-1, 0, 0), Vec3d(0, -1, -1)}));
  EXPECT_TRUE(shape.overlaps({Vec3d(-1, -1, 0), Vec3d(3, -1, 0), Vec3d(-1, 3, 0)}));
  EXPECT_FALSE(shape.overlaps({Vec3d(-1, -1, -1e-6), Vec3d(3, -1, -1e-6), Vec3d(-1, 3, -1e-6)}));
  EXPECT_FALSE(shape.overlaps({Vec3d(1, 1, 1), Vec3d(2, 1, 1), Vec3d(1, 2, 1)}));
}

}  // namespace
}  // namespace supple
