// The measure of overlap that tests of flesh rely on, against spheres, where it is known.
#include <gtest/gtest.h>

#include "supple/mesh/primitives.h"
#include "supple/mesh/weld.h"
#include "support/skin_overlap.h"

namespace supple {
namespace {

TriangleMesh two_spheres() {
  TriangleMesh mesh = sphere_surface(1, 0.08);
  const TriangleMesh other = mesh;
  const auto first = static_cast<int>(mesh.positions.size());
  for (const Vec3f& p : other.positions) mesh.positions.emplace_back(p + Vec3f(4, 0, 0));
  for (const Vec3i& t : other.triangles) mesh.triangles.emplace_back(t.array() + first);
  return mesh;
}

TEST(SkinOverlap, IsThatOfTwoSpheres) {
  const TriangleMesh rest = two_spheres();
  const test::OverlapMeter meter(rest, 0.6);
  EXPECT_EQ(meter.vertices(), rest.positions.size());
  EXPECT_EQ(meter.measure(rest.positions, 0).deep, 0u);
  std::vector<Vec3f> posed = rest.positions;
  const size_t half = posed.size() / 2;
  for (size_t v = half; v < posed.size(); ++v) posed[v][0] -= 2.5f;  // centres 1.5 apart
  constexpr double allowed = 0.2;
  size_t deep = 0;
  double deepest = 0, sum = 0;
  for (size_t v = 0; v < posed.size(); ++v) {
    const Vec3f centre(v < half ? 1.5f : 0.0f, 0, 0);
    const double depth = 1 - static_cast<double>((posed[v] - centre).norm());
    deep += depth > allowed ? 1 : 0;
    deepest = std::max(deepest, depth);
    sum += std::max(depth, 0.0);
  }
  const test::SkinOverlap found = meter.measure(posed, allowed);
  EXPECT_NEAR(static_cast<double>(found.deep), static_cast<double>(deep),
              0.05 * static_cast<double>(deep));
  EXPECT_NEAR(found.deepest, deepest, 0.01);
  EXPECT_NEAR(found.depth, sum, 0.05 * sum);
  // All of it is behind the other sphere.
  EXPECT_EQ(found.behind, found.deep);
  EXPECT_NEAR(found.furthest_behind, deepest, 0.01);
}

// A box with a slot from above that its sides close to a crease: its bottom is far from all that is
// not next to it at rest, but in nothing. Sides that are in each other are so by as much; only of
// the rows along its bottom, which are next to each other at rest, no surface tells how far.
TEST(SkinOverlap, KnowsTheBottomOfACrease) {
  TriangleMesh rest = box_surface(Vec3d(2, 2, 0.6), 0.05);
  for (Vec3f& p : rest.positions) p[0] += 0.001f * p[1];  // nothing meets head-on
  const Weld weld = weld_by_position(rest.positions);
  rest = welded_mesh(weld, rest.positions, rest.triangles);
  const test::OverlapMeter meter(rest, 0.3);
  // The middle of the top is drawn down to a slot of this width at its mouth.
  const auto creased = [&](double width) {
    std::vector<Vec3f> posed = rest.positions;
    for (Vec3f& p : posed) {
      if (p[1] < 0.99f || std::abs(p[0]) > 0.55f) continue;
      const float side = p[0] < 0 ? -1 : 1, down = 0.55f - std::abs(p[0]);
      p[1] -= 2 * down;
      p[0] = side * static_cast<float>(width) / 2 * (1 - down / 0.55f) + 0.001f * p[2];
    }
    return posed;
  };
  const test::SkinOverlap open = meter.measure(creased(0.05), 0.05);
  EXPECT_EQ(open.behind, 0u);
  const test::SkinOverlap swapped = meter.measure(creased(-0.06), 0.07);
  EXPECT_GT(swapped.deep, 30u);
  EXPECT_LT(swapped.behind, swapped.deep);
  const test::SkinOverlap wide = meter.measure(creased(-0.3), 0.1);
  EXPECT_GT(wide.behind, 20u);
  EXPECT_GT(wide.furthest_behind, 0.2);
}

// Skin that is folded in place, far from all other parts, is in none of them.
TEST(SkinOverlap, LeavesFoldsAlone) {
  const TriangleMesh rest = two_spheres();
  const test::OverlapMeter meter(rest, 0.6);
  std::vector<Vec3f> posed = rest.positions;
  // A patch about the pole of one is drawn aside, under the skin next to it.
  size_t drawn = 0;
  for (Vec3f& p : posed) {
    if (Vec3f(p[0], 0, p[2]).norm() > 0.15f || p[1] < 0) continue;
    p += Vec3f(0.3f, -0.08f, 0);
    ++drawn;
  }
  ASSERT_GT(drawn, 5u);
  EXPECT_EQ(meter.measure(posed, 0.1).deep, 0u);
}

}  // namespace
}  // namespace supple
