// Recursive hybrid dynamics of articulated bodies [Kim 2011, section 5, table I], after
// [Featherstone 1987]: every joint has either its acceleration prescribed or its torque given, and
// the other one is found, in time proportional to the number of bones. All torques given is forward
// dynamics, all accelerations prescribed inverse dynamics.
//
// Where table I works in each bone's own frame, this works in the world's axes about each bone's
// own origin: inertias of children move to their parents without being turned, and joints that
// turn have no linear part. Accelerations are those of points (of origins), not of table I's
// components, so that they can be used as they are. Loops and contacts are not handled.
#pragma once

#include <Eigen/Core>

#include <span>
#include <vector>

#include "supple/articulation/kinematics.h"

namespace supple {

/// What joints are told to do, and what acts on the bones. Spans that are empty stand for zeros.
struct JointCommands {
  std::span<const uint8_t> prescribed;    ///< per bone: not 0 where accelerations count, 0 torques
  std::span<const double> accelerations;  ///< as v; read at prescribed joints only, rad/s², m/s²
  std::span<const double> torques;        ///< as v; read at the other joints only, N m, N
  /// Per bone what acts on it from outside: torque about the bone's origin and force, in the
  /// world's axes.
  std::span<const Wrench> wrenches;
  /// m/s²; to have none, leave it out, as Eigen leaves `{}` without a value.
  Vec3d gravity = Vec3d::Zero();
  /// As v: torque per acceleration with which joints whose torque is given resist it, kg m² (kg).
  /// With h times a damping and h² times a stiffness, torques of dampers and springs are taken at
  /// the end of a step of h seconds, and no step is too long for them.
  std::span<const double> resistances = {};
};

/// What comes of it.
struct DynamicsResult {
  Eigen::VectorXd accelerations, torques;  ///< of all joints, as v
  std::vector<Twist> bones;                ///< angular acceleration, and that of the bone's origin
  /// What acts on each bone through its joint: torque about the bone's origin and force, in the
  /// world's axes.
  std::vector<Wrench> reactions;
  /// A bone whose joint moves no mass in this pose, or -1. Such a joint is held: it has no
  /// acceleration relative to its parent, and the torque that takes.
  int singular_bone = -1;
};

/// Solves for accelerations and torques; owns all the memory it needs. The body must outlive it.
class HybridDynamics {
 public:
  explicit HybridDynamics(const ArticulatedBody& body);

  /// Moves the bones to a state, for solve(); quaternions must be of unit length.
  std::span<const BoneMotion> move(const ArticulatedState& state);

  /// Accelerations and torques in the state of the last move(); what is returned lasts until the
  /// next solve().
  const DynamicsResult& solve(const JointCommands& commands);

  /// Both in one.
  const DynamicsResult& solve(const ArticulatedState& state, const JointCommands& commands) {
    move(state);
    return solve(commands);
  }

  /// The bones in the state of the last move().
  std::span<const BoneMotion> motions() const { return m_motions; }

  /// What the last solve() returned.
  const DynamicsResult& result() const { return m_result; }

 private:
  friend struct JointAlgebra;

  // A degree of freedom taken out of an articulated inertia.
  struct Freedom {
    Vec3d axis;      // in the world
    Wrench carried;  // the inertia's product with it
    double inverse;  // of the inertia along it
    double own;      // acceleration along it if the parent had none
  };
  // Of one bone; symbols of [Kim 2011, table II].
  struct Work {
    SpatialInertia inertia;  // Ĵ
    Wrench bias;             // B
    Twist drift;             // η, and with it S q̈ where that is prescribed
    Freedom freedom[2];      // of hinge, prismatic and universal joints
    Factored3d factors;      // of Ĵ's angular part, of ball joints
    Mat3d inverse;           // of Ĵ's angular part with what resists, of such a ball joint
    Vec3d own;               // acceleration of a ball joint if the parent had none
    bool resists;            // of a ball joint
    bool prescribed;         // or held, as it is singular
  };

  void prepare(const JointCommands& commands);
  void gather(std::span<const double> resistances);
  void accelerate(const Vec3d& gravity);

  const ArticulatedBody* m_body;
  std::vector<BoneMotion> m_motions;
  Eigen::VectorXd m_velocities;
  std::vector<Work> m_work;
  DynamicsResult m_result;
};

/// The numbers of a vector, as JointCommands takes them.
inline std::span<const double> numbers(const Eigen::VectorXd& x) {
  return {x.data(), static_cast<size_t>(x.size())};
}

}  // namespace supple
