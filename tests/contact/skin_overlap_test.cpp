// The measure of overlap that tests of flesh rely on, against spheres, where it is known.
#include <gtest/gtest.h>

#include "supple/mesh/primitives.h"
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
