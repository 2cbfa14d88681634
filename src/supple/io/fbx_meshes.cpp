#include "supple/io/fbx_meshes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "supple/core/error.h"
#include "supple/io/fbx_corners.h"

namespace supple::fbx {
namespace {

// How far matrices may differ, relative to their size, and still be taken as the same.
constexpr double same_matrix = 1e-4;

// FBX weights are percentages; sums off by more than this are worth a note.
constexpr double weight_sum_tolerance = 0.01;

bool nearly_equal(const Affine& a, const Affine& b) {
  const double size = std::max(a.matrix().norm(), b.matrix().norm());
  return (a.matrix() - b.matrix()).norm() <= same_matrix * size;
}

bool is_invertible(const Affine& matrix) {
  return matrix.linear().determinant() != 0 && matrix.inverse().matrix().allFinite();
}

// Reads meshes onto nodes, one part each.
class MeshReader {
 public:
  MeshReader(const aiScene& scene, const Tree& tree, const Affine& to_model, std::string_view file,
             Character& character)
      : m_scene(scene),
        m_tree(tree),
        m_to_model(to_model),
        m_file(file),
        m_out(character),
        m_globals(global_matrices(tree.skeleton, rest_pose(tree.skeleton))) {
    for (const Affine& global : m_globals)
      if (!global.matrix().allFinite())
        throw_input_error(file, "node transform", "a product of transforms is not finite");
  }

  std::vector<ShapeGroup> read() {
    for (size_t j = 0; j < m_tree.nodes.size(); ++j) read_node(static_cast<int>(j));
    finish_attributes();
    mark_bones();
    write_notes();
    return std::move(m_groups);
  }

 private:
  void read_node(int joint) {
    const aiNode& node = *m_tree.nodes[joint].node;
    if (node.mNumMeshes > 0 && !node.mMeshes)
      throw_input_error(m_file, "node", "a list of meshes is missing");
    std::vector<std::string> geometries;
    for (unsigned i = 0; i < node.mNumMeshes; ++i) {
      const unsigned number = node.mMeshes[i];
      if (number >= m_scene.mNumMeshes || !m_scene.mMeshes || !m_scene.mMeshes[number])
        throw_input_error(m_file, "node", fmt::format("mesh {} does not exist", number));
      const aiMesh& mesh = *m_scene.mMeshes[number];
      const std::string name(mesh.mName.data, mesh.mName.length);
      const auto known = std::find(geometries.begin(), geometries.end(), name);
      const auto geometry = static_cast<int>(known - geometries.begin());
      if (known == geometries.end()) geometries.push_back(name);
      read_mesh(mesh, static_cast<int>(number), joint, geometry);
    }
  }

  // From a mesh's own space (geometric offset applied) to the rest pose in model space. A skin
  // whose bones agree about where the tree's rest pose puts it rests there; otherwise the tree is
  // not in bind pose, and the skin rests where its own node is.
  Affine mesh_to_rest(const aiMesh& mesh, int joint) {
    const Affine& own = m_globals[joint];
    std::optional<Affine> agreed;
    bool agree = true;
    for (unsigned b = 0; b < mesh.mNumBones && agree; ++b) {
      const int bone = joint_of(*mesh.mBones[b]);
      if (bone < 0) continue;
      const Affine there = m_globals[bone] * offset_of(*mesh.mBones[b]);
      agree = !agreed || nearly_equal(*agreed, there);
      if (!agreed) agreed = there;
    }
    Affine chosen = agreed && agree && !nearly_equal(*agreed, own) ? *agreed : own;
    if (is_invertible(chosen)) return chosen;
    ++m_flattened;
    return m_to_model;
  }

  Affine offset_of(const aiBone& bone) const {
    return to_affine(bone.mOffsetMatrix, m_file, "bind matrix");
  }

  // The joint a bone names, or -1.
  int joint_of(const aiBone& bone) const {
    const auto found = m_tree.places.find(std::string(bone.mName.data, bone.mName.length));
    return found == m_tree.places.end() || found->second.factor >= 0 ? -1 : found->second.joint;
  }

