#include "supple/io/gltf_writer.h"

#include <map>

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "supple/core/log.h"
#include "supple/core/version.h"
#include "supple/io/frame_basis.h"
#include "supple/io/gltf_accessor.h"
#include "supple/io/gltf_cleanup.h"
#include "supple/io/gltf_nodes.h"
#include "supple/io/skin_normals.h"
#include "supple/math/flat.h"

namespace supple {
namespace {

// The skin as base and morph shapes, normals included.
struct BakedShapes {
  FrameBasis positions;
  std::vector<Vec3f> base_normals;
  std::vector<std::vector<Vec3f>> normal_shapes;
};

// Normals of the base and their projection onto the shapes, frame after frame.
void bake_normals(const AnimatedSkin& skin, const SkinNormals& normals, BakedShapes& baked) {
  const FrameBasis& basis = baked.positions;
  const size_t count = basis.shapes.size();
  baked.base_normals.resize(skin.rest.size());
  normals.compute(basis.base, baked.base_normals);
  baked.normal_shapes.assign(count, std::vector<Vec3f>(skin.rest.size(), Vec3f::Zero()));
  std::vector<Vec3f> frame_normals(skin.rest.size());
  for (int f = 0; f < skin.frame_count; ++f) {
    if (basis.projection.col(f).isZero(0)) continue;
    normals.compute(skin.frame(f).positions, frame_normals);
    for (size_t s = 0; s < count; ++s) {
      const float share = basis.projection(static_cast<Eigen::Index>(s), f);
      if (share == 0) continue;
      for (size_t v = 0; v < frame_normals.size(); ++v)
        baked.normal_shapes[s][v] += share * (frame_normals[v] - baked.base_normals[v]);
    }
  }
}

int add_accessor(GltfDocument& document, ByteView data, int component, const char* type,
                 size_t count) {
  const int view = add_buffer_view(document, data);
  document.root["accessors"].push_back(
      {{"bufferView", view}, {"componentType", component}, {"count", count}, {"type", type}});
  return static_cast<int>(document.root["accessors"].size()) - 1;
}

int add_float_accessor(GltfDocument& document, std::span<const float> values, const char* type) {
  const auto components = static_cast<size_t>(components_of_type(type));
  return add_accessor(document, std::as_bytes(values), 5126, type, values.size() / components);
}

// Vectors of one part, turned by `turn`; positions carry their bounds.
int add_vectors(GltfDocument& document, std::span<const Vec3f> values, const Affine& turn,
                bool is_point, bool bounds) {
  std::vector<Vec3f> local;
  local.reserve(values.size());
  Box3f box;
  for (const Vec3f& v : values) {
    const Vec3d d = v.cast<double>();
    local.push_back((is_point ? Vec3d(turn * d) : Vec3d(turn.linear() * d)).cast<float>());
    box.extend(local.back());
  }
  const int index = add_float_accessor(document, as_floats(local), "VEC3");
  if (bounds && !values.empty()) {
    Json& accessor = document.root["accessors"][static_cast<size_t>(index)];
    accessor["min"] = {box.min()[0], box.min()[1], box.min()[2]};
    accessor["max"] = {box.max()[0], box.max()[1], box.max()[2]};
  }
  return index;
}

// Unit normals in a node's own space: turned by the inverse transpose, made unit again.
std::vector<Vec3f> local_normals(std::span<const Vec3f> normals, const Affine& from_local) {
  const Mat3d turn = from_local.linear().transpose();
  std::vector<Vec3f> result;
  for (const Vec3f& n : normals) {
    const Vec3d local = turn * n.cast<double>();
    const double length = local.norm();
    // A vertex without triangles has no normal; any unit vector keeps the file valid.
    result.push_back(length > 0 ? Vec3f((local / length).cast<float>()) : Vec3f(0, 1, 0));
  }
  return result;
}

template <class T>
std::span<const Vec3f> of_part(const T& values, const Part& part) {
  return std::span<const Vec3f>(values).subspan(static_cast<size_t>(part.vertices.first),
                                                static_cast<size_t>(part.vertices.count));
}

// Replaces what moves in a primitive: base, normals and morph targets.
void bake_primitive(GltfDocument& document, Json& primitive, const Part& part,
                    const BakedShapes& baked, const Affine& to_local) {
  Json& attributes = primitive["attributes"];
  for (const auto& key : [&] {
         std::vector<std::string> moving;
         for (const auto& [name, unused] : attributes.items())
           if (name.starts_with("JOINTS_") || name.starts_with("WEIGHTS_") || name == "TANGENT")
             moving.push_back(name);
         return moving;
       }())
    attributes.erase(key);
  const Affine from_local = to_local.inverse();
  const std::vector<Vec3f> base_normals =
      local_normals(of_part(baked.base_normals, part), from_local);
  attributes["POSITION"] =
      add_vectors(document, of_part(baked.positions.base, part), to_local, true, true);
  attributes["NORMAL"] = add_vectors(document, base_normals, Affine::Identity(), false, false);
  Json targets = Json::array();
  for (size_t s = 0; s < baked.positions.shapes.size(); ++s) {
    // Sums of normals and projections are directions of any length: target = normal after − before.
    std::vector<Vec3f> after(static_cast<size_t>(part.vertices.count));
    const auto base = of_part(baked.base_normals, part),
               change = of_part(baked.normal_shapes[s], part);
    for (size_t v = 0; v < after.size(); ++v) after[v] = base[v] + change[v];
    after = local_normals(after, from_local);
    for (size_t v = 0; v < after.size(); ++v) after[v] -= base_normals[v];
    targets.push_back({{"POSITION", add_vectors(document, of_part(baked.positions.shapes[s], part),
                                                to_local, false, true)},
                       {"NORMAL", add_vectors(document, after, Affine::Identity(), false, false)}});
  }
  primitive.erase("targets");
  if (!targets.empty()) primitive["targets"] = std::move(targets);
}

// One animation that plays the weights of all `nodes`.
void add_weight_animation(GltfDocument& document, const AnimatedSkin& skin, const FrameBasis& basis,
                          const std::vector<size_t>& nodes) {
  document.root.erase("animations");
  if (basis.shapes.empty() || nodes.empty()) return;
  std::vector<float> times, weights;
  for (int f = 0; f < skin.frame_count; ++f) {
    times.push_back(static_cast<float>(f / skin.rate));
    weights.insert(weights.end(), basis.weights[static_cast<size_t>(f)].begin(),
                   basis.weights[static_cast<size_t>(f)].end());
  }
  const int input = add_float_accessor(document, times, "SCALAR");
  Json& accessor = document.root["accessors"][static_cast<size_t>(input)];
  accessor["min"] = {times.front()};
  accessor["max"] = {times.back()};
  const int output = add_float_accessor(document, weights, "SCALAR");
  Json channels = Json::array();
  for (const size_t node : nodes)
    channels.push_back({{"sampler", 0}, {"target", {{"node", node}, {"path", "weights"}}}});
  document.root["animations"] = Json::array(
      {{{"name", skin.name},
        {"samplers",
         Json::array({{{"input", input}, {"interpolation", "LINEAR"}, {"output", output}}})},
        {"channels", channels}}});
}

void set_mesh_weights(Json& mesh, const FrameBasis& basis) {
  mesh.erase("weights");
  if (mesh.contains("extras") && mesh["extras"].is_object()) mesh["extras"].erase("targetNames");
  if (!basis.shapes.empty()) mesh["weights"] = basis.weights.front();
}

// --- on top of the input file --------------------------------------------------------------------

// The node that carries an instance's baked mesh: its own, or a new root where its transform
// cannot be undone.
size_t carrying_node(GltfDocument& document, size_t node, const Affine& rest, Affine& to_local) {
  const double determinant = rest.linear().determinant();
  const double size = rest.linear().norm();
  Json& nodes = document.root["nodes"];
  nodes[node].erase("weights");
  if (std::isfinite(determinant) && std::abs(determinant) > 1e-9 * size * size * size) {
    to_local = rest.inverse();
    return node;
  }
  to_local = Affine::Identity();
  Json copy = {{"mesh", nodes[node]["mesh"]}};
  if (nodes[node].contains("name")) copy["name"] = nodes[node]["name"];
  nodes[node].erase("mesh");
  nodes.push_back(std::move(copy));
  const size_t added = nodes.size() - 1;
  if (document.root.contains("scenes")) {
    const auto scene = document.root.value("scene", size_t{0});
    document.root["scenes"].at(scene)["nodes"].push_back(added);
  }
  return added;
}

void bake_into_source(GltfDocument& document, const AnimatedSkin& skin, const BakedShapes& baked) {
  GltfReading reading{document, {}, {}, {}, {}, {}, {}};
  read_gltf_nodes(reading);
  document.root.erase("skins");
  for (Json& node : document.root["nodes"]) node.erase("skin");

  // Instances of one mesh move differently, so each gets a mesh of its own.
  std::map<int, std::vector<const Part*>> instances;
  for (const Part& part : skin.parts) instances[part.source_node].push_back(&part);
  std::vector<size_t> nodes;
  const Json original_meshes = document.root["meshes"];
  document.root["meshes"] = Json::array();
  std::vector<bool> used(original_meshes.size(), false);
  for (const auto& [source_node, parts] : instances) {
    Affine to_local;
    const Affine& rest =
        reading
            .rest[static_cast<size_t>(reading.joint_of_node.at(static_cast<size_t>(source_node)))];
    const size_t node = carrying_node(document, static_cast<size_t>(source_node), rest, to_local);
    Json mesh = original_meshes.at(static_cast<size_t>(parts.front()->source_mesh));
    for (const Part* part : parts)
      bake_primitive(document, mesh["primitives"].at(static_cast<size_t>(part->source_primitive)),
                     *part, baked, to_local);
    set_mesh_weights(mesh, baked.positions);
    document.root["nodes"][node]["mesh"] = document.root["meshes"].size();
    document.root["meshes"].push_back(std::move(mesh));
    nodes.push_back(node);
  }
  // Meshes outside the scene keep their numbers' meaning by moving behind the baked ones.
  for (size_t n = 0; n < document.root["nodes"].size(); ++n) {
    Json& node = document.root["nodes"][n];
    if (!node.contains("mesh") || std::find(nodes.begin(), nodes.end(), n) != nodes.end()) continue;
    const Json mesh = original_meshes.at(node["mesh"].get<size_t>());
    node["mesh"] = document.root["meshes"].size();
    document.root["meshes"].push_back(mesh);
  }
  add_weight_animation(document, skin, baked.positions, nodes);
}

// --- from nothing --------------------------------------------------------------------------------

int add_indices(GltfDocument& document, const AnimatedSkin& skin, const Part& part) {
  std::vector<uint32_t> indices;
  for (int32_t t = part.triangles.first; t < part.triangles.end(); ++t)
    for (int corner = 0; corner < 3; ++corner)
      indices.push_back(static_cast<uint32_t>(skin.triangles[static_cast<size_t>(t)][corner] -
                                              part.vertices.first));
  return add_accessor(document, std::as_bytes(std::span<const uint32_t>(indices)), 5125, "SCALAR",
                      indices.size());
}

void add_static_attributes(GltfDocument& document, const AnimatedSkin& skin, const Part& part,
                           Json& attributes) {
  static constexpr const char* types[] = {"", "SCALAR", "VEC2", "VEC3", "VEC4"};
  for (const VertexAttribute& attribute : skin.attributes) {
    if (attribute.components > 4) continue;
    const auto width = static_cast<size_t>(attribute.components);
    const auto values = std::span<const float>(attribute.values)
                            .subspan(static_cast<size_t>(part.vertices.first) * width,
                                     static_cast<size_t>(part.vertices.count) * width);
    attributes[attribute.name] = add_float_accessor(document, values, types[attribute.components]);
  }
}

int find_or_add_material(GltfDocument& document, const std::string& name) {
  Json& materials = document.root["materials"];
  for (size_t i = 0; i < materials.size(); ++i)
    if (materials[i]["name"] == name) return static_cast<int>(i);
  materials.push_back(
      {{"name", name},
       {"pbrMetallicRoughness", {{"metallicFactor", 0.0}, {"roughnessFactor", 0.7}}},
       {"doubleSided", true}});
  return static_cast<int>(materials.size()) - 1;
}

GltfDocument bare_document(const AnimatedSkin& skin, const BakedShapes& baked) {
  GltfDocument document;
  document.file = skin.name;
  document.root = {{"asset", {{"version", "2.0"}}},
                   {"scene", 0},
                   {"scenes", Json::array({{{"nodes", Json::array()}}})}};
  std::vector<size_t> nodes;
  for (const Part& part : skin.parts) {
    if (part.vertices.count == 0) continue;
    Json primitive = {{"attributes", Json::object()}, {"mode", part.triangles.count > 0 ? 4 : 0}};
    bake_primitive(document, primitive, part, baked, Affine::Identity());
    add_static_attributes(document, skin, part, primitive["attributes"]);
    if (part.triangles.count > 0) primitive["indices"] = add_indices(document, skin, part);
    primitive["material"] =
        find_or_add_material(document, part.material.empty() ? "skin" : part.material);
    Json mesh = {{"name", part.name}, {"primitives", Json::array({primitive})}};
    set_mesh_weights(mesh, baked.positions);
    const size_t number = nodes.size();
    document.root["meshes"].push_back(std::move(mesh));
    document.root["nodes"].push_back({{"name", part.name}, {"mesh", number}});
    document.root["scenes"][0]["nodes"].push_back(number);
    nodes.push_back(number);
  }
  add_weight_animation(document, skin, baked.positions, nodes);
  return document;
}

}  // namespace

GltfDocument bake_gltf(const AnimatedSkin& skin, const ExportOptions& options,
                       const GltfDocument* source, BakeReport& report) {
  if (skin.frame_count < 1) throw_output_error(skin.name, "no frames to write");
  BakedShapes baked;
  baked.positions = find_frame_basis(skin, most_morph_targets, options.progress);
  bake_normals(skin, SkinNormals(skin, source), baked);
  report = {static_cast<int>(baked.positions.shapes.size()), baked.positions.compressed,
            baked.positions.largest_error};

  GltfDocument document;
  if (source) {
    document = *source;
    bake_into_source(document, skin, baked);
    for (const std::string& address : embed_images(document))
      log_warning("{}: image '{}' was not found and is left out of the .glb", source->file,
                  printable(address));
    remove_unused_data(document);
  } else {
    document = bare_document(skin, baked);
  }
  document.root["asset"]["generator"] = fmt::format("Supple {}", version);
  return document;
}

BakeReport write_glb(const std::filesystem::path& path, const AnimatedSkin& skin,
                     const ExportOptions& options, const GltfDocument* source) {
  BakeReport report;
  GltfDocument document = bake_gltf(skin, options, source, report);
  document.file = path.string();
  write_file(path, serialise_glb(document));
  return report;
}

}  // namespace supple
