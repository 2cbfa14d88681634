#include "supple/adjust/inertia_scaling.h"

#include <algorithm>

#include "supple/adjust/turn_kernels.h"
#include "supple/core/parallel.h"

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
      m_frames(m_masses.size()) {
  const BodyVector zero = BodyVector::Zero(static_cast<Eigen::Index>(3 * m_masses.size()));
  m_equilibrium = {zero, zero, zero};
  m_side_by_side.assign(fields_stride * m_masses.size(), 0);
  set_epsilon(std::vector<double>(m_epsilon));
}

void InertiaScaling::set_epsilon(std::span<const double> epsilon) {
  m_epsilon.assign(epsilon.begin(), epsilon.end());
  m_acts = m_damping == DampingFrame::moving ||
           std::ranges::any_of(m_epsilon, [](double e) { return e != 1; });
}

void InertiaScaling::move_frames(const Moving<BodyVector>& equilibrium, double h) {
  m_equilibrium = equilibrium;
  for (size_t n = 0; n < m_masses.size(); ++n) {
    double* to = &m_side_by_side[fields_stride * n];
    Eigen::Map<Vec3d>{to} = equilibrium.position.node(n);
    Eigen::Map<Vec3d>{to + 3} = equilibrium.velocity.node(n);
    Eigen::Map<Vec3d>{to + 6} = equilibrium.acceleration.node(n);
  }
  const int turning = parallel_reduce(
      m_masses.size(), turn_block, 0,
      [&](size_t begin, size_t end) { return turn_frames(begin, end, h); }, std::plus<>());
  m_turns = turning > 0;
}

// The frames of some nodes; returns how many of them turn.
int InertiaScaling::turn_frames(size_t begin, size_t end, double h) {
  int count = 0;
  TurnBlock block;
  for (size_t first = begin; first < end; first += turn_block) {
    const size_t last = std::min(end, first + turn_block);
    m_gradients.of_three(m_side_by_side.data(), first, last, turn_block, block.gradients[0]);
    find_turns(block, last - first);
    for (size_t n = first; n < last; ++n) {
      if (!m_gradients.reaches(n)) continue;
      const size_t at = n - first;
      const auto matrix = [at](const double(*rows)[turn_block]) {
        Mat3d m;
        for (int k = 0; k < 9; ++k) m(k / 3, k % 3) = rows[k][at];
        return m;
      };
      const auto vector = [at](const double(*rows)[turn_block]) {
        return Vec3d(rows[0][at], rows[1][at], rows[2][at]);
      };
      const Mat3d f = matrix(block.gradients), ddf = matrix(block.gradients + 18);
      NodeTurn& turn = m_frames[n];
      turn = block.sound[at] > 0
                 ? NodeTurn{matrix(block.rotations), vector(block.rates), vector(block.changes)}
                 : node_turn(f, matrix(block.gradients + 9), ddf);
      if (m_fade_jumps) m_trust[n] = smoothness(f, ddf, turn, h);
      count += turn.rate.norm() > slowest || turn.change.norm() > slowest;
    }
  }
  return count;
}

// With ω of the frame: R̈ Rᵀ = [ω̇]× + [ω]×², Ṙ Ṙᵀ = -[ω]×², Ṙ Rᵀ = [ω]×.
void InertiaScaling::add_forces(const BodyVector& x, const BodyVector& v,
                                BodyVector& forces) const {
  for (size_t n = 0; n < m_masses.size(); ++n) {
    if (m_epsilon[n] == 1) continue;
    Vec3d acceleration = m_equilibrium.acceleration.node(n);
    if (m_turns) {
      const Vec3d &w = m_frames[n].rate, away = x.node(n) - m_equilibrium.position.node(n);
      acceleration += m_frames[n].change.cross(away) - w.cross(w.cross(away)) +
                      2 * w.cross(Vec3d(v.node(n) - m_equilibrium.velocity.node(n)));
    }
    forces.node(n) += m_trust[n] * (1 - m_epsilon[n]) * m_masses[n] * acceleration;
  }
}

void InertiaScaling::set_reference(const BodyVector& x, BodyVector& reference) const {
  for (size_t n = 0; n < m_masses.size(); ++n) {
    const double part = m_damping == DampingFrame::still    ? 0
                        : m_damping == DampingFrame::moving ? 1
                                                            : 1 - m_epsilon[n];
    Vec3d carried = m_equilibrium.velocity.node(n);
    if (m_turns)
      carried += m_frames[n].rate.cross(Vec3d(x.node(n) - m_equilibrium.position.node(n)));
    reference.node(n) = m_trust[n] * part * carried;
  }
}

void InertiaScaling::displacements(const BodyVector& x, BodyVector& q) const {
  for (size_t n = 0; n < m_masses.size(); ++n)
    q.node(n) =
        m_frames[n].rotation.transpose() * Vec3d(x.node(n) - m_equilibrium.position.node(n));
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
