#include "supple/articulation/joint_torques.h"

#include <algorithm>

#include "supple/articulation/integrate.h"

namespace supple {
namespace {

// By how much a value is beyond its limits: negative below, positive above, else 0.
double excess(double value, double lower, double upper) {
  return value > upper ? value - upper : std::min(value - lower, 0.0);
}

// A stop that is a spring and a damper while it is pressed, and does not pull.
double stop(double beyond, double rate, const JointPassive& passive) {
  if (beyond == 0) return 0;
  const double torque = -passive.limit_stiffness * beyond - passive.limit_damping * rate;
  return beyond > 0 ? std::min(torque, 0.0) : std::max(torque, 0.0);
}

// The rotation vector from a ball joint's rest to where it is, in the bone's axes.
Vec3d turn_from_rest(const ArticulatedBone& bone, const ArticulatedState& state) {
  const Quatd now(Eigen::Vector4d(state.q.segment<4>(bone.q)));
  return rotation_vector(bone.passive.rest_turn.conjugate() * now);
}

Vec3d ball_torque(const ArticulatedBone& bone, const ArticulatedState& state) {
  const JointPassive& passive = bone.passive;
  const Vec3d v = state.v.segment<3>(bone.v), turn = turn_from_rest(bone, state);
  Vec3d torque = -passive.stiffness * turn - passive.damping * v;
  const double angle = turn.norm();
  if (angle > passive.upper[0]) {
    const Vec3d axis = turn / angle;
    torque += stop(angle - passive.upper[0], axis.dot(v), passive) * axis;
  }
  return torque;
}

}  // namespace

void add_passive_torques(const ArticulatedBody& body, const ArticulatedState& state,
                         Eigen::VectorXd& torques) {
  for (const ArticulatedBone& bone : body.bones()) {
    if (bone.joint == JointType::free || bone.joint == JointType::fixed) continue;
    if (bone.joint == JointType::ball) {
      torques.segment<3>(bone.v) += ball_torque(bone, state);
      continue;
    }
    const JointPassive& passive = bone.passive;
    for (int k = 0; k < bone.v_count; ++k) {
      const auto at = static_cast<size_t>(k);
      const double q = state.q[bone.q + k], v = state.v[bone.v + k];
      torques[bone.v + k] += -passive.stiffness * (q - passive.rest[at]) - passive.damping * v +
                             stop(excess(q, passive.lower[at], passive.upper[at]), v, passive);
    }
  }
}

void add_passive_resistances(const ArticulatedBody& body, const ArticulatedState& state, double h,
                             Eigen::VectorXd& resistances) {
  for (const ArticulatedBone& bone : body.bones()) {
    if (bone.joint == JointType::free || bone.joint == JointType::fixed) continue;
    const JointPassive& passive = bone.passive;
    const double own = h * (passive.damping + h * passive.stiffness);
    const double stopped = h * (passive.limit_damping + h * passive.limit_stiffness);
    const bool ball = bone.joint == JointType::ball;
    const bool turned_far = ball && turn_from_rest(bone, state).norm() > passive.upper[0];
    for (int k = 0; k < bone.v_count; ++k) {
      const auto at = static_cast<size_t>(k);
      const bool beyond =
          ball ? turned_far
               : excess(state.q[bone.q + k], passive.lower[at], passive.upper[at]) != 0;
      resistances[bone.v + k] += own + (beyond ? stopped : 0);
    }
  }
}

double passive_energy(const ArticulatedBody& body, const ArticulatedState& state) {
  double sum = 0;
  const auto add = [&sum](const JointPassive& passive, double stretch, double beyond) {
    sum += (passive.stiffness * stretch * stretch + passive.limit_stiffness * beyond * beyond) / 2;
  };
  for (const ArticulatedBone& bone : body.bones()) {
    if (bone.joint == JointType::free || bone.joint == JointType::fixed) continue;
    const JointPassive& passive = bone.passive;
    if (bone.joint == JointType::ball) {
      const double angle = turn_from_rest(bone, state).norm();
      add(passive, angle, std::max(angle - passive.upper[0], 0.0));
      continue;
    }
    for (int k = 0; k < bone.v_count; ++k) {
      const auto at = static_cast<size_t>(k);
      const double q = state.q[bone.q + k];
      add(passive, q - passive.rest[at], excess(q, passive.lower[at], passive.upper[at]));
    }
  }
  return sum;
}

void add_servo_torque(const ArticulatedBody& body, const ArticulatedState& state,
                      const Servo& servo, std::span<const double> target_q,
                      std::span<const double> target_v, Eigen::VectorXd& torques) {
  const ArticulatedBone& bone = body.bone(servo.bone);
  std::array<double, 6> error{};
  joint_difference(bone.joint, state.q.data() + bone.q, target_q.data(), error.data());
  for (int k = 0; k < bone.v_count; ++k) {
    const auto at = static_cast<size_t>(k);
    const double rate = (target_v.empty() ? 0 : target_v[at]) - state.v[bone.v + k];
    torques[bone.v + k] += std::clamp(servo.stiffness * error[at] + servo.damping * rate,
                                      -servo.greatest, servo.greatest);
  }
}

}  // namespace supple
