// Triangle and box against a reference that cuts the triangle down to the box plane by plane.
#include "supple/mesh/triangle_box.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace supple {
namespace {

using Triangle = std::array<Vec3d, 3>;

// Whether anything of the triangle is left after cutting it with the six planes of the box.
bool something_left(const Triangle& triangle, const Vec3d& centre, const Vec3d& half) {
  std::vector<Vec3d> polygon(triangle.begin(), triangle.end());
  for (int axis = 0; axis < 3; ++axis)
    for (const double side : {-1.0, 1.0}) {
      std::vector<Vec3d> cut;
      const auto excess = [&](const Vec3d& p) {
        return side * (p[axis] - centre[axis]) - half[axis];
      };
      for (size_t i = 0; i < polygon.size(); ++i) {
        const Vec3d& a = polygon[i];
        const Vec3d& b = polygon[(i + 1) % polygon.size()];
        const double ea = excess(a), eb = excess(b);
        if (ea <= 0) cut.push_back(a);
        if ((ea < 0 && eb > 0) || (ea > 0 && eb < 0)) cut.push_back(a + ea / (ea - eb) * (b - a));
      }
      polygon = cut;
    }
  return !polygon.empty();
}

// Shapes of triangles: of the size of the box, huge, tiny, needles, and almost flat in an axis.
Triangle random_triangle(std::mt19937& random) {
  std::normal_distribution<double> normal;
  const double sizes[] = {1, 30, 0.05, 1, 2};
  const size_t kind = random() % 5;
  const auto vector = [&] { return Vec3d(normal(random), normal(random), normal(random)); };
  Triangle triangle;
  const Vec3d start = 1.5 * vector();
  for (Vec3d& corner : triangle) corner = start + sizes[kind] * vector();
  if (kind == 3) triangle[2] = triangle[0] + 0.3 * (triangle[1] - triangle[0]) + 1e-3 * vector();
  if (kind == 4)
    for (Vec3d& corner : triangle) corner[random() % 3] = start[0];
  return triangle;
}

TEST(TriangleBox, AgreesWithClipping) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> extent(0.2, 2);
  int hits = 0;
  for (int i = 0; i < 200'000; ++i) {
    const Triangle triangle = random_triangle(random);
    const Vec3d centre(0.3, -0.2, 0.1), half(extent(random), extent(random), extent(random));
    const bool overlaps = triangle_overlaps_box<double>(triangle, centre, half);
    hits += overlaps;
    // A hair's breadth either way is left to rounding.
    const bool surely = something_left(triangle, centre, half * (1 - 1e-9));
    const bool perhaps = something_left(triangle, centre, half * (1 + 1e-9));
    ASSERT_TRUE(overlaps || !surely) << "case " << i;
    ASSERT_TRUE(perhaps || !overlaps) << "case " << i;
  }
  EXPECT_GT(hits, 40'000);
  EXPECT_LT(hits, 160'000);
}

TEST(TriangleBox, TouchingCounts) {
  const Vec3d half = Vec3d::Ones();
  const Triangle on_face{Vec3d(1, 0, 0), Vec3d(1, 0.5, 0), Vec3d(1, 0, 0.5)};
  const Triangle at_corner{Vec3d(1, 1, 1), Vec3d(2, 1, 1), Vec3d(1, 2, 2)};
  const Triangle off_edge{Vec3d(2.01, 0, 0), Vec3d(0, 2.01, 0), Vec3d(2, 2, 2)};
  EXPECT_TRUE(triangle_overlaps_box<double>(on_face, Vec3d::Zero(), half));
  EXPECT_TRUE(triangle_overlaps_box<double>(at_corner, Vec3d::Zero(), half));
  EXPECT_FALSE(triangle_overlaps_box<double>(off_edge, Vec3d::Zero(), half));
}

TEST(TriangleBox, TakesSegmentsAndPoints) {
  const Vec3d half = Vec3d::Ones();
  const auto overlaps = [&](const Vec3d& a, const Vec3d& b) {
    return triangle_overlaps_box<double>({a, b, b}, Vec3d::Zero(), half);
  };
  EXPECT_TRUE(overlaps(Vec3d(-3, 0.5, 0.5), Vec3d(3, 0.5, 0.5)));
  EXPECT_FALSE(overlaps(Vec3d(-3, 0, 0), Vec3d(0, 3, 0)));
  EXPECT_TRUE(overlaps(Vec3d(0.9, 0.9, 0.9), Vec3d(0.9, 0.9, 0.9)));
  EXPECT_FALSE(overlaps(Vec3d(1.1, 0, 0), Vec3d(1.1, 0, 0)));
}

}  // namespace
}  // namespace supple
