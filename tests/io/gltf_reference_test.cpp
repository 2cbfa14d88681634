// Checks the tests' own glTF reference against numbers worked out by hand.
#include "support/gltf_reference.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <fstream>
#include <numbers>
#include <regex>

#include "support/gltf_document.h"
#include "support/gltf_samples.h"
#include "support/gltf_shapes.h"
#include "support/gltf_track.h"
#include "support/test_support.h"

namespace supple::test {
namespace {

using Eigen::Vector3d;
using nlohmann::json;

void expect_near(const Vector3d& a, const Vector3d& b, double tolerance, const std::string& what) {
  EXPECT_LT((a - b).norm(), tolerance) << what << ": " << a.transpose() << " and " << b.transpose();
}

/// The rotation about z, in radians, of a unit quaternion x y z w.
double angle_about_z(const std::vector<double>& q) {
  EXPECT_NEAR(std::hypot(q[2], q[3]), 1, 1e-14);
  EXPECT_EQ(q[0], 0);
  EXPECT_EQ(q[1], 0);
  return 2 * std::atan2(q[2], q[3]);
}

/// Two joints at y = 0 and 1 (the second the child of the first, its rotation animated from 0 to 90
/// degrees about z in the first second) and a strip of three vertices.
GltfReference two_joint_strip() {
  GltfBuilder builder;
  json attributes = {{"POSITION", builder.add_points({{0.5, 0, 0}, {0.5, 1, 0}, {-0.5, 2, 0}})}};
  // The second vertex's weights are in two sets and sum to 0.8: a quarter and three quarters.
  const AccessorFormat joints = vertex_format("VEC4", Component::uint8);
  const AccessorFormat weights = vertex_format("VEC4");
  attributes["JOINTS_0"] = builder.add_accessor({0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}, joints);
  attributes["WEIGHTS_0"] = builder.add_accessor({1, 0, 0, 0, 0.2, 0, 0, 0, 1, 0, 0, 0}, weights);
  attributes["JOINTS_1"] = builder.add_accessor({0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}, joints);
  attributes["WEIGHTS_1"] = builder.add_accessor({0, 0, 0, 0, 0, 0.6, 0, 0, 0, 0, 0, 0}, weights);
  builder.add("meshes", {{"primitives", json::array({{{"attributes", attributes}}})}});
  Eigen::Matrix4d down = Eigen::Matrix4d::Identity();
  down(1, 3) = -1;
  builder.add("skins",
              {{"joints", {1, 2}},
               {"inverseBindMatrices", builder.add_matrices({Eigen::Matrix4d::Identity(), down})}});
  // The mesh node's own transform must have no effect.
  builder.add("nodes",
              {{"mesh", 0}, {"skin", 0}, {"translation", {7, 8, 9}}, {"scale", {2, 2, 2}}});
  builder.add("nodes", {{"children", {2}}});
  builder.add("nodes", {{"translation", {0, 1, 0}}});
  builder.document["scenes"][0]["nodes"] = {0, 1};
  json clip = {{"name", "turn"}};
  const double h = std::sqrt(0.5);
  builder.add_channel(clip, 2, "rotation", "LINEAR", {0, 1}, {0, 0, 0, 1, 0, 0, -h, -h}, "VEC4");
  builder.add("animations", clip);
  return GltfReference(make_glb(builder.document, builder.binary));
}

TEST(GltfTrack, LinearRotationIsShortPathSlerp) {
  const double a = std::numbers::pi / 3;  // half of 120 degrees
  const std::vector<double> keys = {0, 0, 0, 1, 0, 0, std::sin(a), std::cos(a)};
  const std::vector<double> flipped = {0, 0, 0, 1, 0, 0, -std::sin(a), -std::cos(a)};
  const double expected = 30 * std::numbers::pi / 180;  // a quarter of 120 degrees
  EXPECT_NEAR(angle_about_z(sample_gltf_track("LINEAR", true, 4, {2, 6}, keys, 3)), expected,
              1e-14);
  EXPECT_NEAR(angle_about_z(sample_gltf_track("LINEAR", true, 4, {2, 6}, flipped, 3)), expected,
              1e-14);
  // As far as 240 degrees forward is 120 degrees back.
  const double b = 2 * std::numbers::pi / 3;
  const std::vector<double> far = {0, 0, 0, 1, 0, 0, std::sin(b), std::cos(b)};
  EXPECT_NEAR(angle_about_z(sample_gltf_track("LINEAR", true, 4, {2, 6}, far, 3)), -expected,
              1e-14);
  // Nearly and exactly equal keys.
  const std::vector<double> close = {0, 0, 0, 1, 0, 0, 1e-9, 1};
  EXPECT_NEAR(angle_about_z(sample_gltf_track("LINEAR", true, 4, {0, 1}, close, 0.25)), 0.5e-9,
              1e-16);
  EXPECT_EQ(sample_gltf_track("LINEAR", true, 4, {0, 1}, {0, 0, 0, 1, 0, 0, 0, 1}, 0.3),
            (std::vector<double>{0, 0, 0, 1}));
}

TEST(GltfTrack, CubicSplineScalesTangentsWithTheSegment) {
  // Key 0: value 0, out-tangent 2; key 1, two seconds later: in-tangent -1, value 1. Half way:
  // 1/2 (0 + 1) + 2 (1/8) 2 - 2 (1/8) (-1) = 1.25; a quarter: 10/64 + 2 (9/64) 2 + 2 (3/64) =
  // 0.8125.
  const std::vector<double> keys = {9, 0, 2, -1, 1, 9};
  const auto at = [&](double t) {
    return sample_gltf_track("CUBICSPLINE", false, 1, {1, 3}, keys, t)[0];
  };
  EXPECT_DOUBLE_EQ(at(2), 1.25);
  EXPECT_DOUBLE_EQ(at(1.5), 0.8125);
  EXPECT_EQ(at(0), 0);
  EXPECT_EQ(at(1), 0);
  EXPECT_EQ(at(3), 1);
  EXPECT_EQ(at(99), 1);
  // Rotations come back normalised: half way between 0 and 90 degrees about z with flat tangents.
  const double h = std::sqrt(0.5);
  const std::vector<double> turns = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,
                                     0, 0, 0, 0, 0, 0, h, h, 0, 0, 0, 0};
  EXPECT_NEAR(angle_about_z(sample_gltf_track("CUBICSPLINE", true, 4, {0, 1}, turns, 0.5)),
              std::numbers::pi / 4, 1e-15);
}

TEST(GltfTrack, StepAndLinearClampAtBothEnds) {
  const std::vector<double> times = {1, 2, 4}, keys = {10, 20, 40};
  const auto at = [&](const char* how, double t) {
    return sample_gltf_track(how, false, 1, times, keys, t)[0];
  };
  for (const auto& [t, step, linear] : {std::tuple{-5.0, 10, 10},
                                        {1.0, 10, 10},
                                        {1.5, 10, 15},
                                        {2.0, 20, 20},
                                        {3.5, 20, 35},
                                        {4.0, 40, 40},
                                        {9.0, 40, 40}}) {
    EXPECT_EQ(at("STEP", t), step) << t;
    EXPECT_EQ(at("LINEAR", t), linear) << t;
  }
  EXPECT_EQ(sample_gltf_track("LINEAR", false, 1, {3}, {7}, 5)[0], 7);
  EXPECT_THROW(sample_gltf_track("LINEAR", false, 1, {3}, {7, 8}, 5), std::runtime_error);
}

TEST(GltfDocument, DecodesEveryComponentType) {
  GltfBuilder builder;
  struct Case {
    Component component;
    bool normalized;
    std::vector<double> stored, expected;
  };
  const std::vector<Case> cases = {
      {Component::int8, true, {-128, -127, 0, 127}, {-1, -1, 0, 1}},
      {Component::uint8, true, {0, 51, 255, 1}, {0, 0.2, 1, 1 / 255.0}},
      {Component::int16, true, {-32768, -32767, 1, 32767}, {-1, -1, 1 / 32767.0, 1}},
      {Component::uint16, true, {0, 13107, 65535, 1}, {0, 0.2, 1, 1 / 65535.0}},
      {Component::int8, false, {-128, 5}, {-128, 5}},
      {Component::uint16, false, {65535, 300}, {65535, 300}},
      {Component::uint32, false, {4294967295.0, 70000}, {4294967295.0, 70000}},
      {Component::float32, false, {-0.5, 1e30f}, {-0.5, static_cast<double>(1e30f)}}};
  for (const Case& c : cases) {
    AccessorFormat format;
    format.component = c.component;
    format.normalized = c.normalized;
    builder.add_accessor(c.stored, format);
  }
  const GltfDocument document(make_glb(builder.document, builder.binary));
  for (size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(document.accessor(i).values, cases[i].expected) << "accessor " << i;
  }
}

TEST(GltfDocument, AppliesStrideOffsetAndSparseValues) {
  GltfBuilder builder;
  AccessorFormat spread = vertex_format("VEC2", Component::int16);
  spread.byte_stride = 12;
  spread.byte_offset = 4;
  builder.add_accessor({1, 2, 3, 4, 5, 6}, spread);
  builder.add_sparse_accessor(4, {}, {1, 3}, {5, 6, 7, 8}, vertex_format("VEC2"), Component::uint8);
  builder.add_sparse_accessor(3, {0, 51, 255}, {2}, {102},
                              vertex_format("SCALAR", Component::uint8, true), Component::uint32);
  // Matrices of bytes have their columns padded to four bytes: written here as 3 x VEC4.
  builder.add_accessor({1, 2, 3, 99, 4, 5, 6, 99, 7, 8, 9, 99},
                       vertex_format("VEC4", Component::uint8));
  json& matrix = builder.document["accessors"][3];
  matrix["type"] = "MAT3";
  matrix["count"] = 1;
  builder.document["bufferViews"].back().erase("byteStride");
  const GltfDocument document(make_glb(builder.document, builder.binary));
  EXPECT_EQ(document.accessor(0).values, (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(document.accessor(1).values, (std::vector<double>{0, 0, 5, 6, 0, 0, 7, 8}));
  EXPECT_EQ(document.accessor(2).values, (std::vector<double>{0, 0.2, 0.4}));
  EXPECT_EQ(document.accessor(3).values, (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(GltfReference, BendsATwoJointStrip) {
  const GltfReference strip = two_joint_strip();
  const auto points = [&](int animation, double time) {
    return strip.evaluate(animation, time).at(0).positions;
  };
  for (const auto& rest : {points(-1, 5), points(0, -1), points(0, 0)}) {
    expect_near(rest[0], {0.5, 0, 0}, 1e-7, "first joint, rest");
    expect_near(rest[1], {0.5, 1, 0}, 1e-7, "both joints, rest");
    expect_near(rest[2], {-0.5, 2, 0}, 1e-7, "second joint, rest");
  }
  // At 90 degrees about (0, 1): (0.5, 1) -> (0, 1.5) and (-0.5, 2) -> (-1, 0.5).
  for (const double end : {1.0, 30.0}) {
    expect_near(points(0, end)[0], {0.5, 0, 0}, 1e-7, "first joint");
    expect_near(points(0, end)[1], {0.25 * 0.5, 0.25 * 1 + 0.75 * 1.5, 0}, 1e-7, "both joints");
    expect_near(points(0, end)[2], {-1, 0.5, 0}, 1e-7, "second joint");
  }
  // At a third of the second 30 degrees: (-0.5, 1) turns to (-0.5 c - s, -0.5 s + c).
  const double s = 0.5, c = std::sqrt(0.75);
  expect_near(points(0, 1 / 3.0)[2], {-0.5 * c - s, 1 - 0.5 * s + c, 0}, 1e-6, "30 degrees");
}

TEST(GltfReference, MorphsAndPlacesTheCube) {
  const GltfReference cube(morph_cube().bytes);
  const TestShape plain = make_cube(0.5);
  ASSERT_EQ(cube.animation_count(), 2u);
  const auto at = [&](int animation, double time) { return cube.evaluate(animation, time); };
  // Vertex 6 is moved by the second target only: base row replaced by (-1, -2, -3).
  const std::vector<Part> rest = at(-1, 0);
  ASSERT_EQ(rest.size(), 2u);
  expect_near(rest[0].positions[6], plain.points[6] + 0.125 * Vector3d(-1, -2, -3), 1e-6, "rest");
  // Vertex 2 is replaced in POSITION; its second delta is base row (6, 7, 8) / 100 - 0.1.
  expect_near(rest[0].positions[2], Vector3d(0.7, -0.6, 0.5) + 0.125 * Vector3d(-.04, -.03, -.02),
              1e-6, "sparse position");
  // Vertex 3 of the other node has the mesh's weights: 0.25 of (0.5, 0, 0), then its transform.
  const Vector3d expected =
      Vector3d(2, 0, 0) + turn(0.7, {1, 1, 0}) * (plain.points[3] + Vector3d(0.125, 0, 0));
  expect_near(rest[1].positions[3], expected, 1e-6, "other");
  expect_near(at(0, 1.7)[1].positions[3], expected, 1e-6, "other does not move");
  // LINEAR at 1.75 s, half way: weights (0.625, 0.25).
  const Vector3d delta0(0, 1, 0), delta1 = Vector3d(0, .01, .02) - Vector3d::Constant(0.1);
  expect_near(at(0, 1.75)[0].positions[0], plain.points[0] + 0.625 * delta0 + 0.25 * delta1, 1e-6,
              "linear");
  // CUBICSPLINE at 1.5 s, half of one second: 1/2 (1 + 0) + 1/8 0.5 - 1/8 0 = 0.5625 and
  // 1/2 (0.2 + 1) + 1/8 0 - 1/8 3 = 0.225.
  expect_near(at(1, 1.5)[0].positions[0], plain.points[0] + 0.5625 * delta0 + 0.225 * delta1, 1e-6,
              "spline");
}

TEST(GltfReference, VisitsTheDefaultSceneDepthFirst) {
  const GltfReference parts(many_parts().bytes);
  std::vector<std::vector<int>> order;
  std::vector<size_t> triangles;
  for (const Part& part : parts.evaluate(-1, 0)) {
    order.push_back({part.node, part.mesh, part.primitive});
    triangles.push_back(part.triangles);
  }
  EXPECT_EQ(order,
            (std::vector<std::vector<int>>{
                {7, 1, 0}, {7, 1, 1}, {5, 0, 0}, {5, 0, 1}, {4, 2, 0}, {9, 3, 0}, {8, 3, 0}}));
  EXPECT_EQ(triangles, (std::vector<size_t>{70, 5, 70, 12, 4, 12, 12}));
  const std::vector<Part> rest = parts.evaluate(-1, 0);
  const Vector3d corner = make_cube(0.15).points[0];
  expect_near(rest[5].positions[0], {-1 - corner.x(), 0.5 + corner.y(), 2 * corner.z()}, 1e-6,
              "mirrored");
  expect_near(rest[6].positions[0], {2 + corner.z(), 0.5 + 2 * corner.y(), -1 - corner.x()}, 1e-6,
              "matrix");
  // The cloth's skin has no inverse bind matrices: its first vertex follows the tail alone, at
  // root * hips * tail.
  const Vector3d vertex(0.2, 0, 0);
  const Vector3d in_hips = Vector3d(0, -0.1, -0.3) + turn(-1.1, {1, 0.1, 0}) * vertex;
  expect_near(rest[0].positions[0],
              Vector3d(1, 0, 0) + turn(0.4, {0, 1, 0}) * (Vector3d(0, 0.2, 0) + in_hips), 1e-6,
              "cloth");
  // Without scenes, the roots are the nodes without a parent: the unused one comes first.
  GltfSample sample = many_parts();
  sample.document.erase("scenes");
  sample.document.erase("scene");
  const GltfReference all(make_glb(sample.document, sample.binary));
  EXPECT_EQ(all.evaluate(-1, 0).size(), 8u);
  EXPECT_EQ(all.evaluate(-1, 0)[0].node, 0);
}

TEST(GltfReference, DecodesQuantizedPositions) {
  const std::vector<Part> parts = GltfReference(quantized_positions().bytes).evaluate(-1, 0);
  ASSERT_EQ(parts.size(), 6u);
  // What the corners' integers stand for, before the node scales and moves them.
  const std::vector<std::pair<double, double>> ranges = {
      {-1, 1}, {0.2, 1}, {-1, 10000 / 32767.0}, {3, 5}};
  for (size_t p = 0; p < ranges.size(); ++p) {
    Eigen::AlignedBox3d box;
    for (const Vector3d& x : parts[p].positions) box.extend(x);
    const Vector3d scale(0.25, 0.5, 0.75), offset(0.5, 1, 0);
    expect_near(box.min(), offset + ranges[p].first * scale, 1e-12, "low");
    expect_near(box.max(), offset + ranges[p].second * scale, 1e-12, "high");
  }
  // Corner 0 is at 100 units, with 40 (1, 0, 0) added, times 0.01.
  expect_near(parts[4].positions[0], make_cube(1).points[0] + Vector3d(0.4, 0, 0), 1e-12,
              "morph delta");
  const TestShape tube = make_tube(5, 6, 1.0, 0.3);
  for (size_t i = 0; i < tube.points.size(); ++i) {
    expect_near(parts[5].positions[i], tube.points[i], 1.25 / 32767, "skinned");
  }
}

/// Real characters: sizes at rest and counts agree with the table beside them, which other code
/// computed, and every clip gives finite positions. The table leaves out default morph weights, so
/// SimpleMorph is checked by hand.
TEST(GltfReference, AgreesWithTheAssetTable) {
  SUPPLE_NEEDS_ASSETS();
  std::ifstream table(*assets() / "LICENSES.md");
  const std::regex row(R"(^\| (gltf/\S+) \|.*\| (\d+) [^|]*\| (\d+) \|[^|]*\|[^|]*\|[^|]*\|.*bbox )"
                       R"(([-+.e\d]+) x ([-+.e\d]+) x ([-+.e\d]+))");
  int checked = 0;
  for (std::string line; std::getline(table, line);) {
    std::smatch match;
    if (!std::regex_search(line, match, row)) continue;
    const std::string name = match[1];
    const GltfReference reference(*assets() / name);
    size_t vertices = 0, triangles = 0;
    Eigen::AlignedBox3d box;
    for (const Part& part : reference.evaluate(-1, 0)) {
      vertices += part.positions.size();
      triangles += part.triangles;
      for (const Vector3d& x : part.positions) box.extend(x);
    }
    EXPECT_EQ(vertices, std::stoul(match[2])) << name;
    EXPECT_EQ(triangles, std::stoul(match[3])) << name;
    Vector3d size(std::stod(match[4]), std::stod(match[5]), std::stod(match[6]));
    // 0.5 high, and both targets raise its top by 1 at weight 0.5.
    if (name == "gltf/SimpleMorph/SimpleMorph.gltf") size.y() += 0.5 + 0.5;
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(box.sizes()[k], size[k], 0.006 * size[k]) << name;
    for (size_t a = 0; a < reference.animation_count(); ++a) {
      for (const Part& part :
           reference.evaluate(static_cast<int>(a), reference.animation_end(a) / 3)) {
        for (const Vector3d& x : part.positions) ASSERT_TRUE(x.allFinite()) << name;
      }
    }
    ++checked;
  }
  EXPECT_GE(checked, 15);
}

}  // namespace
}  // namespace supple::test
