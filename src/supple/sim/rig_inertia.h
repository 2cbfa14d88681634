// What backward Euler steps of bodies on a rig draw their nodes to: the minimum of elastic energy
// and |x - (x0 + dt v0)|² m / (2 dt²), of the springs to the rig, and of damping of what moves
// relative to it. All of that is one pull per node.
#pragma once

#include "supple/sim/flesh_model.h"

namespace supple {

/// Stiffness of what pulls at nodes, in newtons per metre: the rig, and in a step of `dt` seconds
/// (0 for none) inertia and damping (parts per second, of motion relative to the rig).
std::vector<double> pull_stiffness(const FleshModel& model, double damping, double dt);

/// Velocities of a rigid motion about the centre of mass, in metres and radians per second; held
/// nodes have none.
void rigid_velocities(const FleshModel& model, std::span<const Vec3d> positions,
                      const Vec3d& velocity, const Vec3d& spin, std::span<Vec3d> out);

/// A step of a body.
struct RigInertia {
  const FleshModel& model;
  double damping;                         ///< of motion relative to the rig, parts per second
  double dt;                              ///< seconds
  std::span<const Vec3f> targets;         ///< where the rig wants the nodes
  std::span<const Vec3f> targets_before;  ///< where it wanted them

  /// Sets velocities to those of the rig.
  void take_speed(std::span<Vec3d> velocities) const;

  /// Where pulls of pull_stiffness() draw nodes that were at `before`. `guess` is where the rig
  /// carries them, and becomes where they would be next.
  void set_goals(std::span<const Vec3d> before, std::span<const Vec3d> velocities,
                 std::span<Vec3d> goals, std::span<Vec3d> guess) const;
};

}  // namespace supple
