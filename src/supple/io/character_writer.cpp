#include "supple/io/character_writer.h"

#include <algorithm>
#include <array>
#include <map>

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "supple/core/version.h"
#include "supple/io/gltf_accessor_writer.h"

namespace supple {
namespace {

Json vector_json(const Vec3d& v) { return {v[0], v[1], v[2]}; }

void add_nodes(GltfDocument& document, const Character& character) {
  Json nodes = Json::array(), roots = Json::array();
  for (const Joint& joint : character.skeleton.joints) {
    Json node = {{"name", joint.name}};
    if (joint.sheared) {
      const Mat4d m = joint.sheared->matrix();
      node["matrix"] = std::vector<double>(m.data(), m.data() + 16);
    } else {
      const Quatd& q = joint.rest.rotation;
      if (!joint.rest.translation.isZero(0))
        node["translation"] = vector_json(joint.rest.translation);
      if (!q.coeffs().isApprox(Quatd::Identity().coeffs()))
        node["rotation"] = {q.x(), q.y(), q.z(), q.w()};
      if (joint.rest.scale != Vec3d::Ones()) node["scale"] = vector_json(joint.rest.scale);
    }
    nodes.push_back(std::move(node));
  }
  for (size_t j = 0; j < character.skeleton.size(); ++j) {
    const int parent = character.skeleton.joints[j].parent;
    if (parent < 0)
      roots.push_back(j);
    else
      nodes[static_cast<size_t>(parent)]["children"].push_back(j);
  }
  document.root["nodes"] = std::move(nodes);
  document.root["scene"] = 0;
  document.root["scenes"] = Json::array({{{"nodes", std::move(roots)}}});
}

// One skin for the whole character: every bind is one of its joints.
void add_skin(GltfDocument& document, const Character& character) {
  Json joints = Json::array();
  std::vector<float> matrices;
  for (const Bind& bind : character.binds) {
    joints.push_back(bind.joint);
    const Eigen::Matrix4f m = bind.rest_to_joint.matrix().cast<float>();
    matrices.insert(matrices.end(), m.data(), m.data() + 16);
  }
  const int accessor = add_float_accessor(document, matrices, "MAT4");
  document.root["skins"] = Json::array({{{"inverseBindMatrices", accessor}, {"joints", joints}}});
}

// The strongest influences of every vertex of a part, four to a set, as many sets as needed up to
// two.
void add_weights(GltfDocument& document, const Character& character, const Part& part,
                 Json& attributes) {
  size_t most = 1;
  for (int32_t v = part.vertices.first; v < part.vertices.end(); ++v)
    most = std::max(most, character.weights.of(static_cast<size_t>(v)).size());
  const size_t sets = most > 4 ? 2 : 1;
  std::array<std::vector<uint16_t>, 2> joints;
  std::array<std::vector<float>, 2> weights;
  for (int32_t v = part.vertices.first; v < part.vertices.end(); ++v) {
    const auto given = character.weights.of(static_cast<size_t>(v));
    std::vector<Influence> strongest(given.begin(), given.end());
    std::stable_sort(strongest.begin(), strongest.end(),
                     [](const Influence& a, const Influence& b) { return a.weight > b.weight; });
    strongest.resize(4 * sets);
    float sum = 0;
    for (const Influence& influence : strongest) sum += influence.weight;
    for (size_t i = 0; i < strongest.size(); ++i) {
      joints[i / 4].push_back(static_cast<uint16_t>(strongest[i].bind));
      weights[i / 4].push_back(strongest[i].weight / sum);
    }
  }
  for (size_t s = 0; s < sets; ++s) {
    attributes[fmt::format("JOINTS_{}", s)] =
        add_accessor(document, std::as_bytes(std::span<const uint16_t>(joints[s])), 5123, "VEC4",
                     joints[s].size() / 4);
    attributes[fmt::format("WEIGHTS_{}", s)] = add_float_accessor(document, weights[s], "VEC4");
  }
}

Json target_json(GltfDocument& document, const BlendShape& shape, const Part& part) {
  std::vector<Vec3f> offsets(static_cast<size_t>(part.vertices.count), Vec3f::Zero());
  for (size_t i = 0; i < shape.vertices.size(); ++i) {
    const int32_t local = shape.vertices[i] - part.vertices.first;
    if (local >= 0 && local < part.vertices.count)
      offsets[static_cast<size_t>(local)] = shape.offsets[i];
  }
  return {{"POSITION", add_vector_accessor(document, offsets, true)}};
}

void add_part(GltfDocument& document, const Character& character, const std::vector<Vec3f>& normals,
              const Part& part) {
  const auto first = part.vertices.first;
  const auto slice = [&](const std::vector<Vec3f>& all) {
    return std::vector<Vec3f>(all.begin() + first, all.begin() + part.vertices.end());
  };
  Json attributes = {
      {"POSITION", add_vector_accessor(document, slice(character.skin.positions), true)},
      {"NORMAL", add_vector_accessor(document, slice(normals), false)}};
  add_part_attributes(document, character.attributes, part, attributes);
  const bool skinned = !character.binds.empty();
  if (skinned) add_weights(document, character, part, attributes);
  Json primitive = {
      {"attributes", attributes}, {"mode", part.triangles.count > 0 ? 4 : 0}, {"material", 0}};
  if (part.triangles.count > 0)
    primitive["indices"] = add_part_indices(document, character.skin.triangles, part);
  Json mesh = {{"name", part.name}};
  std::vector<std::string> names;
  for (const BlendShape& shape : character.shapes) {
    primitive["targets"].push_back(target_json(document, shape, part));
    mesh["weights"].push_back(shape.rest_weight);
    names.push_back(shape.name);
  }
  if (!names.empty()) mesh["extras"]["targetNames"] = names;
  mesh["primitives"] = Json::array({primitive});
  // A skinned mesh's own node does not matter, so each gets one at the root.
  document.root["scenes"][0]["nodes"].push_back(document.root["nodes"].size());
  Json node = {{"name", part.name}, {"mesh", document.root["meshes"].size()}};
  if (skinned) node["skin"] = 0;
  document.root["nodes"].push_back(std::move(node));
  document.root["meshes"].push_back(std::move(mesh));
}

// Unit normals of the rest shape; a vertex without triangles points up.
std::vector<Vec3f> rest_normals(const Character& character) {
  std::vector<Vec3f> normals(character.skin.positions.size());
  vertex_normals(character.skin.positions, character.skin.triangles, normals);
  for (Vec3f& n : normals)
    if (n.isZero(0)) n = Vec3f(0, 1, 0);
  return normals;
}

void add_clip(GltfDocument& document, const Character& character, const Clip& clip) {
  static constexpr const char* interpolations[] = {"STEP", "LINEAR", "CUBICSPLINE"};
  static constexpr const char* paths[] = {"translation", "rotation", "scale", "weights"};
  Json samplers = Json::array(), channels = Json::array();
  for (const Channel& channel : clip.channels) {
    const std::vector<float> times(channel.times.begin(), channel.times.end());
    const std::vector<float> values(channel.values.begin(), channel.values.end());
    const bool drives_shapes = channel.target == ChannelTarget::shape_weights;
    // Every part carries all shapes, so only channels that drive all of them can be written.
    if (drives_shapes &&
        (channel.first_shape != 0 || channel.width != static_cast<int>(character.shapes.size())))
      continue;
    const char* type = drives_shapes ? "SCALAR" : channel.width == 4 ? "VEC4" : "VEC3";
    const size_t sampler = samplers.size();
    samplers.push_back({{"input", add_time_accessor(document, times)},
                        {"interpolation", interpolations[static_cast<int>(channel.interpolation)]},
                        {"output", add_float_accessor(document, values, type)}});
    const char* path = paths[static_cast<int>(channel.target)];
    if (!drives_shapes)
      channels.push_back(
          {{"sampler", sampler}, {"target", {{"node", channel.joint}, {"path", path}}}});
    for (size_t p = 0; drives_shapes && p < character.parts.size(); ++p)
      channels.push_back({{"sampler", sampler},
                          {"target", {{"node", character.skeleton.size() + p}, {"path", path}}}});
  }
  if (!channels.empty())
    document.root["animations"].push_back(
        {{"name", clip.name}, {"samplers", samplers}, {"channels", channels}});
}

}  // namespace

GltfDocument gltf_from_character(const Character& character) {
  if (character.binds.size() > 65535)
    throw_output_error(character.name, "more than 65535 binds cannot be written");
  GltfDocument document;
  document.file = character.name;
  document.root = {
      {"asset", {{"version", "2.0"}, {"generator", fmt::format("Supple {}", version)}}}};
  document.root["materials"] = Json::array(
      {{{"name", "skin"},
        {"pbrMetallicRoughness", {{"metallicFactor", 0.0}, {"roughnessFactor", 0.6}}}}});
  add_nodes(document, character);
  if (!character.binds.empty()) add_skin(document, character);
  const std::vector<Vec3f> normals = rest_normals(character);
  for (const Part& part : character.parts) add_part(document, character, normals, part);
  for (const Clip& clip : character.clips) add_clip(document, character, clip);
  return document;
}

void write_character(const std::filesystem::path& path, const Character& character) {
  write_file(path, serialise_glb(gltf_from_character(character), path.string()));
}

std::string obj_from_character(const Character& character) {
  std::string text;
  const auto out = std::back_inserter(text);
  const VertexAttribute* colours = character.attribute("COLOR_0");
  for (size_t v = 0; v < character.skin.positions.size(); ++v) {
    const Vec3f& p = character.skin.positions[v];
    fmt::format_to(out, "v {} {} {}", p[0], p[1], p[2]);
    if (colours && colours->components == 3)
      fmt::format_to(out, " {} {} {}", colours->values[3 * v], colours->values[3 * v + 1],
                     colours->values[3 * v + 2]);
    text += '\n';
  }
  for (const Vec3i& t : character.skin.triangles) {
    const Vec3i c = t + Vec3i::Ones();
    if (is_segment(t))
      fmt::format_to(out, "l {} {}\n", c[0], c[1]);
    else
      fmt::format_to(out, "f {} {} {}\n", c[0], c[1], c[2]);
  }
  return text;
}

}  // namespace supple
