#include "supple/sim/rig_inertia.h"

namespace supple {

std::vector<double> pull_stiffness(const FleshModel& model, double damping, double dt) {
  std::vector<double> stiffness(model.masses.size(), 0);
  for (size_t n = 0; n < stiffness.size(); ++n) {
    if (model.attachment) stiffness[n] = model.attachment->stiffness()[n];
    if (dt > 0)
      stiffness[n] += model.masses[n] / (dt * dt) * (1 + (model.attachment ? dt * damping : 0));
  }
  return stiffness;
}

void rigid_velocities(const FleshModel& model, std::span<const Vec3d> positions,
                      const Vec3d& velocity, const Vec3d& spin, std::span<Vec3d> out) {
  Vec3d centre = Vec3d::Zero();
  double mass = 0;
  for (size_t n = 0; n < positions.size(); ++n) {
    centre += model.masses[n] * positions[n];
    mass += model.masses[n];
  }
  centre /= mass;
  for (size_t n = 0; n < positions.size(); ++n)
    out[n] = velocity + spin.cross(positions[n] - centre);
  for (const ScriptedNodes& group : model.fixed)
    for (const int32_t node : group.nodes) out[static_cast<size_t>(node)].setZero();
}

void RigInertia::take_speed(std::span<Vec3d> velocities) const {
  for (size_t n = 0; n < velocities.size(); ++n)
    velocities[n] = (targets[n] - targets_before[n]).cast<double>() / dt;
}

void RigInertia::set_goals(std::span<const Vec3d> before, std::span<const Vec3d> velocities,
                           std::span<Vec3d> goals, std::span<Vec3d> guess) const {
  for (size_t n = 0; n < before.size(); ++n) {
    if (!model.attachment) {
      goals[n] = guess[n] = before[n] + dt * velocities[n];
      continue;
    }
    const Vec3d shift = (targets[n] - targets_before[n]).cast<double>();
    const double inertia = model.masses[n] / (dt * dt);
    const double spring = model.attachment->stiffness()[n], drag = inertia * dt * damping;
    goals[n] = (inertia * (before[n] + dt * velocities[n]) + spring * targets[n].cast<double>() +
                drag * (before[n] + shift)) /
               (inertia + spring + drag);
    guess[n] += dt * velocities[n] - shift;
  }
}

}  // namespace supple