  void read_mesh(const aiMesh& mesh, int number, int joint, int geometry) {
    const Corners corners(mesh, m_file);
    m_other_faces += corners.other_faces();
    if (corners.triangles().empty()) return;
    const size_t first = m_out.skin.positions.size();
    const size_t first_triangle = m_out.skin.triangles.size();
    constexpr size_t most = std::numeric_limits<int32_t>::max() / 4;
    if (first + corners.vertices().size() > most ||
        first_triangle + corners.triangles().size() > most)
      throw_input_error(m_file, "mesh", "the meshes have too many vertices or triangles together");
    Part part;
    part.name = m_out.skeleton.joints[joint].name;
    part.material = material_name(mesh.mMaterialIndex);
    part.joint = joint;
    part.source_mesh = number;
    part.source_primitive = 0;
    part.vertices = {static_cast<int32_t>(first), static_cast<int32_t>(corners.vertices().size())};
    part.triangles = {static_cast<int32_t>(first_triangle),
                      static_cast<int32_t>(corners.triangles().size())};
    const Affine to_rest = mesh_to_rest(mesh, joint);
    const Affine placed = to_rest * m_tree.nodes[joint].geometric;
    part.rigid = !add_weights(mesh, corners, to_rest.inverse(), joint);
    add_surface(corners, placed, part);
    add_attributes(mesh, corners);
    add_shapes(mesh, corners, placed, {joint, geometry, {}, 0, 0}, part);
    m_out.parts.push_back(std::move(part));
  }

  std::string material_name(unsigned index) const {
    if (index >= m_scene.mNumMaterials || !m_scene.mMaterials || !m_scene.mMaterials[index])
      return {};
    const aiString name = m_scene.mMaterials[index]->GetName();
    return {name.data, name.length};
  }

  void add_surface(const Corners& corners, const Affine& placed, const Part& part) {
    for (const int32_t corner : corners.vertices()) {
      const Vec3f point = (placed * corners.position(corner).cast<double>()).cast<float>();
      if (!point.allFinite()) throw_input_error(m_file, "position", "is out of range");
      m_out.skin.positions.push_back(point);
    }
    // A mirroring transform turns triangles inside out; swapping two corners turns them back.
    const bool mirrored = placed.linear().determinant() < 0;
    for (const Vec3i& triangle : corners.triangles()) {
      Vec3i t;
      for (int k = 0; k < 3; ++k) t[k] = part.vertices.first + corners.vertex_of()[triangle[k]];
      if (mirrored) std::swap(t[1], t[2]);
      m_out.skin.triangles.push_back(t);
    }
  }

  // Returns whether any vertex follows a bone; those that do not follow the mesh's own node.
  bool add_weights(const aiMesh& mesh, const Corners& corners, const Affine& from_rest, int joint) {
    std::vector<int32_t> binds(mesh.mNumBones, -1);
    for (unsigned b = 0; b < mesh.mNumBones; ++b) {
      const int bone = joint_of(*mesh.mBones[b]);
      if (bone >= 0)
        binds[b] = find_bind(bone, offset_of(*mesh.mBones[b]) * from_rest);
      else
        ++m_lost_bones;
    }
    bool skinned = false;
    std::vector<Influence> given;
    for (const int32_t corner : corners.vertices()) {
      given.clear();
      bool followed = false;
      for (const CornerWeight& weight : corners.weights(corner)) {
        if (binds[weight.bone] < 0) continue;
        given.push_back({binds[weight.bone], weight.weight});
        followed |= weight.weight > 0;
      }
      const int32_t fallback = followed ? 0 : find_bind(joint, from_rest);
      const double sum = m_out.weights.add_vertex(given, fallback);
      if (mesh.mNumBones > 0 && !followed) ++m_unweighted;
      if (followed && std::abs(sum - 1) > weight_sum_tolerance) ++m_rescaled;
      skinned |= followed;
    }
    return skinned;
  }

  int32_t find_bind(int joint, const Affine& rest_to_joint) {
    if (!rest_to_joint.matrix().allFinite())
      throw_input_error(m_file, "bind matrix", "a number is not finite");
    std::array<double, 12> key;
    for (int i = 0; i < 12; ++i) key[i] = rest_to_joint(i / 4, i % 4);
    const auto [found, is_new] =
        m_bind_numbers.try_emplace({joint, key}, static_cast<int32_t>(m_out.binds.size()));
    if (is_new) m_out.binds.push_back({joint, rest_to_joint});
    return found->second;
  }

