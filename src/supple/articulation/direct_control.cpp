#include "supple/articulation/direct_control.h"

#include <cmath>
#include <numbers>

#include "supple/articulation/integrate.h"

namespace supple {
namespace {

// Least squares |G u - b|² + e |u|² between bounds, one number after another; convex, so that it
// ends at the one minimum.
void bounded_least_squares(const Eigen::MatrixXd& gain, const Eigen::VectorXd& wanted,
                           double effort, const Eigen::VectorXd& lower,
                           const Eigen::VectorXd& upper, Eigen::VectorXd& u) {
  const Eigen::MatrixXd normal = gain.transpose() * gain;
  const Eigen::VectorXd right = gain.transpose() * wanted;
  const double scale = normal.trace() / static_cast<double>(std::max<Eigen::Index>(u.size(), 1));
  // Without bounds in the way this is it.
  Eigen::MatrixXd damped = normal;
  damped.diagonal().array() += effort * scale + 1e-300;
  u = damped.ldlt().solve(right);
  if ((u.array() >= lower.array()).all() && (u.array() <= upper.array()).all()) return;
  u = u.cwiseMax(lower).cwiseMin(upper);
  for (int sweep = 0; sweep < 200; ++sweep) {
    double change = 0;
    for (Eigen::Index i = 0; i < u.size(); ++i) {
      const double rest = right[i] - damped.row(i).dot(u) + damped(i, i) * u[i];
      const double next = std::clamp(rest / damped(i, i), lower[i], upper[i]);
      change = std::max(change, std::abs(next - u[i]));
      u[i] = next;
    }
    if (change < 1e-6 * (1 + u.lpNorm<Eigen::Infinity>())) break;
  }
}

}  // namespace

DirectControl::DirectControl(const ArticulatedBody& body, std::vector<uint8_t> active,
                             bool by_torque, const ControlLimits& limits)
    : m_body(&body),
      m_active(std::move(active)),
      m_prescribed(body.size(), 0),
      m_by_torque(by_torque),
      m_limits(limits) {
  for (size_t b = 0; b < body.size(); ++b) {
    if (body.bone(b).joint == JointType::free) m_active[b] = 0;
    if (!m_active[b]) continue;
    m_prescribed[b] = by_torque ? 0 : 1;
    for (int i = 0; i < body.bone(b).v_count; ++i) {
      m_numbers.push_back(body.bone(b).v + i);
      m_bone_of_number.push_back(b);
    }
  }
}

// How a goal's point, and bone, accelerate: three or six numbers.
Eigen::VectorXd DirectControl::bone_acceleration(const BoneGoal& goal,
                                                 const JointCommands& commands,
                                                 HybridDynamics& dynamics) const {
  const DynamicsResult& result = dynamics.solve(commands);
  const BoneMotion& bone = dynamics.motions()[goal.bone];
  const Twist& acceleration = result.bones[goal.bone];
  Eigen::VectorXd out(goal.turns ? 6 : 3);
  out.head<3>() = acceleration_at(bone, acceleration, bone.point(goal.point));
  if (goal.turns) out.tail<3>() = acceleration.angular;
  return out;
}

// Accelerations that keep velocities and positions within their limits over the step: near a limit
// a joint may approach it only as fast as it can still brake.
void DirectControl::bounds_of(const ArticulatedState& state, double h) {
  const auto count = static_cast<Eigen::Index>(m_numbers.size());
  const double most = m_by_torque ? m_limits.torque : m_limits.acceleration;
  m_lower.setConstant(count, -most);
  m_upper.setConstant(count, most);
  if (m_by_torque) return;
  for (Eigen::Index k = 0; k < count; ++k) {
    const auto number = static_cast<size_t>(k);
    const ArticulatedBone& bone = m_body->bone(m_bone_of_number[number]);
    const double v = state.v[m_numbers[number]];
    double slowest = -m_limits.velocity, fastest = m_limits.velocity;
    if (bone.joint != JointType::ball) {
      const auto i = static_cast<size_t>(m_numbers[number] - bone.v);
      const double q = state.q[bone.q + static_cast<int>(i)];
      const auto braking = [&](double room) {
        return room > 0 ? std::min(std::sqrt(most * room), room / h) : room / h;
      };
      fastest = std::min(fastest, braking(bone.passive.upper[i] - q));
      slowest = std::max(slowest, -braking(q - bone.passive.lower[i]));
    }
    m_upper[k] = std::clamp((fastest - v) / h, -most, most);
    m_lower[k] = std::clamp((slowest - v) / h, -most, m_upper[k]);
  }
}

// What joints would do without a goal, where accelerations drive them: they are braked, or would go
// on turning where the bone does not care, and go back to their posture.
Eigen::VectorXd DirectControl::ease(const ArticulatedState& state, const BoneGoal& goal) const {
  Eigen::VectorXd eased = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(m_numbers.size()));
  if (m_by_torque) return eased;
  const double w = std::numbers::pi * goal.frequency;
  Eigen::VectorXd away = Eigen::VectorXd::Zero(state.v.size());
  if (goal.posture.size() > 0) away = difference(*m_body, state.q, goal.posture);
  for (size_t k = 0; k < m_numbers.size(); ++k)
    eased[static_cast<Eigen::Index>(k)] =
        w * w * away[m_numbers[k]] - 2 * w * state.v[m_numbers[k]];
  return eased;
}

