// Bones as narrow round shapes inside the flesh: what flesh holds on to.
#pragma once

#include <span>

#include "supple/rig/bones.h"
#include "supple/rig/character.h"

namespace supple {

/// A capsule in the bind pose, in model space, that moves with a joint.
struct BoneShape {
  int joint = 0;
  int32_t bind = 0;  ///< of the character
  Vec3d from = Vec3d::Zero(), to = Vec3d::Zero();
  double radius = 0;

  /// Distance of a point from the axis, in length units.
  double axis_distance(const Vec3d& point) const;

  /// Length of the axis.
  double length() const { return (to - from).norm(); }
};

/// The bones of a character: every joint that carries skin has one to each joint below it, as thick
/// as `thickness` times the distance of its axis from the skin at the narrowest place in its middle
/// part. Joints that carry skin but have no bone there (a jaw, the last of a tail) get one
/// through the middle of the vertices that mainly follow them, from the joint as far as the flesh
/// goes, or a ball there where the joint lies outside the flesh. `flesh` is the skin around
/// the solid.
std::vector<BoneShape> bone_shapes(const Character& character, std::span<const Vec3f> flesh,
                                   const VoxelGrid& solid, double thickness);

}  // namespace supple