  // Texture coordinates with v upwards become glTF's, with v downwards.
  void add_attributes(const aiMesh& mesh, const Corners& corners) {
    for (const int32_t corner : corners.vertices()) {
      const aiVector3D* uv = mesh.mTextureCoords[0];
      m_uv.push_back(uv ? uv[corner].x : 0);
      m_uv.push_back(uv ? 1 - uv[corner].y : 0);
      const aiColor4D* colour = mesh.mColors[0];
      const aiColor4D c = colour ? colour[corner] : aiColor4D(1, 1, 1, 1);
      m_colour.insert(m_colour.end(), {c.r, c.g, c.b, c.a});
    }
    m_has_uv |= mesh.mTextureCoords[0] != nullptr;
    m_has_colour |= mesh.mColors[0] != nullptr;
  }

  void finish_attributes() {
    if (m_has_uv) m_out.attributes.push_back({"TEXCOORD_0", 2, std::move(m_uv)});
    if (m_has_colour) m_out.attributes.push_back({"COLOR_0", 4, std::move(m_colour)});
  }

  // Assimp cuts a mesh by material; its pieces have the same shapes and share them here.
  void add_shapes(const aiMesh& mesh, const Corners& corners, const Affine& placed,
                  ShapeGroup group, const Part& part) {
    if (mesh.mNumAnimMeshes == 0) return;
    group.count = static_cast<int>(mesh.mNumAnimMeshes);
    group.mesh_name = std::string(mesh.mName.data, mesh.mName.length);
    const bool continues = !m_groups.empty() && m_groups.back().joint == group.joint &&
                           m_groups.back().geometry == group.geometry &&
                           m_groups.back().count == group.count;
    if (continues) {
      group = m_groups.back();
    } else {
      group.first_shape = static_cast<int>(m_out.shapes.size());
      m_groups.push_back(group);
      for (unsigned s = 0; s < mesh.mNumAnimMeshes; ++s) {
        const aiString& name = mesh.mAnimMeshes[s]->mName;
        m_out.shapes.push_back({std::string(name.data, name.length), {}, {}, 0});
      }
    }
    for (unsigned s = 0; s < mesh.mNumAnimMeshes; ++s) {
      BlendShape& shape = m_out.shapes[static_cast<size_t>(group.first_shape) + s];
      for (size_t v = 0; v < corners.vertices().size(); ++v) {
        const Vec3f offset = corners.shape_offset(s, corners.vertices()[v]);
        if (offset.isZero(0)) continue;
        const Vec3f moved = (placed.linear() * offset.cast<double>()).cast<float>();
        if (!moved.allFinite()) throw_input_error(m_file, "shape offset", "is out of range");
        shape.vertices.push_back(part.vertices.first + static_cast<int32_t>(v));
        shape.offsets.push_back(moved);
      }
    }
  }

  void mark_bones() {
    for (const Influence& influence : m_out.weights.influences)
      m_out.skeleton.joints[m_out.binds[influence.bind].joint].is_bone = true;
  }

  void note(size_t count, std::string_view what) {
    if (count > 0) m_out.notes.push_back(fmt::format("{} {}", count, what));
  }

  void write_notes() {
    note(m_other_faces, "points and lines were left out");
    note(m_lost_bones, "bones of skins name no node of the file and were left out");
    note(m_unweighted, "vertices of skins have no weight and follow the node of their mesh");
    note(m_rescaled, "vertices had weights that do not sum to one and were scaled to it");
    note(m_flattened, "meshes have a scale of zero and rest at their own coordinates");
  }

  const aiScene& m_scene;
  const Tree& m_tree;
  Affine m_to_model;
  std::string_view m_file;
  Character& m_out;
  std::vector<Affine> m_globals;
  std::map<std::pair<int, std::array<double, 12>>, int32_t> m_bind_numbers;
  std::vector<ShapeGroup> m_groups;
  std::vector<float> m_uv, m_colour;
  bool m_has_uv = false, m_has_colour = false;
  size_t m_other_faces = 0, m_lost_bones = 0, m_unweighted = 0, m_rescaled = 0, m_flattened = 0;
};

}  // namespace

std::vector<ShapeGroup> add_meshes(const aiScene& scene, const Tree& tree, const Affine& to_model,
                                   std::string_view file, Character& character) {
  return MeshReader(scene, tree, to_model, file, character).read();
}

}  // namespace supple::fbx
