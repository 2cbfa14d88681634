#include "supple/adjust/inertia_scaling.h"

#include <algorithm>

#include "supple/core/parallel.h"
#include "supple/math/polar.h"

namespace supple {
namespace {

// Frames that turn by less than this (rad/s, and rad/s² of change) do not turn: equilibria are
// known to some digits only.
constexpr double slowest = 1e-4;

// Second differences of a deformation gradient over a step, and turns in it (rad), up to which a
// frame is smooth, and from which on it is none; volumes likewise.
constexpr double smooth_bend = 0.5, jump = 1.5;
constexpr double sound_volume = 0.3, flat_volume = 0.1;

double smoothness(const Mat3d& f, const Mat3d& ddf, const NodeTurn& turn, double h) {
  const double bend = std::max(ddf.norm() * h * h, turn.rate.norm() * h);
  const double even = std::clamp((jump - bend) / (jump - smooth_bend), 0.0, 1.0);
  const double room =
      std::clamp((f.determinant() - flat_volume) / (sound_volume - flat_volume), 0.0, 1.0);
  return std::min(even, room);
}

}  // namespace

InertiaScaling::InertiaScaling(NodeGradients gradients, std::vector<double> masses,
                               std::vector<double> epsilon, DampingFrame damping, bool fade_jumps)
    : m_gradients(std::move(gradients)),
      m_masses(std::move(masses)),
      m_epsilon(std::move(epsilon)),
      m_trust(m_masses.size(), 1),
      m_damping(damping),
      m_fade_jumps(fade_jumps),
      m_frames((m_masses.size() + turn_block - 1) / turn_block) {
  for (size_t n = 0; n < m_masses.size(); ++n) {
    set_turn(n, NodeTurn());
    m_frames[n / turn_block].masses[n % turn_block] = m_masses[n];
  }
  set_epsilon(std::vector<double>(m_epsilon));
}

void InertiaScaling::set_epsilon(std::span<const double> epsilon) {
  m_epsilon.assign(epsilon.begin(), epsilon.end());
  m_acts = m_damping == DampingFrame::moving ||
           std::ranges::any_of(m_epsilon, [](double e) { return e != 1; });
  set_shares();
}

// What scaling makes of accelerations and of the frames' motion.
void InertiaScaling::set_shares() {
  for (size_t n = 0; n < m_masses.size(); ++n) {
    const double left = 1 - m_epsilon[n];
    const double part = m_damping == DampingFrame::still    ? 0
                        : m_damping == DampingFrame::moving ? 1
                                                            : left;
    FrameBlock& block = m_frames[n / turn_block];
    block.force[n % turn_block] = m_trust[n] * left * m_masses[n];
    block.damping[n % turn_block] = m_trust[n] * part;
  }
}

NodeTurn InertiaScaling::frame(size_t node) const {
  const FrameBlock& block = m_frames[node / turn_block];
  const size_t at = node % turn_block;
  NodeTurn turn;
  if (m_equilibrium && m_gradients.reaches(node))
    turn.rotation = rotation_of_matter(m_gradients.at(node, m_equilibrium->position.data()));
  for (int k = 0; k < 3; ++k) {
    turn.rate[k] = block.rates[k][at];
    turn.change[k] = block.changes[k][at];
  }
  return turn;
}

void InertiaScaling::set_turn(size_t node, const NodeTurn& turn) {
  FrameBlock& block = m_frames[node / turn_block];
  const size_t at = node % turn_block;
  for (int k = 0; k < 3; ++k) {
    block.rates[k][at] = turn.rate[k];
    block.changes[k][at] = turn.change[k];
  }
}

void InertiaScaling::move_frames(const Moving<BodyVector>& equilibrium, double h) {
  m_equilibrium = &equilibrium;
  const int turning = parallel_reduce(
      m_masses.size(), turn_block, 0,
      [&](size_t begin, size_t end) { return turn_frames(begin, end, h); }, std::plus<>());
  m_turns = turning > 0;
  if (m_fade_jumps) set_shares();
}

// The frames of a block of nodes; returns how many of them turn.
int InertiaScaling::turn_frames(size_t begin, size_t end, double h) {
  GradientBlock gradients;
  FrameBlock& block = m_frames[begin / turn_block];
  const double* fields[] = {m_equilibrium->position.data(), m_equilibrium->velocity.data(),
                            m_equilibrium->acceleration.data()};
  m_gradients.of_three(fields, begin, end, turn_row, gradients.rows[0]);
  find_turns(gradients, block, end - begin);
  int count = 0;
  for (size_t n = begin; n < end; ++n) {
    const size_t at = n - begin;
    const auto matrix = [&](size_t first) {
      Mat3d m;
      for (size_t k = 0; k < 9; ++k)
        m(static_cast<Eigen::Index>(k / 3), static_cast<Eigen::Index>(k % 3)) =
            gradients.rows[first + k][at];
      return m;
    };
    if (!m_gradients.reaches(n))
      set_turn(n, NodeTurn());
    else if (!(gradients.sound[at] > 0))
      set_turn(n, node_turn(matrix(0), matrix(9), matrix(18)));
    if (m_fade_jumps && m_gradients.reaches(n))
      m_trust[n] = smoothness(matrix(0), matrix(18), frame(n), h);
    double rate = 0, change = 0;
    for (size_t c = 0; c < 3; ++c) {
      rate += block.rates[c][at] * block.rates[c][at];
      change += block.changes[c][at] * block.changes[c][at];
    }
    count += rate > slowest * slowest || change > slowest * slowest;
  }
  return count;
}

bool InertiaScaling::scale(const StageStart<BodyVector>& stage, const BodyVector& x,
                           const BodyVector& outer, const BodyVector& before, double counts,
                           BodyVector& forces, BodyVector& reference) const {
  const Moving<BodyVector>& p = *m_equilibrium;
  const StageNodes nodes{.p = p.position.data(),
                         .v = p.velocity.data(),
                         .a = p.acceleration.data(),
                         .x = x.data(),
                         .still = stage.still.data(),
                         .rate = stage.rate,
                         .outer = outer.data(),
                         .before = before.data(),
                         .counts = counts,
                         .forces = forces.data(),
                         .reference = reference.data()};
  return parallel_reduce(
             m_masses.size(), turn_block, 0,
             [&](size_t begin, size_t end) {
               const FrameBlock& block = m_frames[begin / turn_block];
               return static_cast<int>(scale_forces(block, begin, end - begin, nodes));
             },
             std::plus<>()) > 0;
}

void InertiaScaling::displacements(const BodyVector& x, BodyVector& q) const {
  for (size_t n = 0; n < m_masses.size(); ++n) {
    const Vec3d away = x.node(n) - m_equilibrium->position.node(n);
    q.node(n) = frame(n).rotation.transpose() * away;
  }
}

BodyVector five_point_acceleration(std::span<const BodyVector> p, double h) {
  BodyVector result;
  result = (-p[4] + 16 * p[3] - 30 * p[2] + 16 * p[1] - p[0]) / (12 * h * h);
  return result;
}

BodyVector five_point_velocity(std::span<const BodyVector> p, double h) {
  BodyVector result;
  result = (-p[4] + 8 * p[3] - 8 * p[1] + p[0]) / (12 * h);
  return result;
}

}  // namespace supple
