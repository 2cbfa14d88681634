#include "supple/sim/flesh_rig.h"

#include <algorithm>

#include "supple/core/error.h"
#include "supple/math/smooth_step.h"
#include "supple/rig/bind_pose.h"
#include "supple/rig/joint_names.h"
#include "supple/sim/node_weights.h"

namespace supple {
namespace {

// How thick the flesh on a skull is, relative to how deep the head is.
constexpr double scalp = 0.4;

// The distance of every cell from the nearest one outside, in cells: passes there and back over the
// grid with the lengths of the steps to neighbours, right to a few percent.
std::vector<float> distances_out(const VoxelGrid& grid) {
  const auto far = static_cast<float>(grid.size.sum());
  std::vector<float> distance(grid.cells(), 0);
  const auto sweep = [&](size_t i, int sign) {
    if (grid.kinds[i] == CellKind::outside) return;
    const Vec3i cell = grid.cell(i);
    for (int n = 0; n < 13; ++n) {
      // The 13 neighbours that come before a cell in order.
      const Vec3i step = sign * Vec3i(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1);
      const Vec3i other = cell + step;
      const float there = grid.has(other) ? distance[grid.index(other)] : 0;
      distance[i] = std::min(distance[i], there + step.cast<float>().norm());
    }
  };
  for (size_t i = 0; i < distance.size(); ++i)
    if (grid.kinds[i] != CellKind::outside) distance[i] = far;
  for (size_t i = 0; i < distance.size(); ++i) sweep(i, 1);
  for (size_t i = distance.size(); i-- > 0;) sweep(i, -1);
  return distance;
}

}  // namespace

FleshRig::FleshRig(const Character& character, const FleshSkin& skin, const SolidLattice& solid,
                   const LatticeMesh& mesh, const AttachSettings& settings, const std::string& file)
    : m_character(character),
      m_skin(skin),
      m_solid(solid),
      m_mesh(mesh),
      m_file(file),
      m_samples(skin.mesh, solid.spacing),
      m_weights(node_weights(solid, mesh, m_samples.points(),
                             m_samples.weights(character.weights, skin.vertex_of_point),
                             character.binds.size())),
      m_inside(voxelise(skin.mesh.positions, skin.mesh.triangles, {.spacing = solid.spacing})),
      m_way_out(distances_out(m_inside)) {
  find_bones(settings);
  find_skulls();
  use_meshes(settings);
}

double FleshRig::way_out(const Vec3d& rest) const {
  const Vec3i cell = m_inside.cell_at(rest);
  if (!m_inside.has(cell)) return 0;
  // The skin lies about in the middle of the last cells.
  return std::max(0.0, static_cast<double>(m_way_out[m_inside.index(cell)]) - 1) * m_solid.spacing;
}

// Heads are skulls with a little flesh on them: all that is deep in what follows the head alone.
void FleshRig::find_skulls() {
  for (FleshBone& bone : m_bones) {
    if (!is_head(m_character.skeleton.joints[static_cast<size_t>(bone.shape.joint)].name)) continue;
    double deepest = 0;
    for (size_t n = 0; n < m_mesh.nodes.size(); ++n) {
      if (say_of(bone.shape.joint, n) < 1) continue;
      const LatticePlace& node = m_mesh.nodes[n];
      deepest = std::max(
          deepest, way_out(m_solid.position(m_solid.lattice.coordinates(node.block, node.local))));
    }
    bone.skull = scalp * deepest;
  }
}

double FleshRig::beyond(const FleshBone& bone, size_t node, const Vec3d& rest) const {
  const double surface = bone.distance(rest);
  if (bone.skull <= 0 || say_of(bone.shape.joint, node) < 1) return surface;
  return std::min(surface, bone.skull - way_out(rest));
}

void FleshRig::find_bones(const AttachSettings& settings) {
  for (BoneShape shape : bone_shapes(m_character, m_skin.mesh.positions, m_inside, 1)) {
    FleshBone bone;
    bone.hold = settings.hold;
    bone.stiffness = settings.stiffness;
    double thickness = settings.thickness;
    for (size_t i = 0; i < settings.bones.size(); ++i) {
      const BoneSettings& own = settings.bones[i];
      if (m_character.skeleton.require(
              own.joint, m_file, fmt::format("body.attach.bones[{}].joint", i)) != shape.joint)
        continue;
      if (own.hold != BoneHold::same) bone.hold = own.hold;
      bone.stiffness = own.stiffness.value_or(bone.stiffness);
      thickness = own.thickness.value_or(thickness);
    }
    shape.radius *= thickness;
    bone.shape = shape;
    bone.surface = RoundConeShape{shape.from, shape.to, shape.radius, shape.radius};
    m_bones.push_back(bone);
  }
}

// A mesh takes the place of all capsules of its joint.
void FleshRig::use_meshes(const AttachSettings& settings) {
  const std::vector<int32_t> binds = binds_by_joint(m_character);
  for (size_t i = 0; i < settings.bones.size(); ++i) {
    const BoneSettings& own = settings.bones[i];
    const std::string here = fmt::format("body.attach.bones[{}]", i);
    const int joint = m_character.skeleton.require(own.joint, m_file, here + ".joint");
    if (!own.mesh) continue;
    const int32_t bind = binds[static_cast<size_t>(joint)];
    if (bind < 0)
      throw_input_error(m_file, here + ".file",
                        fmt::format("no skin follows the joint '{}', so that it can have no bone",
                                    printable(own.joint)));
    std::erase_if(m_bones, [&](const FleshBone& bone) { return bone.shape.joint == joint; });
    FleshBone bone;
    bone.shape.joint = joint;
    bone.shape.bind = bind;
    bone.hold = own.hold == BoneHold::same ? settings.hold : own.hold;
    bone.stiffness = own.stiffness.value_or(settings.stiffness);
    // Distances are needed for a cell beyond the surface, and more for materials that depend on it.
    constexpr double reach = 4;
    LevelSetOptions options;
    Box3f box = bounding_box(own.mesh->positions);
    options.voxel = std::max(static_cast<double>(box.sizes().maxCoeff()) / 96, m_solid.spacing / 8);
    options.band = std::max(3.0, reach * m_solid.spacing / options.voxel);
    try {
      bone.surface = LevelSet(own.mesh->positions, own.mesh->triangles, options);
    } catch (const Error& error) {
      throw_input_error(m_file, here + ".file", error.what());
    }
    bone.shape.from = bone.shape.to = box.center().cast<double>();
    m_bones.push_back(bone);
  }
}

std::vector<float> FleshRig::share_of(std::span<const std::string> joints,
                                      const std::string& field) const {
  std::vector<bool> chosen(m_character.skeleton.size(), false);
  for (const std::string& name : joints)
    chosen[static_cast<size_t>(m_character.skeleton.require(name, m_file, field))] = true;
  std::vector<float> share(m_mesh.nodes.size(), 0);
  for (size_t n = 0; n < share.size(); ++n)
    for (const Influence& i : m_weights.of(n))
      if (chosen[static_cast<size_t>(m_character.binds[static_cast<size_t>(i.bind)].joint)])
        share[n] += i.weight;
  return share;
}

std::vector<float> FleshRig::to_nodes(std::span<const float> of_points) const {
  return spread_to_nodes(m_solid, m_mesh, m_samples.points(), m_samples.values(of_points), 1);
}

std::vector<float> FleshRig::painted(const std::string& attribute, const std::string& field) const {
  const VertexAttribute* painted = m_character.attribute(attribute);
  if (painted == nullptr) {
    std::vector<std::string> names;
    for (const VertexAttribute& a : m_character.attributes) names.push_back(a.name);
    throw_input_error(m_file, field,
                      fmt::format("the character has no attribute '{}'{}", printable(attribute),
                                  suggestion(attribute, names)));
  }
  std::vector<float> values;
  for (const int32_t vertex : m_skin.vertex_of_point)
    values.push_back(
        painted->values[static_cast<size_t>(vertex) * static_cast<size_t>(painted->components)]);
  return values;
}

double FleshRig::say_of(int joint, size_t node) const {
  // A joint may have several binds, one for each part of the skin.
  const auto weight_of = [&](int wanted) {
    float sum = 0;
    for (const Influence& i : m_weights.of(node))
      if (m_character.binds[static_cast<size_t>(i.bind)].joint == wanted) sum += i.weight;
    return sum;
  };
  float most = 0;
  for (const Influence& i : m_weights.of(node))
    most = std::max(most, weight_of(m_character.binds[static_cast<size_t>(i.bind)].joint));
  return most > 0 ? smooth_step(static_cast<double>(weight_of(joint) / most) * 2 - 1) : 0;
}

}  // namespace supple
