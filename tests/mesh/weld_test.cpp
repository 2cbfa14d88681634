// Welding against a reference that compares every vertex with every point.
#include "supple/mesh/weld.h"

#include <gtest/gtest.h>

#include <ctime>
#include <limits>
#include <random>

#include "mesh/shapes.h"

namespace supple {
namespace {

// Each vertex joins the nearest earlier point within reach (the lower number where two are equally
// near), or becomes a point.
Weld reference_weld(const std::vector<Vec3f>& positions, double tolerance) {
  Vec3d low = positions[0].cast<double>(), high = low;
  for (const Vec3f& p : positions) {
    low = low.cwiseMin(p.cast<double>());
    high = high.cwiseMax(p.cast<double>());
  }
  const double reach = tolerance * (high - low).maxCoeff();
  Weld weld;
  for (size_t v = 0; v < positions.size(); ++v) {
    int32_t best = -1;
    double least = std::numeric_limits<double>::infinity();
    for (size_t k = 0; k < weld.vertex_of_point.size(); ++k) {
      const Vec3f& q = positions[static_cast<size_t>(weld.vertex_of_point[k])];
      const double d = (positions[v].cast<double>() - q.cast<double>()).squaredNorm();
      if (d <= reach * reach && d < least) {
        best = static_cast<int32_t>(k);
        least = d;
      }
    }
    if (best < 0) {
      best = static_cast<int32_t>(weld.vertex_of_point.size());
      weld.vertex_of_point.push_back(static_cast<int32_t>(v));
    }
    weld.point_of_vertex.push_back(best);
  }
  return weld;
}

void expect_reference(const std::vector<Vec3f>& positions, double tolerance,
                      const std::string& what) {
  const Weld found = weld_by_position(positions, tolerance);
  const Weld expected = reference_weld(positions, tolerance);
  EXPECT_EQ(found.point_of_vertex, expected.point_of_vertex) << what;
  EXPECT_EQ(found.vertex_of_point, expected.vertex_of_point) << what;
}

TEST(Weld, RandomPointsAtEveryTolerance) {
  std::mt19937 random(1);
  for (const double tolerance : {0.0, 1e-6, 1e-3, 0.02, 0.3, 1.0})
    for (int round = 0; round < 10; ++round) {
      std::uniform_real_distribution<float> unit(-1, 1);
      std::vector<Vec3f> positions;
      for (int i = 0; i < 200; ++i) {
        positions.emplace_back(unit(random), unit(random), unit(random));
        // A neighbour just within or just out of reach, across whatever cell border is there.
        const Vec3f step = Vec3f(unit(random), unit(random), unit(random)).normalized();
        const auto reach = static_cast<float>(2 * tolerance);
        const float length = reach * (random() % 2 ? 0.97f : 1.03f);
        positions.push_back(positions.back() + length * step);
      }
      expect_reference(positions, tolerance, std::to_string(tolerance));
    }
}

TEST(Weld, PointsOnCellBordersAndAtExactlyTheTolerance) {
  // Extent 64 and tolerance 1/64: reach 1, all distances exact, many ties.
  std::mt19937 random(2);
  for (int round = 0; round < 30; ++round) {
    std::vector<Vec3f> positions = {{-32, -32, -32}, {32, 32, 32}};
    for (int i = 0; i < 200; ++i)
      positions.push_back(Vec3f(static_cast<float>(random() % 13),
                                static_cast<float>(random() % 13),
                                static_cast<float>(random() % 3)) /
                          2);
    expect_reference(positions, 1.0 / 64, "grid");
  }
}

TEST(Weld, FarFromTheOriginAndFlat) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> unit(0, 1);
  std::vector<Vec3f> positions;
  for (int i = 0; i < 300; ++i) positions.emplace_back(1e6f + unit(random), -1e6f, unit(random));
  for (const double tolerance : {0.0, 1e-6, 0.01}) expect_reference(positions, tolerance, "far");
  expect_reference(std::vector<Vec3f>(50, Vec3f(3, 4, 5)), 1e-6, "one place");
  expect_reference({{1e-30f, 0, 0}, {2e-30f, 0, 0}, {1e-30f, 0, 0}}, 0, "tiny");
  expect_reference({{-3e38f, 0, 0}, {3e38f, 0, 0}, {3e38f, 0, 0}, {0, 0, 0}}, 1e-6, "vast");
}

TEST(Weld, ZeroToleranceWeldsOnlyEqualPositions) {
  const float next = std::nextafter(1.0f, 2.0f);
  const std::vector<Vec3f> positions = {{1, 0, 0}, {next, 0, 0}, {1, -0.0f, 0}, {0, 0, 0}};
  const Weld weld = weld_by_position(positions, 0);
  EXPECT_EQ(weld.point_of_vertex, (std::vector<int32_t>{0, 1, 0, 2}));
  EXPECT_EQ(weld.points(), 3u);
  EXPECT_EQ(weld_by_position({}, 0).points(), 0u);
}

TEST(Weld, SplitCubeBecomesAClosedCube) {
  const TriangleMesh box = test::make_box({1, 1, 1});
  TriangleMesh split;  // three vertices of its own for every triangle
  for (const Vec3i& t : box.triangles) {
    const auto first = static_cast<int32_t>(split.positions.size());
    for (int c = 0; c < 3; ++c) split.positions.push_back(box.positions[static_cast<size_t>(t[c])]);
    split.triangles.emplace_back(first, first + 1, first + 2);
  }
  split.triangles.emplace_back(0, 3, 1);  // collapses: vertices 0 and 3 are one point
  const Weld weld = weld_by_position(split.positions);
  const TriangleMesh welded = welded_mesh(weld, split.positions, split.triangles);
  EXPECT_EQ(welded.positions.size(), 8u);
  EXPECT_EQ(welded.triangles.size(), 12u);
  EXPECT_DOUBLE_EQ(signed_volume(welded.positions, welded.triangles), 1);

  std::vector<Vec3f> moved = welded.positions, vertices(split.positions.size());
  for (Vec3f& p : moved) p *= 2;
  unweld(weld, moved, vertices);
  for (size_t v = 0; v < vertices.size(); ++v) EXPECT_EQ(vertices[v], 2 * split.positions[v]);
}

TEST(Weld, ManyPointsInOnePlaceAreQuick) {
  std::mt19937 random(4);
  std::uniform_real_distribution<float> unit(0, 1e-7f);
  std::vector<Vec3f> positions = {{1, 1, 1}};
  for (int i = 0; i < 200000; ++i) positions.emplace_back(unit(random), unit(random), unit(random));
  const std::clock_t begin = std::clock();  // of this process: others may be busy
  EXPECT_EQ(weld_by_position(positions, 1e-6).points(), 2u);
  EXPECT_LT(std::clock() - begin, 2 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace supple
