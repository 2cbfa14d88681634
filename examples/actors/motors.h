// Joints as dynamics of bones needs them: which way each turns, and how far.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "modelling/armature.h"
#include "supple/rig/character.h"

namespace supple::actors {

/// How far a joint may turn about one axis, in degrees from the bind pose.
struct TurnLimits {
  double least = 0;
  double most = 0;
};

/// How a joint of the skeleton moves: what a scene with dynamics of bones needs to know of it.
struct ActorJoint {
  std::string joint;               ///< name in the skeleton
  std::string type;                ///< "free", "hinge" or "universal"
  std::vector<Vec3d> axes;         ///< unit vectors in model axes, in the bind pose: 0, 1 or 2
  std::vector<TurnLimits> limits;  ///< one per axis
};

/// Degrees of freedom of all joints together: 6 of a free one, else one per axis.
int degrees_of_freedom(std::span<const ActorJoint> joints);

/// Joints that are added to an armature and to the list of a scene's joints alike.
class Motors {
 public:
  /// Adds the root at a place in the model (metres): free to move as it likes.
  void add_root(const std::string& name, const Vec3d& place);

  /// Adds a joint that turns about named axes.
  void add(const std::string& name, const std::string& parent, const Vec3d& place,
           const std::vector<modelling::Freedom>& turns, const std::vector<TurnLimits>& limits);

  const modelling::Armature& armature() const { return m_armature; }
  const std::vector<ActorJoint>& joints() const { return m_joints; }

 private:
  modelling::Armature m_armature;
  std::vector<ActorJoint> m_joints;
};

/// A bone's number and how much of a vertex it carries.
using BoneShares = std::vector<std::pair<int, double>>;

/// Puts a skin on motors: all joints are bones, and every vertex is shared out among them.
void rig(Character& character, const Motors& motors, std::span<const BoneShares> shares);

}  // namespace supple::actors
