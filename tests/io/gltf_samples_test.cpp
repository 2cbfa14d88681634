// Checks that the test assets made in code are what they promise.
#include "support/gltf_samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "support/gltf_reference.h"
#include "support/gltf_shapes.h"
#include "support/test_support.h"

namespace supple::test {
namespace {

using Eigen::Vector3d;

void expect_near(const Vector3d& a, const Vector3d& b, double tolerance, const std::string& what) {
  EXPECT_LT((a - b).norm(), tolerance) << what << ": " << a.transpose() << " and " << b.transpose();
}

void expect_same_parts(const std::vector<Part>& a, const std::vector<Part>& b, double tolerance,
                       const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (size_t p = 0; p < a.size(); ++p) {
    ASSERT_EQ(a[p].positions.size(), b[p].positions.size()) << what;
    for (size_t i = 0; i < a[p].positions.size(); ++i) {
      expect_near(a[p].positions[i], b[p].positions[i], tolerance, what);
    }
  }
}

void write(const std::filesystem::path& file, const std::vector<std::byte>& bytes) {
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

TEST(GltfSamples, RestInTheirBindPoseUnlessTheySayOtherwise) {
  const TestShape tube = make_tube(16, 12, 2.0, 0.25, {0.1, 0.05, -0.2});
  const std::vector<Part> rest = GltfReference(rigged_tube().bytes).evaluate(-1, 0);
  for (size_t i = 0; i < tube.points.size(); ++i) {
    expect_near(rest[0].positions.at(i), tube.points[i], 2e-6, "rigged_tube");
  }
  const GltfReference bent(rest_differs_from_bind().bytes);
  const TestShape straight = make_tube(9, 8, 1.5, 0.2);
  double largest = 0;
  for (size_t i = 0; i < straight.points.size(); ++i) {
    largest = std::max(largest, (bent.evaluate(-1, 0)[0].positions[i] - straight.points[i]).norm());
    expect_near(bent.evaluate(0, 1.5)[0].positions[i], straight.points[i], 1e-6, "straightened");
  }
  EXPECT_GT(largest, 0.5);
  EXPECT_DOUBLE_EQ(bent.animation_start(0), 0.5);
  EXPECT_DOUBLE_EQ(bent.animation_end(0), 1.5);
}

TEST(GltfSamples, SkinnedEightInfluencesAndSeamsHoldTogether) {
  const TestShape tube = make_tube(14, 10, 2.0, 0.15);
  const GltfReference eight(eight_influences().bytes);
  for (size_t i = 0; i < tube.points.size(); ++i) {
    expect_near(eight.evaluate(-1, 0)[0].positions[i], tube.points[i], 2e-6, "eight_influences");
  }
  const TestShape cube = make_split_cube(0.5);
  const std::vector<Vector3d> bent =
      GltfReference(split_seams().bytes).evaluate(0, 0.7)[0].positions;
  int pairs = 0;
  for (size_t i = 0; i < 24; ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (cube.points[i] != cube.points[j]) continue;
      EXPECT_EQ(bent[i], bent[j]);
      ++pairs;
    }
  }
  EXPECT_EQ(pairs, 8 * 3);
}

TEST(GltfSamples, ShapesAreClosedAndFaceOutward) {
  for (const TestShape& shape : {make_tube(5, 7, 1, 0.2), make_cube(0.5), make_split_cube(0.5)}) {
    double volume = 0;
    Vector3d area = Vector3d::Zero();
    for (size_t t = 0; t < shape.indices.size(); t += 3) {
      const auto corner = [&](size_t k) {
        return shape.points[static_cast<size_t>(shape.indices[t + k])];
      };
      volume += corner(0).dot(corner(1).cross(corner(2))) / 6;
      area += (corner(1) - corner(0)).cross(corner(2) - corner(0)) / 2;
    }
    EXPECT_GT(volume, 0.1);
    EXPECT_LT(area.norm(), 1e-12);
  }
}

TEST(GltfSamples, AreTheSameInEveryPackaging) {
  const TemporaryFolder folder;
  for (const GltfSample& sample : gltf_samples()) {
    const GltfReference glb(sample.bytes);
    const GltfReference inlined(make_gltf_with_data_uri(sample.document, sample.binary));
    write(folder / "with space.bin", sample.binary);
    write(folder / (sample.name + ".gltf"),
          make_gltf_with_uri(sample.document, sample.binary.size(), "with%20space.bin"));
    const GltfReference external(folder / (sample.name + ".gltf"));
    ASSERT_GT(glb.animation_count(), 0u) << sample.name;
    for (size_t a = 0; a < glb.animation_count(); ++a) {
      const double start = glb.animation_start(a), end = glb.animation_end(a);
      EXPECT_LT(start, end) << sample.name;
      for (const double time : {start - 1, start, 0.37 * start + 0.63 * end, end, end + 1}) {
        const std::vector<Part> parts = glb.evaluate(static_cast<int>(a), time);
        expect_same_parts(parts, inlined.evaluate(static_cast<int>(a), time), 1e-300, sample.name);
        expect_same_parts(parts, external.evaluate(static_cast<int>(a), time), 1e-300, sample.name);
      }
    }
  }
}

}  // namespace
}  // namespace supple::test
