// How flesh is tied to a rig. Every node of the lattice is drawn to where the bones that hold it
// would put it: strongly inside the shapes of bones, weakly everywhere (to where plain skinning
// would put it), and strongly again where the scene wants no flesh. All of that is one spring per
// node, to a blend of joint motions, which is skinning of the nodes.
#pragma once

#include "supple/rig/skinning.h"
#include "supple/sim/flesh_rig.h"

namespace supple {

/// What an attachment is made from, beside the rig.
struct AttachmentInput {
  std::span<const Vec3d> rest;     ///< places of the nodes
  std::span<const double> masses;  ///< of the nodes, in kg
  std::span<const double> young;   ///< around the nodes, in simulation units
};

/// The springs between flesh and rig.
class Attachment {
 public:
  /// Throws an input error when the scene names a joint or attribute there is not.
  Attachment(const FleshRig& rig, const AttachmentInput& input, const BodySettings& settings);

  /// Where the rig wants the nodes when its joint-to-model matrices are `joints`.
  void targets(std::span<const Affine> joints, std::span<Vec3f> out) const;

  /// Where plain skinning would carry points of the flesh from one pose to another: applies the
  /// blended motion of each node between the two to `nodes`.
  void carry(std::span<const Affine> before, std::span<const Affine> after,
             std::span<Vec3d> nodes) const;

  /// How far the rig has turned the flesh at every node since the bind pose.
  void rotations(std::span<const Affine> joints, std::span<Mat3d> out) const;

  /// Stiffness of every node's spring, in newtons per metre.
  std::span<const double> stiffness() const { return m_stiffness; }

  /// Nodes that are part of a bone when these hold hard.
  std::span<const int32_t> held() const { return m_held; }

  /// How much of each point of the skin is flesh, from 0 (follows the rig) to 1; empty when all is.
  std::span<const float> flesh() const { return m_flesh; }

 private:
  void map_flesh(const FleshRig& rig, const FleshSettings& map);

  std::vector<Bind> m_binds;
  SkinWeights m_weights;  // of the nodes
  std::unique_ptr<Skinner> m_skinner;
  std::vector<Vec3f> m_rest;
  std::vector<double> m_stiffness;
  std::vector<int32_t> m_held;
  std::vector<float> m_flesh;
};

}  // namespace supple
