// Test assets with one skinned tube: see gltf_samples.h.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "support/gltf_sample_parts.h"
#include "support/gltf_samples.h"
#include "support/gltf_shapes.h"

namespace supple::test {
namespace {

using Eigen::Matrix4d;
using Eigen::Quaterniond;
using Eigen::Vector3d;
using nlohmann::json;

/// Adds the nodes of a chain of joints, each the child of the one before; returns their indices.
std::vector<int> add_chain(GltfBuilder& builder, const std::vector<TestTransform>& joints) {
  std::vector<int> nodes;
  for (size_t j = 0; j < joints.size(); ++j) {
    nodes.push_back(builder.add("nodes", joints[j].node("joint" + std::to_string(j))));
    if (j > 0) {
      builder.document["nodes"][static_cast<size_t>(nodes[j - 1])]["children"] = {nodes[j]};
    }
  }
  return nodes;
}

/// The inverse of each joint's global transform in a chain below `root`.
std::vector<Matrix4d> inverse_binds(const Matrix4d& root,
                                    const std::vector<TestTransform>& joints) {
  std::vector<Matrix4d> result;
  Matrix4d global = root;
  for (const TestTransform& joint : joints) {
    global = global * joint.matrix();
    result.push_back(Eigen::Affine3d(global).inverse().matrix());
  }
  return result;
}

/// Joints up the y axis at heights `heights`, without rotation.
std::vector<TestTransform> straight_chain(const std::vector<double>& heights) {
  std::vector<TestTransform> joints(heights.size());
  for (size_t j = 0; j < heights.size(); ++j) {
    joints[j].translation.y() = heights[j] - (j ? heights[j - 1] : 0);
  }
  return joints;
}

/// Adds JOINTS_0/1 and WEIGHTS_0/1 of the eight nearest of ten joints at `heights`. One 255th is
/// 257 parts of 65535, so that the sum of the ushort and ubyte weights is exactly one.
void add_eight_influences(GltfBuilder& builder, json& attributes,
                          const std::vector<Vector3d>& points, const std::vector<double>& heights) {
  std::vector<double> sets_j[2], sets_w[2];
  for (const Vector3d& p : points) {
    std::vector<size_t> near(10);
    std::iota(near.begin(), near.end(), size_t{0});
    std::stable_sort(near.begin(), near.end(), [&](size_t a, size_t b) {
      return std::abs(heights[a] - p.y()) < std::abs(heights[b] - p.y());
    });
    double sum = 0;
    for (size_t i = 0; i < 8; ++i) sum += bell(p.y(), heights[near[i]], 0.9);
    double rest = 65535;
    for (size_t i = 8; i-- > 0;) {
      const double part = bell(p.y(), heights[near[i]], 0.9) / sum;
      const double stored = std::round(part * (i < 4 ? 65535 : 255));
      rest -= i == 0 ? 0 : stored * (i < 4 ? 1 : 257);
      sets_j[i / 4].push_back(static_cast<double>(near[i]));
      sets_w[i / 4].push_back(i == 0 ? rest : stored);
    }
  }
  for (int set = 0; set < 2; ++set) {
    const std::string n = std::to_string(set);
    attributes["JOINTS_" + n] =
        builder.add_accessor(sets_j[set], vertex_format("VEC4", Component::uint16));
    attributes["WEIGHTS_" + n] = builder.add_accessor(
        sets_w[set], vertex_format("VEC4", set ? Component::uint8 : Component::uint16, true));
  }
}

}  // namespace

GltfSample rigged_tube() {
  GltfBuilder builder;
  TestTransform armature;
  armature.translation = {0.1, 0.05, -0.2};
  armature.rotation = turn(-std::numbers::pi / 2, Vector3d::UnitX());
  armature.scale = Vector3d::Constant(0.01);
  // Centimetres, z up: the joints are 20, 100 and 170 cm above the armature.
  std::vector<TestTransform> joints(3);
  joints[0].translation = {0, 0, 20};
  joints[0].rotation = turn(0.3, {1, 0.2, 0});
  joints[1].translation = joints[0].rotation.inverse() * Vector3d(0, 0, 80);
  joints[1].rotation = turn(-0.5, {0.3, 1, 0.4});
  joints[2].translation = (joints[0].rotation * joints[1].rotation).inverse() * Vector3d(0, 0, 70);

  const TestShape tube = make_tube(16, 12, 2.0, 0.25, armature.translation);
  json attributes = {{"POSITION", builder.add_points(tube.points)}};
  std::vector<std::vector<double>> weights;
  for (const Vector3d& p : tube.points) {
    const double y = p.y() - armature.translation.y();
    weights.push_back({bell(y, 0.2, 0.4), bell(y, 1.0, 0.4), bell(y, 1.7, 0.4)});
  }
  add_influences(builder, attributes, weights, Component::uint8);
  add_mesh(builder, "tube", attributes, builder.add_indices(tube.indices, Component::uint16));

  const std::vector<int> nodes = add_chain(builder, joints);
  const int skin = add_skin(builder, nodes, inverse_binds(armature.matrix(), joints));
  const int body = builder.add("nodes", {{"name", "tube"}, {"mesh", 0}, {"skin", skin}});
  json root = armature.node("Armature");
  root["children"] = {nodes[0], body};
  set_roots(builder, {builder.add("nodes", root)});

  json clip = {{"name", "bend"}};
  std::vector<double> turns;
  append_rotation(turns, joints[1].rotation);
  append_rotation(turns, joints[1].rotation * turn(0.9, {0, 0, 1}));
  append_rotation(turns, joints[1].rotation * turn(-0.7, {1, 0, 0}), -1);
  append_rotation(turns, joints[1].rotation);
  builder.add_channel(clip, nodes[1], "rotation", "LINEAR", {0.25, 0.75, 1.5, 2.0}, turns, "VEC4");
  builder.add_channel(clip, nodes[0], "translation", "CUBICSPLINE", {0.5, 1.25, 1.75},
                      {0, 0,  0,  0, 0,  20, 10, 0, 40,  //
                       5, -9, 12, 8, -6, 35, 0,  4, -7,  //
                       0, 3,  0,  2, 1,  25, 0,  0, 0},
                      "VEC3");
  builder.add_channel(clip, nodes[2], "scale", "STEP", {0, 1, 1.6},
                      {1, 1, 1, 1.2, 0.9, 1.1, 0.8, 1, 1}, "VEC3");
  builder.add("animations", clip);
  return finish("rigged_tube", builder);
}

GltfSample eight_influences() {
  GltfBuilder builder;
  std::vector<double> heights(10);
  for (size_t j = 0; j < 10; ++j) heights[j] = 0.2 * static_cast<double>(j);
  const std::vector<TestTransform> joints = straight_chain(heights);
  const TestShape tube = make_tube(14, 10, 2.0, 0.15);

  json attributes = {{"POSITION", builder.add_points(tube.points)}};
  add_eight_influences(builder, attributes, tube.points, heights);
  add_mesh(builder, "tube", attributes, builder.add_indices(tube.indices, Component::uint32));
  const std::vector<int> nodes = add_chain(builder, joints);
  const int skin = add_skin(builder, nodes, inverse_binds(Matrix4d::Identity(), joints));
  set_roots(builder,
            {builder.add("nodes", {{"name", "tube"}, {"mesh", 0}, {"skin", skin}}), nodes[0]});

  json clip = {{"name", "curl"}};
  std::vector<double> spline, line;
  const std::vector<double> zero(4, 0.0), slope = {0.4, 0, -0.3, 0.1};
  for (const double angle : {0.0, 0.8, -0.4}) {
    spline.insert(spline.end(), zero.begin(), zero.end());
    append_rotation(spline, turn(angle, {1, 0, 0.5}));
    spline.insert(spline.end(), slope.begin(), slope.end());
    append_rotation(line, turn(2.5 * angle, {0, 0.3, 1}));
  }
  builder.add_channel(clip, nodes[3], "rotation", "CUBICSPLINE", {0, 0.5, 1.5}, spline, "VEC4");
  builder.add_channel(clip, nodes[6], "rotation", "LINEAR", {0, 1, 2}, line, "VEC4");
  builder.add("animations", clip);
  return finish("eight_influences", builder);
}

GltfSample rest_differs_from_bind() {
  GltfBuilder builder;
  const std::vector<TestTransform> bind = straight_chain({0.1, 0.7, 1.2});
  std::vector<TestTransform> rest = bind;
  rest[0].translation += Vector3d(0.5, 0.2, -0.3);
  rest[1].rotation = turn(0.9, {0, 0, 1});
  rest[2].rotation = turn(-0.6, {1, 0.5, 0});
  rest[2].scale = {1.1, 0.8, 1.3};

  const TestShape tube = make_tube(9, 8, 1.5, 0.2);
  json attributes = {{"POSITION", builder.add_points(tube.points)}};
  std::vector<std::vector<double>> weights;
  for (const Vector3d& p : tube.points) {
    weights.push_back({bell(p.y(), 0.1, 0.3), bell(p.y(), 0.7, 0.3), bell(p.y(), 1.2, 0.3)});
  }
  add_influences(builder, attributes, weights, Component::uint8);
  add_mesh(builder, "tube", attributes, builder.add_indices(tube.indices, Component::uint16));
  const std::vector<int> nodes = add_chain(builder, rest);
  const int skin = add_skin(builder, nodes, inverse_binds(Matrix4d::Identity(), bind));
  set_roots(builder,
            {nodes[0], builder.add("nodes", {{"name", "tube"}, {"mesh", 0}, {"skin", skin}})});

  json clip = {{"name", "straighten"}};
  for (size_t j = 0; j < 3; ++j) {
    std::vector<double> places, turns, scales;
    for (const TestTransform& key : {rest[j], bind[j]}) {
      places.insert(places.end(), key.translation.begin(), key.translation.end());
      scales.insert(scales.end(), key.scale.begin(), key.scale.end());
      append_rotation(turns, key.rotation);
    }
    builder.add_channel(clip, nodes[j], "translation", "LINEAR", {0.5, 1.5}, places, "VEC3");
    builder.add_channel(clip, nodes[j], "rotation", "LINEAR", {0.5, 1.5}, turns, "VEC4");
    builder.add_channel(clip, nodes[j], "scale", "LINEAR", {0.5, 1.5}, scales, "VEC3");
  }
  builder.add("animations", clip);
  return finish("rest_differs_from_bind", builder);
}

}  // namespace supple::test
