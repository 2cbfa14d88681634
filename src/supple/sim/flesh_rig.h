// The rig as flesh meets it in the bind pose: which joints every node of the lattice follows, where
// the bones are, and how much the scene's maps catch of every place.
#pragma once

#include "supple/contact/collider_shapes.h"
#include "supple/mesh/lattice_mesh.h"
#include "supple/rig/bone_shapes.h"
#include "supple/sim/flesh_skin.h"
#include "supple/sim/scene.h"
#include "supple/sim/skin_samples.h"

namespace supple {

/// A bone in the flesh: a capsule, or a mesh of the user's.
struct FleshBone {
  BoneShape shape;  ///< joint and bind; the capsule where there is no mesh
  ColliderShape surface;
  BoneHold hold = BoneHold::soft;
  double stiffness = 0;  ///< of its hold, relative to the flesh's own
  double skull = 0;      ///< of a head: how far below the skin all is bone, in metres; else 0

  /// Distance of a point at rest from the surface, negative inside.
  double distance(const Vec3d& rest) const {
    return std::visit([&](const auto& s) { return s.distance(rest); }, surface);
  }
};

/// What a rig is to a lattice.
class FleshRig {
 public:
  /// For a rigged character and the lattice in its skin, which must outlive it. Throws an input
  /// error naming `file` when the scene names a joint there is not.
  FleshRig(const Character& character, const FleshSkin& skin, const SolidLattice& solid,
           const LatticeMesh& mesh, const AttachSettings& settings, const std::string& file);

  /// Which binds the nodes follow, from the skin's weights.
  const SkinWeights& weights() const { return m_weights; }

  /// The bones, in the bind pose.
  std::span<const FleshBone> bones() const { return m_bones; }

  /// How much every node follows the joints with these names, from 0 to 1; `field` names the list
  /// in messages.
  std::vector<float> share_of(std::span<const std::string> joints, const std::string& field) const;

  /// Numbers given per point of the skin, carried to all nodes.
  std::vector<float> to_nodes(std::span<const float> of_points) const;

  /// What a vertex attribute says at every point of the skin; `field` names it in messages.
  std::vector<float> painted(const std::string& attribute, const std::string& field) const;

  /// How much a joint's bone has a say at a node, from 0 to 1: nothing where the skin follows
  /// others more than twice as much, so that bones that cross (handles, helpers) do not tear at
  /// each other's flesh.
  double say_of(int joint, size_t node) const;

  /// How far a place at rest is from the nearest place outside the flesh, in metres, to within a
  /// cell.
  double way_out(const Vec3d& rest) const;

  /// How far a node at `rest` lies beyond what a bone holds, in metres; negative inside.
  double beyond(const FleshBone& bone, size_t node, const Vec3d& rest) const;

  /// The lattice, its numbers, the skin and the character.
  const SolidLattice& solid() const { return m_solid; }
  const LatticeMesh& mesh() const { return m_mesh; }
  const FleshSkin& skin() const { return m_skin; }
  const Character& character() const { return m_character; }
  /// The scene file, for messages.
  const std::string& file() const { return m_file; }

 private:
  void find_bones(const AttachSettings& settings);
  void use_meshes(const AttachSettings& settings);
  void find_skulls();

  const Character& m_character;
  const FleshSkin& m_skin;
  const SolidLattice& m_solid;
  const LatticeMesh& m_mesh;
  std::string m_file;
  SkinSamples m_samples;
  SkinWeights m_weights;
  std::vector<FleshBone> m_bones;
  VoxelGrid m_inside;
  std::vector<float> m_way_out;  // from the cells of m_inside, in cells
};

}  // namespace supple