void DirectControl::find(const ArticulatedState& state, const BoneGoal& goal,
                         const JointCommands& commands, double h, HybridDynamics& dynamics,
                         Eigen::VectorXd& accelerations, Eigen::VectorXd& torques) {
  if (m_numbers.empty()) return;
  Eigen::VectorXd& driven = m_by_torque ? torques : accelerations;
  for (const int n : m_numbers) driven[n] = 0;
  JointCommands own = commands;
  own.accelerations = numbers(accelerations);
  own.torques = numbers(torques);
  const Eigen::VectorXd without = bone_acceleration(goal, own, dynamics);
  const auto count = static_cast<Eigen::Index>(m_numbers.size());
  m_gain.resize(without.size(), count);
  for (Eigen::Index k = 0; k < count; ++k) {
    driven[m_numbers[static_cast<size_t>(k)]] = 1;
    m_gain.col(k) = bone_acceleration(goal, own, dynamics) - without;
    driven[m_numbers[static_cast<size_t>(k)]] = 0;
  }
  // A critically damped spring to the goal: a* = ω² (x* - x) + 2 ω (v* - v).
  const BoneMotion& bone = dynamics.motions()[goal.bone];
  const double w = 2 * std::numbers::pi * goal.frequency;
  const Vec3d at = bone.point(goal.point);
  Eigen::VectorXd wanted(without.size());
  wanted.head<3>() = w * w * (goal.position - at) + 2 * w * (goal.velocity - bone.velocity_at(at));
  if (goal.turns) {
    const Eigen::AngleAxisd turn(goal.orientation * Quatd(bone.rotation).conjugate());
    double angle = turn.angle();
    if (angle > std::numbers::pi) angle -= 2 * std::numbers::pi;
    wanted.tail<3>() = w * w * angle * turn.axis() - 2 * w * bone.velocity.angular;
    // Turns count as much as the way of a point a tenth of a metre off the axis.
    m_gain.bottomRows(3) *= 0.1;
    wanted.tail<3>() = 0.1 * (wanted.tail<3>() - without.tail<3>());
    wanted.head<3>() -= without.head<3>();
  } else {
    wanted -= without;
  }
  bounds_of(state, h);
  const Eigen::VectorXd eased = ease(state, goal);
  Eigen::VectorXd u = Eigen::VectorXd::Zero(count);
  bounded_least_squares(m_gain, wanted - m_gain * eased, m_limits.effort, m_lower - eased,
                        m_upper - eased, u);
  u += eased;
  for (Eigen::Index k = 0; k < count; ++k) driven[m_numbers[static_cast<size_t>(k)]] = u[k];
}

}  // namespace supple
