// A skeleton with dynamics: rigid bones in a tree (or several), tied by joints [Kim 2011, section
// 5]. ArticulatedBody is the model, constant once built; ArticulatedState holds where its joints
// are and how fast they move. Loops of bones are not handled.
//
// Numbers of a joint, in a state (q, v) and in accelerations and torques (as v):
//
//   type       q                                  v
//   free       position in the world (m),         angular velocity in the bone's axes (rad/s),
//              orientation as quaternion x y z w  velocity of its origin in the world's axes (m/s)
//   ball       quaternion x y z w                 angular velocity relative to the parent, in the
//                                                 bone's axes (rad/s)
//   universal  angles about axis, then axis2 (rad)   their rates (rad/s)
//   hinge      angle about axis (rad)             its rate (rad/s)
//   prismatic  length along axis (m)              its rate (m/s)
//   fixed      none                               none
//
// A bone's frame coincides with its joint's frame where the joint's numbers are zero (for
// quaternions: identity). Axes are given in the joint's frame; axis2 turns with the first angle.
#pragma once

#include <Eigen/Core>

#include <array>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "supple/math/spatial.h"

namespace supple {

/// How a bone may move relative to its parent.
enum class JointType : uint8_t { free, ball, universal, hinge, prismatic, fixed };

/// Numbers in q of a joint of that type.
int position_numbers(JointType type);

/// Numbers in v of a joint of that type: its degrees of freedom.
int velocity_numbers(JointType type);

/// A joint's limits, spring and damper. Two numbers are for the two angles of a universal joint;
/// others use the first. Units are rad and N m, of prismatic joints m and N.
struct JointPassive {
  static constexpr double unlimited = std::numeric_limits<double>::infinity();

  /// Least and greatest values; of a ball joint `upper[0]` is the greatest angle from `rest_turn`.
  std::array<double, 2> lower{-unlimited, -unlimited}, upper{unlimited, unlimited};
  double limit_stiffness = 0, limit_damping = 0;  ///< of the stops behind the limits
  double stiffness = 0;                           ///< of the spring
  std::array<double, 2> rest{0, 0};               ///< where the spring rests
  Quatd rest_turn = Quatd::Identity();            ///< where a ball joint's spring rests
  double damping = 0;
};

/// What a bone is made from.
struct BoneDescription {
  std::string name;
  int parent = -1;  ///< index of the parent, smaller than the bone's own; -1 for the world
  JointType joint = JointType::fixed;
  /// Unit axes in the joint's frame, those of a universal joint at right angles.
  Vec3d axis = Vec3d::UnitZ(), axis2 = Vec3d::UnitX();
  /// The joint's frame in the parent's frame (m); of a free joint where it starts in the world.
  Vec3d position = Vec3d::Zero();
  Quatd orientation = Quatd::Identity();
  double mass = 0;                ///< kg
  Vec3d centre = Vec3d::Zero();   ///< centre of mass in the bone's frame, m
  Mat3d inertia = Mat3d::Zero();  ///< about the centre of mass, in the bone's axes, kg m²
  JointPassive passive;
};

/// A bone of a model: its description and where its numbers lie in q and v.
struct ArticulatedBone : BoneDescription {
  int q = 0, v = 0;  ///< first number in a state's q and v
  int q_count = 0, v_count = 0;
};

/// What dynamics reads of a bone, close together.
struct BoneConstants {
  Mat3d frame;     // rotation of the joint's frame in the parent's
  Vec3d position;  // of it, m
  Vec3d axis, axis2;
  Vec3d centre;         // m
  Symmetric3d inertia;  // about the bone's origin, in its axes, kg m²
  double mass;          // kg
  int32_t parent, q, v;
  JointType joint;
};

/// Bones and joints, constant once built.
class ArticulatedBody {
 public:
  ArticulatedBody() = default;

  /// Builds the body; throws an input error that names the bone where a description is wrong, or
  /// where a joint moves nothing that has mass.
  explicit ArticulatedBody(const std::vector<BoneDescription>& bones);

  /// Number of bones, and of their joints.
  size_t size() const { return m_bones.size(); }

  /// Numbers in a state's q.
  int position_numbers() const { return m_position_numbers; }

  /// Numbers in a state's v: degrees of freedom.
  int velocity_numbers() const { return m_velocity_numbers; }

  /// One bone.
  const ArticulatedBone& bone(size_t index) const { return m_bones[index]; }

  /// All bones, parents first.
  std::span<const ArticulatedBone> bones() const { return m_bones; }

  /// What dynamics reads of the bones.
  std::span<const BoneConstants> constants() const { return m_constants; }

  /// Index of the bone of that name, or -1.
  int find(std::string_view name) const;

  /// Mass of all bones, kg.
  double mass() const { return m_mass; }

 private:
  std::vector<ArticulatedBone> m_bones;
  std::vector<BoneConstants> m_constants;
  int m_position_numbers = 0, m_velocity_numbers = 0;
  double m_mass = 0;
};

/// About how much inertia the joint of a bone moves at rest, kg m²: that of the bone and of all
/// that hangs on it, about the joint, as a mean over all axes. `bones` have their parents before
/// them and joint frames that are not turned.
double hanging_inertia(std::span<const BoneDescription> bones, size_t bone);

/// Where the joints are, and how fast they move.
struct ArticulatedState {
  Eigen::VectorXd q, v;
};

/// The state at rest with all joints at zero, and free ones where their frames are.
ArticulatedState rest_state(const ArticulatedBody& body);

/// Whether all numbers of a state are finite. Nothing here checks this by itself: numbers that are
/// not finite, or too large to square, come out as they come.
bool is_finite(const ArticulatedState& state);

}  // namespace supple
