// Direct control of a skeleton [Kim 2011, section 7]: a bone is wanted somewhere, and the joints
// are told the accelerations, or torques, that bring it there as well as physics allows. What a
// bone does is linear in what the joints do, at any instant: hybrid dynamics, asked once per active
// joint number, gives the coefficients, and bounded least squares the commands.
#pragma once

#include <Eigen/Core>

#include <vector>

#include "supple/articulation/hybrid_dynamics.h"

namespace supple {

/// Where a bone is wanted.
struct BoneGoal {
  size_t bone = 0;
  Vec3d point = Vec3d::Zero();     ///< of the bone, in its frame, m
  Vec3d position = Vec3d::Zero();  ///< where that point shall be, m
  Vec3d velocity = Vec3d::Zero();  ///< and how fast it shall move, m/s
  bool turns = false;              ///< whether the orientation is wanted too
  Quatd orientation = Quatd::Identity();
  double frequency = 3;  ///< how quickly, in Hz: a critically damped spring
  /// All joints' numbers, as q, that they go back to as far as the bone leaves it open, half as
  /// quickly; empty for none.
  Eigen::VectorXd posture;
};

/// What joints may do.
struct ControlLimits {
  double acceleration = 2000;  ///< of a joint number, rad/s² (m/s²), at most
  double torque = 50;          ///< N m (N), at most
  double velocity = 20;        ///< rad/s (m/s), at most
  /// Weight of the commands' squares against the bone's. Small ones let a straight chain of bones
  /// throw itself about for a millimetre along it, which no joint can give at once.
  double effort = 0.02;
};

/// Finds commands for the active joints of a body.
class DirectControl {
 public:
  /// `active` tells the bones whose joints may be driven; those of free joints never are.
  DirectControl(const ArticulatedBody& body, std::vector<uint8_t> active, bool by_torque,
                const ControlLimits& limits);

  /// Commands for a step of h seconds, written to those of the active joints in `accelerations` or
  /// `torques`. `commands` is all else that acts in the step; `dynamics` must have been moved to
  /// `state`.
  void find(const ArticulatedState& state, const BoneGoal& goal, const JointCommands& commands,
            double h, HybridDynamics& dynamics, Eigen::VectorXd& accelerations,
            Eigen::VectorXd& torques);

  /// Which joints have their acceleration prescribed: those active, unless torques drive them.
  std::span<const uint8_t> prescribed() const { return m_prescribed; }

 private:
  Eigen::VectorXd bone_acceleration(const BoneGoal& goal, const JointCommands& commands,
                                    HybridDynamics& dynamics) const;
  void bounds_of(const ArticulatedState& state, double h);
  Eigen::VectorXd ease(const ArticulatedState& state, const BoneGoal& goal) const;

  const ArticulatedBody* m_body;
  std::vector<uint8_t> m_active, m_prescribed;
  bool m_by_torque;
  ControlLimits m_limits;
  std::vector<int> m_numbers;  // of v, that are driven
  std::vector<size_t> m_bone_of_number;
  Eigen::MatrixXd m_gain;
  Eigen::VectorXd m_lower, m_upper;
};

}  // namespace supple
