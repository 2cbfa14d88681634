#include "supple/io/gltf_writer.h"

#include <algorithm>
#include <map>

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "supple/core/log.h"
#include "supple/core/version.h"
#include "supple/io/baked_shapes.h"
#include "supple/io/export_frames.h"
#include "supple/io/gltf_accessor.h"
#include "supple/io/gltf_accessor_writer.h"
#include "supple/io/gltf_cleanup.h"
#include "supple/io/gltf_nodes.h"
#include "supple/rig/split_skin.h"

namespace supple {
namespace {

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
  const int input = add_time_accessor(document, times);
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

// Throws unless every part of the skin is a primitive of `source`, which may have been changed
// since the skin was read from it.
void check_source(const AnimatedSkin& skin, const GltfDocument& source) {
  const JsonField root = source.fields();
  const auto at = [](const JsonField& list, int index) {
    return list[static_cast<size_t>(std::max(index, 0))];
  };
  for (const Part& part : skin.parts) {
    const JsonField node = at(root["nodes"], part.source_node);
    const JsonField mesh = at(root["meshes"], part.source_mesh);
    const JsonField primitive = at(mesh["primitives"], part.source_primitive);
    const bool in_skin =
        part.vertices.first >= 0 && part.vertices.count >= 0 &&
        static_cast<size_t>(part.vertices.first) + static_cast<size_t>(part.vertices.count) <=
            skin.rest.size();
    if (!in_skin || part.source_node < 0 || part.source_mesh < 0 || part.source_primitive < 0 ||
        node["mesh"].integer() != part.source_mesh ||
        accessor_count(source, primitive["attributes"]["POSITION"]) !=
            static_cast<size_t>(input_vertices(skin.split_map, part).count))
      primitive.fail(fmt::format(
          "is not the part '{}' to be baked: this is not the file the skin was read from",
          printable(part.name)));
  }
  if (skin.parts.empty()) root.fail("is not the file the skin was read from: that has no parts");
}

// True when scene positions inside `box` survive being rounded in the space of a node with matrix
// `rest`: local positions x come back with an error of up to ε |M| |x|, where ε |p| is what
// rounding costs in the scene itself.
bool holds_precisely(const Affine& rest, const Box3f& box) {
  const double determinant = rest.linear().determinant();
  const double size = rest.linear().norm();
  if (!std::isfinite(determinant) || std::abs(determinant) <= 1e-12 * size * size * size)
    return false;
  const Affine inverse = rest.inverse();
  Vec3d local = Vec3d::Zero();
  for (int corner = 0; corner < 8; ++corner)
    local = local.cwiseMax(
        (inverse * box.corner(static_cast<Box3f::CornerType>(corner)).cast<double>()).cwiseAbs());
  const double there = (rest.linear().cwiseAbs() * local).maxCoeff();
  const double here =
      static_cast<double>(box.min().cwiseAbs().cwiseMax(box.max().cwiseAbs()).maxCoeff());
  return there <= 8 * here;
}

// The node that carries an instance's baked mesh: its own, or a new root where positions do not
// fit into its space. Sets the way there from the scene.
size_t carrying_node(GltfDocument& document, size_t node, const Affine& rest, const Box3f& box,
                     Affine& to_local) {
  Json& nodes = document.root["nodes"];
  nodes[node].erase("weights");
  if (holds_precisely(rest, box)) {
    to_local = rest.inverse();
    return node;
  }
  to_local = Affine::Identity();
  Json copy = Json::object();
  if (nodes[node].contains("name")) copy["name"] = nodes[node]["name"];
  nodes[node].erase("mesh");
  nodes.push_back(std::move(copy));
  const size_t added = nodes.size() - 1;
  if (document.root.contains("scenes") && !document.root["scenes"].empty()) {
    const auto scene = document.root.value("scene", size_t{0});
    document.root["scenes"].at(scene)["nodes"].push_back(added);
  }
  return added;
}

// Values that are numbers of things, which have no means.
bool holds_labels(const GltfDocument& document, const std::string& name, const Json& accessor) {
  const Json& entry = document.root["accessors"].at(accessor.get<size_t>());
  return name.starts_with('_') && entry.value("componentType", 5126) != 5126 &&
         !entry.value("normalized", false);
}

// The skin with every vertex at the place of that of the input it has most of.
AnimatedSkin with_nearest_sources(const AnimatedSkin& skin, const Part& part) {
  AnimatedSkin result;
  result.split_map.vertices = skin.split_map.vertices;
  // Vertices of the input keep their sources: by these it is known how many there are.
  for (int32_t v = part.vertices.first; v < part.vertices.end(); ++v) {
    VertexSource& source = result.split_map.vertices[static_cast<size_t>(v)];
    if (source.is_input()) continue;
    Eigen::Index largest = 0;
    source.weights.maxCoeff(&largest);
    source.vertices = Vec3i::Constant(source.vertices[largest]);
    source.weights = Vec3f(0.5f, 0.5f, 0);
  }
  return result;
}

// Triangles and attributes of a baked primitive whose part was split: what the file has for its
// vertices, in between for those that were made.
void split_primitive(GltfDocument& document, Json& primitive, const AnimatedSkin& skin,
                     const Part& part, bool mirrored) {
  static constexpr const char* types[] = {"", "SCALAR", "VEC2", "VEC3", "VEC4"};
  Json attributes = primitive["attributes"];
  for (auto& [name, accessor] : attributes.items()) {
    if (name == "POSITION" || name == "NORMAL") continue;
    const JsonField field = JsonField(accessor, document.file);
    const int components = accessor_components(document, field);
    if (components < 1 || components > 4)
      throw_input_error(document.file, name, "has more than four components, and cannot be split");
    const std::vector<float> given = read_float_accessor(document, field, components);
    const std::vector<float> values =
        holds_labels(document, name, accessor)
            ? split_values(document.file, with_nearest_sources(skin, part), part, given, components)
            : split_values(document.file, skin, part, given, components);
    accessor = add_float_accessor(document, values, types[components]);
  }
  primitive["attributes"] = std::move(attributes);
  if (part.triangles.count == 0) return;  // points and lines are as they were
  const auto first = skin.triangles.begin() + part.triangles.first;
  std::vector<Vec3i> triangles(first, first + part.triangles.count);
  if (mirrored)  // the node's matrix turns them round
    for (Vec3i& t : triangles) std::swap(t[1], t[2]);
  Part alone = part;
  alone.triangles.first = 0;
  primitive["indices"] = add_part_indices(document, triangles, alone);
  primitive["mode"] = 4;
}

// The mesh of one instance with its primitives baked; those that hold no vertices are left out.
Json baked_mesh(GltfDocument& document, Json mesh, const std::vector<const Part*>& parts,
                const AnimatedSkin& skin, const BakedShapes& baked, const Affine& to_local) {
  Json primitives = Json::array();
  for (const Part* part : parts) {
    primitives.push_back(mesh["primitives"][static_cast<size_t>(part->source_primitive)]);
    bake_primitive(document, primitives.back(), *part, baked, to_local);
    if (skin.split_map.empty()) continue;
    if (input_vertices(skin.split_map, *part).count != part->vertices.count)
      split_primitive(document, primitives.back(), skin, *part,
                      to_local.linear().determinant() < 0);
    add_part_sources(document, skin.split_map, *part, primitives.back()["attributes"]);
  }
  mesh["primitives"] = std::move(primitives);
  set_mesh_weights(mesh, baked.positions);
  return mesh;
}

// Where the parts are, over all shapes.
Box3f box_of(const std::vector<const Part*>& parts, const FrameBasis& basis) {
  Box3f box;
  for (const Part* part : parts)
    for (auto v = static_cast<size_t>(part->vertices.first);
         v < static_cast<size_t>(part->vertices.end()); ++v) {
      box.extend(basis.base[v]);
      for (const auto& shape : basis.shapes) box.extend(Vec3f(basis.base[v] + shape[v]));
    }
  return box;
}

void bake_into_source(GltfDocument& document, const AnimatedSkin& skin, const BakedShapes& baked) {
  GltfReading reading{document, {}, {}, {}, {}, {}, {}};
  read_gltf_nodes(reading);
  document.root.erase("skins");
  for (Json& node : document.root["nodes"]) node.erase("skin");

  // Instances of one mesh move differently, so each gets a mesh of its own.
  std::map<size_t, std::vector<const Part*>> instances;
  for (const Part& part : skin.parts)
    instances[static_cast<size_t>(part.source_node)].push_back(&part);
  const Json original_meshes = std::move(document.root["meshes"]);
  Json meshes = Json::array();
  std::vector<size_t> carriers;
  std::vector<bool> done(document.root["nodes"].size() + instances.size(), false);
  for (const auto& [source_node, parts] : instances) {
    const Affine& rest = reading.rest[static_cast<size_t>(reading.joint_of_node[source_node])];
    Affine to_local;
    const size_t node =
        carrying_node(document, source_node, rest, box_of(parts, baked.positions), to_local);
    document.root["nodes"][node]["mesh"] = meshes.size();
    meshes.push_back(baked_mesh(document,
                                original_meshes[static_cast<size_t>(parts.front()->source_mesh)],
                                parts, skin, baked, to_local));
    carriers.push_back(node);
    done[node] = true;
  }
  // Nodes the skin has no part of, such as those of other scenes, keep their meshes.
  for (size_t n = 0; n < document.root["nodes"].size(); ++n) {
    Json& node = document.root["nodes"][n];
    if (!node.contains("mesh") || done[n]) continue;
    const Json& mesh = original_meshes.at(node["mesh"].get<size_t>());
    node["mesh"] = meshes.size();
    meshes.push_back(mesh);
  }
  document.root["meshes"] = std::move(meshes);
  add_weight_animation(document, skin, baked.positions, carriers);
}

// A copy of the input file with the skin baked into it and what is no longer needed taken out.
GltfDocument document_from_source(const AnimatedSkin& skin, const BakedShapes& baked,
                                  const GltfDocument& source) {
  GltfDocument document = source;
  try {
    bake_into_source(document, skin, baked);
  } catch (const Json::exception&) {
    throw_input_error(source.file, "", "has fields of a wrong type");
  }
  for (const std::string& problem : embed_images(document))
    log_warning("{}; its textures are left out of the .glb", problem);
  remove_unused_data(document);
  return document;
}

// --- from nothing --------------------------------------------------------------------------------

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

// The parts as meshes of their own; all in one where they share vertices.
std::vector<Part> bare_parts(const AnimatedSkin& skin) {
  std::vector<Part> parts = parts_to_write(skin);
  if (parts_are_separate(skin, parts)) return parts;
  Part whole;
  whole.name = skin.name;
  whole.vertices = {0, static_cast<int32_t>(skin.rest.size())};
  whole.triangles = {0, static_cast<int32_t>(skin.triangles.size())};
  return {whole};
}

GltfDocument bare_document(const AnimatedSkin& skin, const BakedShapes& baked) {
  GltfDocument document;
  document.file = skin.name;
  document.root = {{"asset", {{"version", "2.0"}}},
                   {"scene", 0},
                   {"scenes", Json::array({{{"nodes", Json::array()}}})}};
  std::vector<size_t> nodes;
  for (const Part& part : bare_parts(skin)) {
    if (part.vertices.count == 0) continue;
    Json primitive = {{"attributes", Json::object()}, {"mode", part.triangles.count > 0 ? 4 : 0}};
    bake_primitive(document, primitive, part, baked, Affine::Identity());
    add_part_attributes(document, skin.attributes, part, primitive["attributes"]);
    add_part_sources(document, skin.split_map, part, primitive["attributes"]);
    if (part.triangles.count > 0)
      primitive["indices"] = add_part_indices(document, skin.triangles, part);
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

// Bakes `skin` for a file called `file`.
GltfDocument bake(const std::filesystem::path& file, const AnimatedSkin& skin,
                  const ExportOptions& options, const GltfDocument* source, BakeReport& report) {
  check_exportable(file, skin);
  if (source) check_source(skin, *source);
  // Positions and normals of the base and of every target, before any of it is computed.
  const int targets = std::min(skin.frame_count - 1, most_morph_targets);
  check_glb_size(file.string(), static_cast<size_t>(targets + 1) * skin.rest.size() * 24);

  AnimatedSkin checked = skin;
  checked.frame = [&](int index) { return checked_frame(file, skin, index); };
  const BakedShapes baked =
      bake_shapes(checked, SkinNormals(skin, source), most_morph_targets, options.progress);
  report = {static_cast<int>(baked.positions.shapes.size()), baked.positions.compressed,
            baked.positions.largest_error};
  GltfDocument document =
      source ? document_from_source(skin, baked, *source) : bare_document(skin, baked);
  document.root["asset"]["generator"] = fmt::format("Supple {}", version);
  return document;
}

}  // namespace

GltfDocument bake_gltf(const AnimatedSkin& skin, const ExportOptions& options,
                       const GltfDocument* source, BakeReport& report) {
  return bake(skin.name, skin, options, source, report);
}

BakeReport write_glb(const std::filesystem::path& path, const AnimatedSkin& skin,
                     const ExportOptions& options, const GltfDocument* source) {
  BakeReport report;
  write_file(path, serialise_glb(bake(path, skin, options, source, report), path.string()));
  return report;
}

}  // namespace supple
