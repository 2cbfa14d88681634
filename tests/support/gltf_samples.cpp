// Test assets of cubes and several parts: see gltf_samples.h.
#include "support/gltf_samples.h"

#include <algorithm>
#include <cmath>

#include "support/gltf_sample_parts.h"
#include "support/gltf_shapes.h"

namespace supple::test {
namespace {

using Eigen::Matrix4d;
using Eigen::Vector3d;
using nlohmann::json;

std::vector<double> flatten(const std::vector<Vector3d>& points) {
  std::vector<double> numbers;
  for (const Vector3d& p : points) numbers.insert(numbers.end(), p.begin(), p.end());
  return numbers;
}

Matrix4d shift(const Vector3d& by) {
  TestTransform transform;
  transform.translation = by;
  return transform.matrix();
}

/// Weights of two joints that go from the first to the second between two heights.
std::vector<std::vector<double>> blend_by_height(const std::vector<Vector3d>& points, double low,
                                                 double high) {
  std::vector<std::vector<double>> weights;
  for (const Vector3d& p : points) {
    const double t = std::clamp((p.y() - low) / (high - low), 0.0, 1.0);
    weights.push_back({1 - t, t});
  }
  return weights;
}

json skinned_attributes(GltfBuilder& builder, const std::vector<Vector3d>& points, double low,
                        double high) {
  json attributes = {{"POSITION", builder.add_points(points)}};
  add_influences(builder, attributes, blend_by_height(points, low, high), Component::uint8);
  return attributes;
}

/// Points whose rows lie 20 bytes apart, after 8 unused bytes.
int add_spread_points(GltfBuilder& builder, const std::vector<Vector3d>& points) {
  AccessorFormat format = vertex_format("VEC3");
  format.bounds = true;
  format.byte_stride = 20;
  format.byte_offset = 8;
  return builder.add_accessor(flatten(points), format);
}

/// The meshes of many_parts(): body, cloth, hat, box.
void add_many_meshes(GltfBuilder& builder) {
  const TestShape trunk = make_tube(5, 7, 1.0, 0.2), box = make_cube(0.15);
  std::vector<Vector3d> belt = box.points, ribbon;
  for (Vector3d& p : belt) p += Vector3d(0.3, 0.5, 0);
  for (int i = 0; i < 7; ++i) ribbon.push_back({0.1 * (i % 2), 0.1 * i, 0.02 * i * i});
  json body = {{"name", "body"}};
  body["primitives"] = {{{"attributes", skinned_attributes(builder, trunk.points, 0.2, 0.8)},
                         {"indices", builder.add_indices(trunk.indices, Component::uint8)}},
                        {{"attributes", skinned_attributes(builder, belt, 0.3, 0.7)},
                         {"indices", builder.add_indices(box.indices, Component::uint16)}}};
  builder.add("meshes", body);

  json strip = {{"POSITION", add_spread_points(builder, ribbon)}};
  add_influences(builder, strip, blend_by_height(ribbon, 0.0, 0.5), Component::uint16);
  json cloth = {{"name", "cloth"}};
  cloth["primitives"] = {{{"attributes", skinned_attributes(builder, trunk.points, 0.0, 1.0)},
                          {"indices", builder.add_indices(trunk.indices, Component::uint32)}},
                         {{"attributes", strip}, {"mode", 5}}};
  builder.add("meshes", cloth);

  const std::vector<Vector3d> brim = {
      {0, 0.1, 0}, {0.2, 0, 0}, {0, 0, -0.2}, {-0.2, 0, 0}, {0, 0, 0.2}};
  json hat = {{"name", "hat"}};
  hat["primitives"] =
      json::array({{{"attributes", {{"POSITION", builder.add_points(brim)}}},
                    {"indices", builder.add_indices({0, 1, 2, 3, 4, 1}, Component::uint8)},
                    {"mode", 6}}});
  builder.add("meshes", hat);
  add_mesh(builder, "box", {{"POSITION", builder.add_points(box.points)}},
           builder.add_indices(box.indices, Component::uint32));
}

/// The nodes of many_parts(); mesh 0 body, 1 cloth, 2 hat, 3 box.
void add_many_nodes(GltfBuilder& builder) {
  TestTransform root, hips, chest, hat, tail, mirrored;
  root.translation = {1, 0, 0};
  root.rotation = turn(0.4, {0, 1, 0});
  hips.translation = {0, 0.2, 0};
  chest.translation = {0, 0.5, 0};
  chest.rotation = turn(0.2, {1, 0, 0});
  hat.translation = {0, 0.4, 0.05};
  hat.scale = {1, 1.5, 1};
  tail.translation = {0, -0.1, -0.3};
  tail.rotation = turn(-1.1, {1, 0.1, 0});
  mirrored.translation = {-1, 0.5, 0};
  mirrored.scale = {-1, 1, 2};
  const auto with = [](json node, const json& more) {
    node.update(more);
    return node;
  };
  builder.add("nodes", {{"name", "unused"}, {"mesh", 3}});
  builder.add("nodes", with(root.node("root"), {{"children", {5, 2}}}));
  builder.add("nodes", with(hips.node("hips"), {{"children", {3, 6}}}));
  builder.add("nodes", with(chest.node("chest"), {{"children", {4}}}));
  builder.add("nodes", with(hat.node("hat"), {{"mesh", 2}}));
  builder.add("nodes", {{"name", "body"}, {"mesh", 0}, {"skin", 0}});
  builder.add("nodes", tail.node("tail"));
  builder.add("nodes", {{"name", "cloth"}, {"mesh", 1}, {"skin", 1}});
  const std::vector<double> matrix = {0, 0, -1, 0, 0, 2, 0, 0, 1, 0, 0, 0, 2, 0.5, -1, 1};
  builder.add("nodes", {{"name", "box"}, {"mesh", 3}, {"matrix", matrix}});
  builder.add("nodes", with(mirrored.node("mirrored box"), {{"mesh", 3}}));
  builder.document["scenes"] = {{{"nodes", {0}}}, {{"nodes", {7, 1, 9, 8}}}};
  builder.document["scene"] = 1;
  // The body's joints are chest, hips; bound at heights 0.7 and 0.2. The cloth's are tail, chest.
  add_skin(builder, {3, 2}, {shift({0, -0.7, 0}), shift({0, -0.2, 0})});
  add_skin(builder, {6, 3}, {});
}

/// Adds a primitive of quantised positions around a cube's corners, given as stored integers.
json quantized_cube(GltfBuilder& builder, double low, double high, AccessorFormat format) {
  const TestShape cube = make_cube(1);
  std::vector<double> numbers = flatten(cube.points);
  for (double& x : numbers) x = x < 0 ? low : high;
  format.bounds = true;
  return {{"attributes", {{"POSITION", builder.add_accessor(numbers, format)}}},
          {"indices", builder.add_indices(cube.indices, Component::uint8)}};
}

/// A skinned mesh with normalised int16 positions; its skin's matrices undo the quantisation.
void add_quantized_skin(GltfBuilder& builder, int joint) {
  const TestShape tube = make_tube(5, 6, 1.0, 0.3);
  TestTransform decode;
  decode.scale = Vector3d::Constant(1.25);
  std::vector<double> numbers = flatten(tube.points);
  for (double& x : numbers) x = std::round(x / 1.25 * 32767);
  AccessorFormat format = vertex_format("VEC3", Component::int16, true);
  format.bounds = true;
  json attributes = {{"POSITION", builder.add_accessor(numbers, format)}};
  add_influences(builder, attributes, blend_by_height(tube.points, 0.1, 0.9), Component::uint8);
  const int mesh =
      add_mesh(builder, "tube", attributes, builder.add_indices(tube.indices, Component::uint8));
  const int skin = add_skin(builder, {joint, joint + 1},
                            {decode.matrix(), shift({0, -0.5, 0}) * decode.matrix()});
  builder.add("nodes", {{"name", "tube"}, {"mesh", mesh}, {"skin", skin}});
}

}  // namespace

GltfSample morph_cube() {
  GltfBuilder builder;
  const TestShape cube = make_cube(0.5);
  AccessorFormat format = vertex_format("VEC3");
  format.bounds = true;
  std::vector<double> base_delta(24);
  for (size_t i = 0; i < 24; ++i) base_delta[i] = 0.01 * static_cast<double>(i) - 0.1;
  const int position = builder.add_sparse_accessor(
      8, flatten(cube.points), {2, 7}, {0.7, -0.6, 0.5, -0.4, 0.3, 0.9}, format, Component::uint8);
  const int first = builder.add_sparse_accessor(8, {}, {0, 3, 5}, {0, 1, 0, 0.5, 0, 0, 0, 0, -0.25},
                                                format, Component::uint16);
  const int second =
      builder.add_sparse_accessor(8, base_delta, {6}, {-1, -2, -3}, format, Component::uint32);
  json primitive = {{"attributes", {{"POSITION", position}}},
                    {"indices", builder.add_indices(cube.indices, Component::uint16)},
                    {"targets", {{{"POSITION", first}}, {{"POSITION", second}}}}};
  builder.add(
      "meshes",
      {{"name", "cube"}, {"primitives", json::array({primitive})}, {"weights", {0.25, 0.0}}});
  TestTransform aside;
  aside.translation = {2, 0, 0};
  aside.rotation = turn(0.7, {1, 1, 0});
  json other = aside.node("other");
  other["mesh"] = 0;
  const int moved =
      builder.add("nodes", {{"name", "cube"}, {"mesh", 0}, {"weights", {0.5, 0.125}}});
  set_roots(builder, {moved, builder.add("nodes", other)});

  json linear = {{"name", "linear"}}, spline = {{"name", "spline"}};
  builder.add_channel(linear, moved, "weights", "LINEAR", {0, 1, 2.5}, {0, 0, 1, -0.5, 0.25, 1},
                      "SCALAR");
  builder.add_channel(spline, moved, "weights", "CUBICSPLINE", {0.5, 1, 2},
                      {0, 0, 0, 0.5, 1, -2,   //
                       2, 1, 1, 0.2, 0.5, 0,  //
                       0, 3, 0, 1, 0, 0},
                      "SCALAR");
  builder.add("animations", linear);
  builder.add("animations", spline);
  return finish("morph_cube", builder);
}

GltfSample many_parts() {
  GltfBuilder builder;
  add_many_meshes(builder);
  add_many_nodes(builder);
  json nod = {{"name", "nod"}}, swing = {{"name", "swing"}};
  std::vector<double> turns, tail_turns;
  for (const double angle : {0.2, 1.2, -0.3}) append_rotation(turns, turn(angle, {1, 0, 0}));
  for (const double angle : {-1.1, 0.5}) append_rotation(tail_turns, turn(angle, {1, 0.1, 0.6}));
  builder.add_channel(nod, 3, "rotation", "LINEAR", {0, 0.5, 1}, turns, "VEC4");
  builder.add_channel(nod, 1, "translation", "LINEAR", {0, 1}, {1, 0, 0, 0, 0.5, 2}, "VEC3");
  builder.add_channel(nod, 4, "scale", "STEP", {0, 0.75}, {1, 1.5, 1, -1, 1, 1}, "VEC3");
  builder.add_channel(swing, 6, "rotation", "LINEAR", {0.1, 0.9}, tail_turns, "VEC4");
  builder.add_channel(swing, 9, "translation", "STEP", {0, 0.5}, {-1, 0.5, 0, -2, 0, 1}, "VEC3");
  builder.add("animations", nod);
  builder.add("animations", swing);
  return finish("many_parts", builder);
}

GltfSample split_seams() {
  GltfBuilder builder;
  const TestShape cube = make_split_cube(0.5);
  json attributes = skinned_attributes(builder, cube.points, -0.6, 0.6);
  std::vector<double> normals, coordinates;
  for (size_t i = 0; i < cube.points.size(); ++i) {
    const Vector3d& origin = cube.points[i / 4 * 4];
    const Vector3d normal = (cube.points[i / 4 * 4 + 1] - origin)
                                .cross(cube.points[i / 4 * 4 + 2] - origin)
                                .normalized();
    normals.insert(normals.end(), normal.begin(), normal.end());
    coordinates.push_back(i % 4 == 1 || i % 4 == 2 ? 1 : 0);
    coordinates.push_back(i % 4 < 2 ? 1 : 0);
  }
  attributes["NORMAL"] = builder.add_accessor(normals, vertex_format("VEC3"));
  attributes["TEXCOORD_0"] = builder.add_accessor(coordinates, vertex_format("VEC2"));
  add_mesh(builder, "cube", attributes, builder.add_indices(cube.indices, Component::uint8));

  TestTransform low, high;
  low.translation = {0, -0.5, 0};
  high.translation = {0, 0.5, 0};
  json parent = low.node("low");
  parent["children"] = {1};
  builder.add("nodes", parent);
  builder.add("nodes", high.node("high"));
  const int skin = add_skin(builder, {0, 1}, {shift({0, 0.5, 0}), Matrix4d::Identity()});
  set_roots(builder, {0, builder.add("nodes", {{"name", "cube"}, {"mesh", 0}, {"skin", skin}})});
  json clip = {{"name", "bend"}};
  std::vector<double> turns;
  for (const double angle : {0.0, 1.4}) append_rotation(turns, turn(angle, {0, 0.4, 1}));
  builder.add_channel(clip, 1, "rotation", "LINEAR", {0, 1}, turns, "VEC4");
  builder.add("animations", clip);
  return finish("split_seams", builder);
}

GltfSample quantized_positions() {
  GltfBuilder builder;
  builder.document["extensionsUsed"] = {"KHR_mesh_quantization"};
  builder.document["extensionsRequired"] = {"KHR_mesh_quantization"};
  const auto vec3 = [](Component c, bool normalized) {
    return vertex_format("VEC3", c, normalized);
  };
  // -128 and -127 both stand for -1.
  json cubes = {{"name", "cubes"}};
  cubes["primitives"] = {quantized_cube(builder, -128, 127, vec3(Component::int8, true)),
                         quantized_cube(builder, 51, 255, vec3(Component::uint8, true)),
                         quantized_cube(builder, -32767, 10000, vec3(Component::int16, true)),
                         quantized_cube(builder, 3, 5, vec3(Component::uint16, false))};
  builder.add("meshes", cubes);
  json morphed = quantized_cube(builder, -100, 100, vec3(Component::int16, false));
  const std::vector<double> deltas = {127, 0, 0,  0, -127, 0, 0,   0, 64, 1, 2, 3,
                                      0,   0, -5, 0, 0,    0, -64, 0, 0,  9, 9, 9};
  AccessorFormat delta_format = vec3(Component::int8, true);
  delta_format.bounds = true;
  morphed["targets"] = {{{"POSITION", builder.add_accessor(deltas, delta_format)}}};
  builder.add("meshes",
              {{"name", "morphed"}, {"primitives", json::array({morphed})}, {"weights", {40.0}}});

  TestTransform decode, aside, joint, upper;
  decode.translation = {0.5, 1, 0};
  decode.scale = {0.25, 0.5, 0.75};
  aside.scale = Vector3d::Constant(0.01);
  upper.translation = {0, 0.5, 0};
  json cubes_node = decode.node("cubes"), morphed_node = aside.node("morphed");
  json lower = joint.node("lower");
  cubes_node["mesh"] = 0;
  morphed_node["mesh"] = 1;
  lower["children"] = {3};
  for (const json& node : {cubes_node, morphed_node, lower, upper.node("upper")}) {
    builder.add("nodes", node);
  }
  add_quantized_skin(builder, 2);
  set_roots(builder, {0, 1, 2, 4});

  json clip = {{"name", "turn"}};
  std::vector<double> turns;
  for (const double angle : {0.0, 1.0, -1.3}) append_rotation(turns, turn(angle, {1, 2, 3}), 32767);
  for (double& x : turns) x = std::round(x);
  builder.add_channel(clip, 3, "rotation", "LINEAR", {0, 1, 2}, turns, "VEC4", Component::int16);
  builder.add_channel(clip, 0, "rotation", "LINEAR", {0, 1, 2}, turns, "VEC4", Component::int16);
  builder.add("animations", clip);
  return finish("quantized_positions", builder);
}

std::vector<GltfSample> gltf_samples() {
  return {rigged_tube(), eight_influences(),   morph_cube(), many_parts(), rest_differs_from_bind(),
          split_seams(), quantized_positions()};
}

}  // namespace supple::test
