// Volumes, areas and normals of shapes whose values are known.
#include "supple/mesh/triangle_mesh.h"

#include <gtest/gtest.h>

#include <bit>
#include <numbers>
#include <random>

#include "mesh/shapes.h"
#include "supple/core/parallel.h"

namespace supple {
namespace {

using test::make_box;
using test::make_sphere;

double volume_of(const TriangleMesh& mesh) { return signed_volume(mesh.positions, mesh.triangles); }
double area_of(const TriangleMesh& mesh) { return surface_area(mesh.positions, mesh.triangles); }

std::vector<Vec3f> normals_of(const TriangleMesh& mesh) {
  std::vector<Vec3f> normals(mesh.positions.size(), Vec3f::Constant(7));
  vertex_normals(mesh.positions, mesh.triangles, normals);
  return normals;
}

TEST(TriangleMesh, BoxHasItsVolumeAndArea) {
  const TriangleMesh box = make_box({2, 3, 0.5f});
  EXPECT_DOUBLE_EQ(volume_of(box), 3);
  EXPECT_DOUBLE_EQ(area_of(box), 2 * (6 + 1 + 1.5));
  TriangleMesh inside_out = box;
  for (Vec3i& t : inside_out.triangles) std::swap(t[1], t[2]);
  EXPECT_DOUBLE_EQ(volume_of(inside_out), -3);
}

TEST(TriangleMesh, NothingHasNoVolume) {
  EXPECT_EQ(signed_volume({}, {}), 0);
  EXPECT_EQ(surface_area({}, {}), 0);
  EXPECT_TRUE(bounding_box({}).isEmpty());
  vertex_normals({}, {}, {});
}

TEST(TriangleMesh, VolumeDoesNotDependOnThePlace) {
  // Coordinates that float holds exactly at this distance; the volume must be exact too.
  TriangleMesh box = make_box({1, 2, 4});
  for (Vec3f& p : box.positions) p += Vec3f(8388608, -4194304, 8388608);
  EXPECT_DOUBLE_EQ(volume_of(box), 8);
  EXPECT_DOUBLE_EQ(area_of(box), 28);
  for (const Vec3f& n : normals_of(box)) EXPECT_NEAR(n.norm(), 1, 1e-6);
}

TEST(TriangleMesh, SphereConvergesWithTheSquareOfTheEdgeLength) {
  constexpr double pi = std::numbers::pi;
  double volume_error = 0, area_error = 0;
  for (int level = 1; level <= 6; ++level) {
    const TriangleMesh sphere = make_sphere(level);
    const double v = 4 * pi / 3 - volume_of(sphere), a = 4 * pi - area_of(sphere);
    EXPECT_GT(v, 0);
    EXPECT_GT(a, 0);
    if (level > 2) {
      EXPECT_NEAR(volume_error / v, 4, 0.3) << level;
      EXPECT_NEAR(area_error / a, 4, 0.3) << level;
    }
    volume_error = v;
    area_error = a;
  }
  EXPECT_LT(volume_error, 0.005);
}

TEST(TriangleMesh, SphereNormalsPointOutward) {
  const TriangleMesh sphere = make_sphere(4);
  const std::vector<Vec3f> normals = normals_of(sphere);
  for (size_t i = 0; i < normals.size(); ++i)
    EXPECT_LT((normals[i] - sphere.positions[i]).norm(), 0.03f) << i;
}

TEST(TriangleMesh, NormalsAreWeightedByArea) {
  // A triangle facing +z of twice the area of one facing +x, joined at vertex 0.
  const std::vector<Vec3f> positions = {{0, 0, 0}, {2, 0, 0}, {0, 2, 0},
                                        {0, 1, 0}, {0, 0, 2}, {9, 9, 9}};
  const std::vector<Vec3i> triangles = {{0, 1, 2}, {0, 3, 4}, {5, 5, 1}};
  std::vector<Vec3f> normals(6, Vec3f::Constant(7));
  vertex_normals(positions, triangles, normals);
  EXPECT_LT((normals[0] - Vec3f(1, 0, 2).normalized()).norm(), 1e-6f);
  EXPECT_LT((normals[2] - Vec3f(0, 0, 1)).norm(), 1e-6f);
  EXPECT_LT((normals[4] - Vec3f(1, 0, 0)).norm(), 1e-6f);
  EXPECT_EQ(normals[5], Vec3f::Zero());
}

TEST(TriangleMesh, NormalsOfAnySizeAreUnit) {
  for (const float scale : {1e-15f, 1e-9f, 1e-3f, 1e6f, 1e12f}) {
    TriangleMesh sphere = make_sphere(2);
    for (Vec3f& p : sphere.positions) p *= scale;
    for (const Vec3f& n : normals_of(sphere)) ASSERT_NEAR(n.norm(), 1, 1e-5) << scale;
  }
}

TEST(TriangleMesh, BoundingBoxHoldsAllPoints) {
  const std::vector<Vec3f> points = {{1, -2, 3}, {-1, 5, 0}, {0, 0, 9}};
  EXPECT_EQ(bounding_box(points).min(), Vec3f(-1, -2, 0));
  EXPECT_EQ(bounding_box(points).max(), Vec3f(1, 5, 9));
}

TEST(TriangleMesh, VolumeHasTheSameBitsForAnyThreadCount) {
  TriangleMesh sphere = make_sphere(6);
  std::mt19937 random(2);
  std::normal_distribution<float> noise(0, 0.1f);
  for (Vec3f& p : sphere.positions) p += Vec3f(noise(random), noise(random), noise(random));
  set_thread_count(1);
  const double expected = volume_of(sphere);
  for (const int threads : {2, 3, 7}) {
    set_thread_count(threads);
    EXPECT_EQ(std::bit_cast<uint64_t>(volume_of(sphere)), std::bit_cast<uint64_t>(expected));
  }
  set_thread_count(0);
}

}  // namespace
}  // namespace supple
