// Meshes, skins and blend shapes of the glTF reader.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "supple/core/error.h"
#include "supple/io/gltf_accessor.h"
#include "supple/io/gltf_nodes.h"
#include "supple/math/flat.h"

namespace supple {
namespace {

// Instances multiply vertices, so a small file could ask for any amount of memory.
constexpr size_t most_vertices = 200'000'000;

// A skin as the file has it: joints of our skeleton and inverse bind matrices in mesh space.
struct FileSkin {
  std::vector<int> joints;
  std::vector<Affine> inverse_bind;
};

FileSkin read_skin(const GltfReading& reading, const JsonField& skin) {
  FileSkin result;
  const JsonField joints = skin["joints"];
  for (size_t i = 0; i < joints.size(); ++i)
    result.joints.push_back(reading.joint_of_node[static_cast<size_t>(
        joints[i].index(reading.joint_of_node.size(), "nodes"))]);
  if (result.joints.empty()) joints.fail("is empty");
  result.inverse_bind.assign(result.joints.size(), Affine::Identity());
  if (const auto field = skin.find("inverseBindMatrices")) {
    const std::vector<float> values = read_float_accessor(reading.document, *field, 16);
    if (values.size() < 16 * result.joints.size())
      field->fail(
          fmt::format("{} matrices for {} joints", values.size() / 16, result.joints.size()));
    for (size_t j = 0; j < result.joints.size(); ++j) {
      result.inverse_bind[j].matrix() =
          Eigen::Map<const Eigen::Matrix4f>(values.data() + 16 * j).cast<double>();
      result.inverse_bind[j].makeAffine();
    }
  }
  return result;
}

double scale_of(const Affine& m) { return std::cbrt(std::abs(m.linear().determinant())); }

bool similar_scale(const Affine& a, const Affine& b) {
  const double sa = scale_of(a), sb = scale_of(b);
  return std::abs(sa - sb) <= 0.01 * std::max(sa, sb);
}

// Where a skin's mesh space lies in the model at bind time. With the skeleton in its bind pose, all
// joints agree on G_j · B_j (joint-to-model times inverse bind). Files whose node tree is posed
// otherwise leave a choice: exporters put mesh space either in the armature's space or in the
// model's, so take whichever of these has the joints' scale, and fits best; failing that, the
// matrix of the joint closest to all others.
Affine bind_space(const GltfReading& reading, const FileSkin& skin, const Box3f& box) {
  std::vector<Affine> seen;
  for (size_t j = 0; j < skin.joints.size() && j < 256; ++j)
    seen.push_back(reading.rest[static_cast<size_t>(skin.joints[j])] * skin.inverse_bind[j]);
  const auto misfit = [&](const Affine& candidate) {
    double sum = 0;
    for (const Affine& other : seen)
      for (const auto corner : {Box3f::BottomLeftFloor, Box3f::TopRightCeil}) {
        const Vec3d p = box.isEmpty() ? Vec3d::Zero() : Vec3d(box.corner(corner).cast<double>());
        sum += (candidate * p - other * p).norm();
      }
    return sum;
  };
  const auto best_of = [&](const std::vector<Affine>& candidates) {
    return *std::min_element(
        candidates.begin(), candidates.end(),
        [&](const Affine& a, const Affine& b) { return misfit(a) < misfit(b); });
  };
  Affine middle = best_of(seen);
  const double size =
      box.isEmpty() ? 1 : static_cast<double>(box.diagonal().norm()) * scale_of(middle);
  if (misfit(middle) <= 1e-4 * size * static_cast<double>(seen.size())) return middle;

  const auto& joints = reading.character.skeleton.joints;
  const int top = *std::min_element(skin.joints.begin(), skin.joints.end());  // parents come first
  const int above = joints[static_cast<size_t>(top)].parent;
  std::vector<Affine> usual;
  for (const Affine& candidate :
       {above >= 0 ? reading.rest[static_cast<size_t>(above)] : Affine::Identity(),
        Affine::Identity()})
    if (similar_scale(candidate, middle)) usual.push_back(candidate);
  return usual.empty() ? middle : best_of(usual);
}

bool invertible(const Affine& m) {
  const double determinant = m.linear().determinant();
  const double size = m.linear().norm();
  return std::isfinite(determinant) && std::abs(determinant) > 1e-12 * size * size * size;
}

// Triangles of a primitive over its own vertices; points and lines have none.
std::vector<Vec3i> read_triangles(const GltfReading& reading, const JsonField& primitive,
                                  size_t vertices) {
  const auto mode_field = primitive.find("mode");
  const int64_t mode = mode_field ? mode_field->integer(0, 6) : 4;
  std::vector<uint32_t> corners;
  if (const auto indices = primitive.find("indices")) {
    corners = read_integer_accessor(reading.document, *indices, 1);
    for (const uint32_t c : corners)
      if (c >= vertices)
        indices->fail(fmt::format("index {} is past the last vertex {}", c, int64_t(vertices) - 1));
  } else {
    corners.resize(vertices);
    std::iota(corners.begin(), corners.end(), 0u);
  }
  std::vector<Vec3i> triangles;
  const auto add = [&](size_t a, size_t b, size_t c) {
    triangles.emplace_back(static_cast<int32_t>(corners[a]), static_cast<int32_t>(corners[b]),
                           static_cast<int32_t>(corners[c]));
  };
  if (mode == 4)
    for (size_t i = 0; i + 2 < corners.size(); i += 3) add(i, i + 1, i + 2);
  if (mode == 5)  // strip: every other triangle runs the other way round
    for (size_t i = 0; i + 2 < corners.size(); ++i) add(i, i + 1 + i % 2, i + 2 - i % 2);
  if (mode == 6)
    for (size_t i = 1; i + 1 < corners.size(); ++i) add(i, i + 1, 0);
  return triangles;
}

// One mesh instance being added to the character.
struct Instance {
  int joint = -1;
  int mesh = -1;
  const FileSkin* skin = nullptr;
  Affine to_rest = Affine::Identity();  // mesh space to model space in the bind pose
  int first_bind = 0;
};

void read_weights(GltfReading& reading, const JsonField& attributes, const Instance& instance,
                  size_t vertices) {
  Character& character = reading.character;
  if (!instance.skin) {
    const Influence whole{instance.first_bind, 1.0f};
    for (size_t v = 0; v < vertices; ++v)
      character.weights.add_vertex({&whole, 1}, instance.first_bind);
    return;
  }
  std::vector<std::vector<uint32_t>> joint_sets;
  std::vector<std::vector<float>> weight_sets;
  for (int set = 0; attributes.has(fmt::format("JOINTS_{}", set)); ++set) {
    const JsonField joints = attributes[fmt::format("JOINTS_{}", set)];
    const JsonField weights = attributes[fmt::format("WEIGHTS_{}", set)];
    joint_sets.push_back(read_integer_accessor(reading.document, joints, 4));
    weight_sets.push_back(read_float_accessor(reading.document, weights, 4));
    if (joint_sets.back().size() != 4 * vertices) joints.fail("has not one entry per vertex");
    if (weight_sets.back().size() != 4 * vertices) weights.fail("has not one entry per vertex");
  }
  std::vector<Influence> influences;
  int64_t unweighted = 0, uneven = 0;
  for (size_t v = 0; v < vertices; ++v) {
    influences.clear();
    for (size_t set = 0; set < joint_sets.size(); ++set)
      for (size_t i = 4 * v; i < 4 * v + 4; ++i) {
        const uint32_t joint = joint_sets[set][i];
        const float weight = weight_sets[set][i];
        if (weight <= 0) continue;
        if (joint >= instance.skin->joints.size())
          attributes[fmt::format("JOINTS_{}", set)].fail(
              fmt::format("vertex {}: joint {} is not one of the skin's {}", v, joint,
                          instance.skin->joints.size()));
        influences.push_back({instance.first_bind + static_cast<int32_t>(joint), weight});
      }
    unweighted += influences.empty();
    const double sum = character.weights.add_vertex(influences, instance.first_bind);
    uneven += !influences.empty() && std::abs(sum - 1) > 0.02;
  }
  if (uneven > 0)
    character.notes.push_back(
        fmt::format("weights of {} vertices of '{}' do not sum to one: they are scaled to do so",
                    uneven, character.parts.back().name));
  if (unweighted > 0)
    character.notes.push_back(
        fmt::format("{} vertices of '{}' have no weight: they follow the skin's first joint",
                    unweighted, character.parts.back().name));
}

// Keeps painted maps, colours and texture coordinates.
void read_attributes(GltfReading& reading, const JsonField& attributes, size_t first,
                     size_t vertices) {
  for (const auto& [name, unused] : attributes.value().items()) {
    const bool kept =
        name.starts_with("_") || name.starts_with("COLOR_") || name.starts_with("TEXCOORD_");
    if (!kept) continue;
    const JsonField field = attributes[name];
    const int components = accessor_components(reading.document, field);
    const std::vector<float> values = read_float_accessor(reading.document, field, components);
    if (values.size() != vertices * static_cast<size_t>(components))
      field.fail("has not one entry per vertex");
    auto& all = reading.character.attributes;
    auto found = std::find_if(all.begin(), all.end(), [&wanted = name](const VertexAttribute& a) {
      return a.name == wanted;
    });
    if (found == all.end()) found = all.insert(all.end(), VertexAttribute{name, components, {}});
    // Parts of one file may disagree (RGB and RGBA colours); the first decides, and what a part
    // lacks is 1 for colours and 0 for the rest.
    const auto width = static_cast<size_t>(found->components);
    const float filler = name.starts_with("COLOR_") ? 1.0f : 0.0f;
    found->values.resize((first + vertices) * width, filler);
    for (size_t v = 0; v < vertices; ++v)
      for (size_t c = 0; c < std::min(width, static_cast<size_t>(components)); ++c)
        found->values[(first + v) * width + c] = values[v * static_cast<size_t>(components) + c];
  }
}

void read_targets(GltfReading& reading, const JsonField& primitive, const Instance& instance,
                  size_t first, size_t vertices) {
  const auto targets = primitive.find("targets");
  if (!targets) return;
  const auto count =
      static_cast<size_t>(reading.shapes_of_joint[static_cast<size_t>(instance.joint)]);
  if (targets->size() != count)
    targets->fail(
        fmt::format("has {} entries, the mesh's first primitive {}", targets->size(), count));
  const Eigen::Matrix3f to_rest = instance.to_rest.linear().cast<float>();
  for (size_t t = 0; t < count; ++t) {
    const auto field = (*targets)[t].find("POSITION");
    if (!field) continue;
    const std::vector<Vec3f> offsets = to_vectors(read_float_accessor(reading.document, *field, 3));
    if (offsets.size() != vertices) field->fail("has not one entry per vertex");
    const int number =
        reading.first_shape_of_joint[static_cast<size_t>(instance.joint)] + static_cast<int>(t);
    BlendShape& shape = reading.character.shapes[static_cast<size_t>(number)];
    for (size_t v = 0; v < vertices; ++v)
      if (!offsets[v].isZero(0)) {
        shape.vertices.push_back(static_cast<int32_t>(first + v));
        shape.offsets.push_back(to_rest * offsets[v]);
      }
  }
}

void read_primitive(GltfReading& reading, const JsonField& primitive, size_t number,
                    const Instance& instance) {
  Character& character = reading.character;
  const JsonField attributes = primitive["attributes"].object();
  if (!attributes.has("POSITION"))
    return;  // the specification lets renderers skip such a primitive
  const std::vector<Vec3f> positions =
      to_vectors(read_float_accessor(reading.document, attributes["POSITION"], 3));
  const size_t first = character.skin.positions.size();
  if (first + positions.size() > most_vertices)
    primitive.fail(fmt::format("the scene has more than {} vertices", most_vertices));

  Part part;
  part.name = character.skeleton.joints[static_cast<size_t>(instance.joint)].name;
  part.joint = instance.joint;
  part.source_node = character.skeleton.joints[static_cast<size_t>(instance.joint)].source_node;
  part.source_mesh = instance.mesh;
  part.source_primitive = static_cast<int>(number);
  part.rigid = !instance.skin;
  if (const auto material = primitive.find("material")) {
    const JsonField materials = reading.document.fields()["materials"];
    const JsonField used =
        materials[static_cast<size_t>(material->index(materials.size(), "materials"))];
    if (const auto name = used.find("name")) part.material = name->text();
  }
  std::vector<Vec3i> triangles = read_triangles(reading, primitive, positions.size());
  // glTF 2.0, "Instantiation": a mirroring transform turns the triangles round.
  if (instance.to_rest.linear().determinant() < 0)
    for (Vec3i& t : triangles) std::swap(t[1], t[2]);
  part.vertices = {static_cast<int32_t>(first), static_cast<int32_t>(positions.size())};
  part.triangles = {static_cast<int32_t>(character.skin.triangles.size()),
                    static_cast<int32_t>(triangles.size())};
  for (const Vec3f& p : positions)
    character.skin.positions.push_back((instance.to_rest * p.cast<double>()).cast<float>());
  for (const Vec3i& t : triangles)
    character.skin.triangles.push_back(t + Vec3i::Constant(static_cast<int32_t>(first)));
  character.parts.push_back(std::move(part));
  read_weights(reading, attributes, instance, positions.size());
  read_attributes(reading, attributes, first, positions.size());
  read_targets(reading, primitive, instance, first, positions.size());
}

// Makes room for the blend shapes of a mesh instance, with names and rest weights.
void declare_shapes(GltfReading& reading, const JsonField& node, const JsonField& mesh, int joint) {
  const JsonField primitives = mesh["primitives"];
  const auto targets =
      primitives.size() > 0 ? primitives[size_t{0}].object().find("targets") : std::nullopt;
  const size_t count = targets ? targets->size() : 0;
  reading.first_shape_of_joint[static_cast<size_t>(joint)] =
      static_cast<int>(reading.character.shapes.size());
  reading.shapes_of_joint[static_cast<size_t>(joint)] = static_cast<int>(count);
  if (count == 0) return;
  auto weights = node.find("weights");
  if (!weights) weights = mesh.find("weights");
  if (weights && weights->size() != count)
    weights->fail(fmt::format("has {} entries for {} morph targets", weights->size(), count));
  const auto extras = mesh.find("extras");
  const auto names =
      extras && extras->value().is_object() ? extras->find("targetNames") : std::nullopt;
  for (size_t t = 0; t < count; ++t) {
    BlendShape shape;
    shape.name =
        names && names->value().is_array() && t < names->size() && (*names)[t].value().is_string()
            ? (*names)[t].text()
            : fmt::format("shape{}", t);
    shape.rest_weight = weights ? (*weights)[t].number() : 0;
    reading.character.shapes.push_back(std::move(shape));
  }
}

Box3f mesh_box(const GltfReading& reading, const JsonField& mesh) {
  Box3f box;
  const JsonField primitives = mesh["primitives"];
  for (size_t p = 0; p < primitives.size(); ++p)
    if (const auto position = primitives[p]["attributes"].find("POSITION"))
      box.extend(bounding_box(to_vectors(read_float_accessor(reading.document, *position, 3))));
  return box;
}

// Adds the binds of one mesh instance: those of its skin, or the one of the joint it hangs on.
void add_binds(GltfReading& reading, Instance& instance, const Box3f& box) {
  Character& character = reading.character;
  instance.first_bind = static_cast<int>(character.binds.size());
  instance.to_rest = instance.skin ? bind_space(reading, *instance.skin, box)
                                   : reading.rest[static_cast<size_t>(instance.joint)];
  if (!invertible(instance.to_rest)) instance.to_rest = Affine::Identity();
  const Affine from_rest = instance.to_rest.inverse();
  if (!instance.skin) {
    character.binds.push_back({instance.joint, from_rest});
    return;
  }
  for (size_t j = 0; j < instance.skin->joints.size(); ++j) {
    character.binds.push_back(
        {instance.skin->joints[j], instance.skin->inverse_bind[j] * from_rest});
    character.skeleton.joints[static_cast<size_t>(instance.skin->joints[j])].is_bone = true;
  }
}

}  // namespace

void read_gltf_meshes(GltfReading& reading) {
  const JsonField root = reading.document.fields();
  const JsonField nodes = root["nodes"];
  reading.first_shape_of_joint.assign(nodes.size(), -1);
  reading.shapes_of_joint.assign(nodes.size(), 0);
  std::vector<FileSkin> skins;
  if (const auto list = root.find("skins"))
    for (size_t s = 0; s < list->size(); ++s) skins.push_back(read_skin(reading, (*list)[s]));

  for (const int n : reading.node_order) {
    const JsonField node = nodes[static_cast<size_t>(n)];
    const auto mesh_index = node.find("mesh");
    if (!mesh_index) continue;
    const JsonField meshes = root["meshes"];
    Instance instance;
    instance.joint = reading.joint_of_node[static_cast<size_t>(n)];
    instance.mesh = mesh_index->index(meshes.size(), "meshes");
    const JsonField mesh = meshes[static_cast<size_t>(instance.mesh)];
    if (const auto skin = node.find("skin"))
      instance.skin = &skins[static_cast<size_t>(skin->index(skins.size(), "skins"))];
    add_binds(reading, instance, mesh_box(reading, mesh));
    declare_shapes(reading, node, mesh, instance.joint);
    const JsonField primitives = mesh["primitives"];
    for (size_t p = 0; p < primitives.size(); ++p)
      read_primitive(reading, primitives[p].object(), p, instance);
  }
  for (VertexAttribute& attribute : reading.character.attributes)
    attribute.values.resize(
        reading.character.skin.positions.size() * static_cast<size_t>(attribute.components),
        attribute.name.starts_with("COLOR_") ? 1.0f : 0.0f);
}

}  // namespace supple
