#include "supple/voxels/voxel_system.h"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "supple/core/parallel.h"
#include "supple/voxels/rigid_balance.h"

namespace supple {
namespace {

// Below this part of its volume a cell is taken to be tangled, the more the less of it is left; a
// corner may be sharper.
constexpr float tangled = 0.2f, tangled_corner = 0.1f;

// Corners with less than this part of their cell's mass do not count, as if they were that large.
constexpr double least_corner = 0.03;
constexpr float no_volume = 1e30f;

// Groups of cells, and nodes, that are worked on at a time.
constexpr size_t groups_per_block = 8, nodes_per_block = 2048;

// Pulls below this part of the stiffness leave soft parts to the cells, which are then inverted.
constexpr double weak_pulls = 0.01;

// Added to the diagonal of cells before they are inverted: a free one resists no rigid motion.
constexpr double least_pull = 1e-5;

void store_matrix(const Matrix24& matrix, size_t cell, std::vector<float>& groups) {
  float* to = groups.data() + cell / cell_group * matrix_group + cell % cell_group;
  for (int i = 0; i < 24; ++i)
    for (int j = 0; j < 24; ++j)
      to[static_cast<size_t>(24 * i + j) * cell_group] = static_cast<float>(matrix(i, j));
}

}  // namespace

VoxelSystem::VoxelSystem(const LatticeMesh& mesh, double spacing,
                         std::span<const CellMatrices> cells)
    : m_nodes(mesh.nodes.size()),
      m_cells(cells.size()),
      m_groups((cells.size() + cell_group - 1) / cell_group),
      m_spacing(spacing),
      m_corners(m_groups * 8 * cell_group, 0),
      m_stiffness(m_groups * matrix_group, 0),
      m_edges(m_groups * edge_group, 0.25f),
      m_empty(m_groups * corner_group, no_volume),
      m_frames(m_groups * frame_group, 0),
      m_volumes(m_groups * cell_group, 0),
      m_products(m_groups * vector_group, 0),
      m_masses(m_nodes, 0),
      m_pulls(m_nodes, 0),
      m_resting(m_nodes, 0),
      m_diagonal(3 * m_nodes, 0),
      m_x(m_nodes),
      m_dx(m_nodes),
      m_r(m_nodes),
      m_p(m_nodes),
      m_q(m_nodes),
      m_z(m_nodes) {
  std::vector<std::vector<uint32_t>> entries(m_nodes);
  for (size_t c = 0; c < m_groups * cell_group; ++c) {
    const size_t group = c / cell_group, lane = c % cell_group;
    const auto& corners = mesh.corners[std::min(c, m_cells - 1)];
    for (size_t i = 0; i < 8; ++i) {
      m_corners[(group * 8 + i) * cell_group + lane] = 3 * corners[i];
      if (c >= m_cells) continue;
      const auto node = static_cast<size_t>(corners[i]);
      m_masses[node] += cells[c].masses[static_cast<Eigen::Index>(i)];
      if (cells[c].masses[static_cast<Eigen::Index>(i)] > least_corner * cells[c].masses.sum())
        m_empty[(group * 8 + i) * cell_group + lane] = 0;
      // The mean over the axes, as cells turn.
      const auto corner = static_cast<Eigen::Index>(3 * i);
      m_resting[node] +=
          static_cast<float>(cells[c].stiffness.block<3, 3>(corner, corner).trace() / 3);
      entries[node].push_back(static_cast<uint32_t>((group * 24 + 3 * i) * cell_group + lane));
    }
    for (size_t d = 0; d < 9; d += 4) m_frames[(group * 9 + d) * cell_group + lane] = 1;
    for (size_t e = 0; e < 12 && c < m_cells; ++e)
      m_edges[(group * 12 + e) * cell_group + lane] = static_cast<float>(
          cells[c].edges(static_cast<Eigen::Index>(e / 4), static_cast<Eigen::Index>(e % 4)));
    if (c < m_cells) store_matrix(cells[c].stiffness, c, m_stiffness);
  }
  // Two cells with the same four corners are neighbours.
  std::map<std::array<int32_t, 4>, std::pair<size_t, size_t>> sides;
  m_neighbours.assign(m_cells, {-1, -1, -1, -1, -1, -1});
  for (size_t c = 0; c < m_cells; ++c)
    for (size_t s = 0; s < 6; ++s) {
      std::array<int32_t, 4> side{};
      for (size_t i = 0, k = 0; i < 8; ++i)
        if ((i >> s / 2 & 1) == s % 2) side[k++] = mesh.corners[c][i];
      const auto [at, first] = sides.try_emplace(side, c, s);
      if (first) continue;
      const auto [other, other_side] = at->second;
      m_neighbours[c][s] = static_cast<int32_t>(other);
      m_neighbours[other][other_side] = static_cast<int32_t>(c);
    }
  m_pieces = mesh.pieces();
  for (const int32_t piece : m_pieces)
    m_piece_count = std::max(m_piece_count, static_cast<size_t>(piece) + 1);
  m_sum_offsets.push_back(0);
  for (const auto& list : entries) {
    m_sum_entries.insert(m_sum_entries.end(), list.begin(), list.end());
    m_sum_offsets.push_back(static_cast<uint32_t>(m_sum_entries.size()));
  }
}

void VoxelSystem::hold(std::vector<uint8_t> nodes, PointConstraints points) {
  m_held = std::move(nodes);
  m_constraints = std::move(points);
  m_inverses_are_due = true;
}

void VoxelSystem::set_pulls(std::span<const double> stiffness) {
  for (size_t n = 0; n < m_nodes; ++n) m_pulls[n] = static_cast<float>(stiffness[n]);
  m_inverses_are_due = true;
}

bool VoxelSystem::pulls_are_weak() const {
  double pulls = 0, resting = 0;
  for (size_t n = 0; n < m_nodes; ++n) {
    pulls += static_cast<double>(m_pulls[n]);
    resting += static_cast<double>(m_resting[n]);
  }
  return pulls < weak_pulls * resting;
}

// Inverts the equations of every cell's corners, where that is worth its time.
void VoxelSystem::invert_cells() {
  m_inverses_are_due = false;
  m_inverses.assign(pulls_are_weak() ? m_stiffness.size() : 0, 0);
  if (m_inverses.empty()) return;
  parallel_for(m_cells, 16, [&](size_t begin, size_t end) {
    for (size_t c = begin; c < end; ++c) invert_cell(c);
  });
}

// The equations of the corners of a cell, all cells at rest, with what the cells around add to
// them; held nodes are left out.
void VoxelSystem::invert_cell(size_t cell) {
  const auto node_of = [&](size_t c, size_t corner) {
    return m_corners[(c / cell_group * 8 + corner) * cell_group + c % cell_group] / 3;
  };
  Matrix24 a = Matrix24::Zero();
  for (size_t i = 0; i < 8; ++i) {
    const auto node = static_cast<size_t>(node_of(cell, i));
    const auto row = static_cast<Eigen::Index>(3 * i);
    for (uint32_t e = m_sum_offsets[node]; e < m_sum_offsets[node + 1]; ++e) {
      const size_t place = m_sum_entries[e] / cell_group,
                   other = place / 24 * cell_group + m_sum_entries[e] % cell_group;
      const float* matrix = m_stiffness.data() + other / cell_group * matrix_group +
                            place % 24 * 24 * cell_group + other % cell_group;
      for (size_t k = 0; k < 8; ++k)
        for (size_t j = 0; j < 8; ++j) {
          if (node_of(other, k) != node_of(cell, j)) continue;
          for (size_t x = 0; x < 3; ++x)
            for (size_t y = 0; y < 3; ++y)
              a(row + static_cast<Eigen::Index>(x), static_cast<Eigen::Index>(3 * j + y)) +=
                  static_cast<double>(matrix[(24 * x + 3 * k + y) * cell_group]);
        }
    }
    a.diagonal().segment<3>(row).array() += static_cast<double>(m_pulls[node]);
  }
  a.diagonal() *= 1 + least_pull;
  for (size_t i = 0; i < 8 && !m_held.empty(); ++i) {
    if (m_held[static_cast<size_t>(node_of(cell, i))] == 0) continue;
    a.middleRows<3>(static_cast<Eigen::Index>(3 * i)).setZero();
    a.middleCols<3>(static_cast<Eigen::Index>(3 * i)).setZero();
    a.diagonal().segment<3>(static_cast<Eigen::Index>(3 * i)).setOnes();
  }
  a = ((a + a.transpose()) / 2).eval();
  store_matrix(a.llt().solve(Matrix24::Identity()), cell, m_inverses);
}

// The diagonal of the equations, with the cells as at rest.
void VoxelSystem::set_diagonal() {
  for (size_t n = 0; n < m_nodes; ++n)
    for (size_t k = 0; k < 3; ++k) m_diagonal[3 * n + k] = m_resting[n] + m_pulls[n];
  for (const PointPull& spring : m_springs)
    for (size_t c = 0; c < 8; ++c)
      for (size_t k = 0; k < 3; ++k) {
        const auto i = static_cast<Eigen::Index>(k);
        const double w = spring.point.weights[c];
        m_diagonal[3 * static_cast<size_t>(spring.point.nodes[c]) + k] +=
            static_cast<float>(w * w * spring.stiffness(i, i));
      }
}

// Takes positions relative to the first node, where single precision is enough, and turns the
// frames.
void VoxelSystem::look_at(std::span<const Vec3d> positions) {
  const Vec3d origin = positions[0];
  for (size_t n = 0; n < m_nodes; ++n)
    for (size_t k = 0; k < 3; ++k)
      m_x[3 * n + k] = static_cast<float>(positions[n][static_cast<Eigen::Index>(k)] -
                                          origin[static_cast<Eigen::Index>(k)]);
  const float volume = static_cast<float>(m_spacing * m_spacing * m_spacing);
  const float least = parallel_reduce(
      m_groups, groups_per_block, std::numeric_limits<float>::max(),
      [&](size_t begin, size_t end) {
        return cell_gradients(tables(), m_x.data(), m_frames.data(), m_volumes.data(), begin, end);
      },
      [](float a, float b) { return std::min(a, b); });
  if (!(least > tangled * volume)) ask_neighbours();
  parallel_for(m_groups, groups_per_block,
               [&](size_t begin, size_t end) { turn_cells(m_frames.data(), begin, end); });
}

// Cells that are flat, inside out or wrung know little about how they lie: they take the gradients
// of the cells around them, so that a body in a knot agrees on where its parts belong.
void VoxelSystem::ask_neighbours() {
  constexpr int sweeps = 8;
  const double volume = m_spacing * m_spacing * m_spacing;
  const auto entry = [&](size_t cell, size_t i) -> float& {
    return m_frames[(cell / cell_group * 9 + i) * cell_group + cell % cell_group];
  };
  const auto gradient = [&](size_t cell) {
    Mat3d result;
    for (size_t i = 0; i < 9; ++i)
      result(static_cast<Eigen::Index>(i / 3), static_cast<Eigen::Index>(i % 3)) =
          static_cast<double>(entry(cell, i));
    return result;
  };
  struct Doubtful {
    size_t cell;
    double trust;  // in its own gradient
    Mat3d own, now;
  };
  std::vector<Doubtful> doubtful;
  for (size_t c = 0; c < m_cells; ++c) {
    const Mat3d own = gradient(c);
    const double corner = static_cast<double>(m_volumes[c]);
    const double trust = std::clamp(
        std::min(own.determinant() / tangled, corner / tangled_corner) / volume, 0.0, 1.0);
    if (trust < 1) doubtful.push_back({c, trust, own, own});
  }
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (Doubtful& d : doubtful) {
      Mat3d sum = Mat3d::Zero();
      int count = 0;
      for (const int32_t other : m_neighbours[d.cell])
        if (other >= 0) {
          sum += gradient(static_cast<size_t>(other));
          ++count;
        }
      if (count > 0) d.now = d.trust * d.own + (1 - d.trust) * (d.own + sum) / (count + 1);
    }
    for (const Doubtful& d : doubtful)
      for (size_t i = 0; i < 9; ++i)
        entry(d.cell, i) = static_cast<float>(
            d.now(static_cast<Eigen::Index>(i / 3), static_cast<Eigen::Index>(i % 3)));
  }
}

// y = sums of the cells' vectors at the nodes.
void VoxelSystem::add_up(NodeVector& y) const {
  const NodeSums sums{m_sum_offsets.data(), m_sum_entries.data()};
  parallel_for(m_nodes, nodes_per_block, [&](size_t begin, size_t end) {
    add_up_cells(sums, m_products.data(), y.data(), begin, end);
  });
}

// y = elastic forces where the nodes are.
void VoxelSystem::set_forces(NodeVector& y) {
  parallel_for(m_groups, groups_per_block, [&](size_t begin, size_t end) {
    cell_forces(tables(), m_stiffness.data(), m_x.data(), static_cast<float>(m_spacing),
                m_products.data(), begin, end);
  });
  add_up(y);
}

void VoxelSystem::add_springs(const NodeVector& x, NodeVector& y) const {
  for (const PointPull& spring : m_springs) {
    Vec3d u = Vec3d::Zero();
    for (size_t c = 0; c < 8; ++c) {
      const auto n = 3 * static_cast<size_t>(spring.point.nodes[c]);
      u += spring.point.weights[c] * Vec3f(x[n], x[n + 1], x[n + 2]).cast<double>();
    }
    const Vec3d force = spring.stiffness * u;
    for (size_t c = 0; c < 8; ++c) {
      const auto n = 3 * static_cast<size_t>(spring.point.nodes[c]);
      for (size_t k = 0; k < 3; ++k)
        y[n + k] +=
            static_cast<float>(spring.point.weights[c] * force[static_cast<Eigen::Index>(k)]);
    }
  }
}

void VoxelSystem::filter(NodeVector& v) {
  if (!m_held.empty())
    for (size_t n = 0; n < m_nodes; ++n)
      if (m_held[n] != 0) v[3 * n] = v[3 * n + 1] = v[3 * n + 2] = 0;
  if (m_constraints.size() > 0) m_constraints.project(v.span());
}

// y = A x with pulls, springs and turned stiffness; returns x · y.
double VoxelSystem::product(const NodeVector& x, NodeVector& y) {
  parallel_for(m_groups, groups_per_block, [&](size_t begin, size_t end) {
    multiply_cells(tables(), m_stiffness.data(), x.data(), m_products.data(), begin, end);
  });
  add_up(y);
  parallel_for(m_nodes, nodes_per_block, [&](size_t begin, size_t end) {
    for (size_t n = begin; n < end; ++n)
      for (size_t k = 0; k < 3; ++k) y[3 * n + k] += m_pulls[n] * x[3 * n + k];
  });
  add_springs(x, y);
  filter(y);
  return dot(x, y);
}

// z from r; returns r · z.
double VoxelSystem::precondition() {
  const bool by_cells = !m_inverses.empty() && m_springs.empty();
  if (by_cells) {
    parallel_for(m_groups, groups_per_block, [&](size_t begin, size_t end) {
      multiply_cells(tables(), m_inverses.data(), m_r.data(), m_products.data(), begin, end);
    });
    add_up(m_z);
  }
  for (size_t i = 0; i < m_z.size() && !by_cells; ++i) m_z[i] = m_r[i] / m_diagonal[i];
  filter(m_z);
  return dot(m_r, m_z);
}

struct VoxelOperator {
  VoxelSystem& system;
  double product(const NodeVector& x, NodeVector& y) const { return system.product(x, y); }
};

LinearReport VoxelSystem::solve(const VoxelStep& step, const LinearLimits& limits,
                                std::span<Vec3d> positions) {
  set_diagonal();
  if (m_inverses_are_due) invert_cells();
  look_at(positions);
  set_forces(m_r);
  parallel_for(m_nodes, nodes_per_block, [&](size_t begin, size_t end) {
    for (size_t n = begin; n < end; ++n) {
      const Vec3f rest = (static_cast<double>(m_pulls[n]) * (step.goals[n] - positions[n]) +
                          (step.forces.empty() ? Vec3d(Vec3d::Zero()) : step.forces[n]))
                             .cast<float>();
      for (size_t k = 0; k < 3; ++k) m_r[3 * n + k] += rest[static_cast<Eigen::Index>(k)];
    }
  });
  for (const PointPull& spring : m_springs) {
    const Vec3d force = spring.stiffness * (spring.target - spring.point.position(positions));
    for (size_t c = 0; c < 8; ++c)
      for (size_t k = 0; k < 3; ++k)
        m_r[3 * static_cast<size_t>(spring.point.nodes[c]) + k] +=
            static_cast<float>(spring.point.weights[c] * force[static_cast<Eigen::Index>(k)]);
  }
  filter(m_r);
  LinearReport report = conjugate_gradient(
      VoxelOperator{*this}, [&] { return precondition(); }, m_dx,
      ConjugateGradientWork{m_r, m_p, m_q, m_z}, limits);
  for (size_t n = 0; n < m_nodes; ++n)
    positions[n] += Vec3f(m_dx[3 * n], m_dx[3 * n + 1], m_dx[3 * n + 2]).cast<double>();
  if (m_held.empty() && m_constraints.size() == 0) balance(step, positions);
  return report;
}

// Cells in turned frames push their corners by R K (Rᵀ x - x0), which has no torque about where the
// corners would be at rest, but has one about where they are. Together with iterations that end
// early that would spin a free body up: so each piece is moved rigidly to where pulls, springs and
// forces on it have neither sum nor torque. Arms are those at the beginning of the step: then, with
// velocities (x - x0) / dt, angular momentum is kept exactly.
void VoxelSystem::balance(const VoxelStep& step, std::span<Vec3d> positions) const {
  // Forces and torques are linear in small turns only.
  constexpr int rounds = 3;
  constexpr double small_turn = 1e-4;
  for (int round = 0; round < rounds; ++round)
    if (balance_once(step, positions) < small_turn) break;
}

// Returns the largest turn, in radians.
double VoxelSystem::balance_once(const VoxelStep& step, std::span<Vec3d> positions) const {
  std::vector<RigidBalance> pieces(m_piece_count);
  for (size_t n = 0; n < m_nodes; ++n)
    pieces[static_cast<size_t>(m_pieces[n])].weigh(static_cast<double>(m_pulls[n]), step.before[n],
                                                   positions[n]);
  for (RigidBalance& piece : pieces) piece.centre();
  for (size_t n = 0; n < m_nodes; ++n) {
    const auto pull = static_cast<double>(m_pulls[n]);
    Vec3d force = pull * (step.goals[n] - positions[n]);
    if (!step.forces.empty()) force += step.forces[n];
    pieces[static_cast<size_t>(m_pieces[n])].add(step.before[n], positions[n], pull, force);
  }
  for (const PointPull& spring : m_springs) {
    const Vec3d at = spring.point.position(positions);
    pieces[static_cast<size_t>(m_pieces[static_cast<size_t>(spring.point.nodes[0])])].add_spring(
        spring.point.position(step.before), at, spring.stiffness,
        spring.stiffness * (spring.target - at));
  }
  std::vector<Affine> motions;
  motions.reserve(pieces.size());
  double largest = 0;
  for (RigidBalance& piece : pieces) motions.push_back(piece.motion(largest));
  for (size_t n = 0; n < m_nodes; ++n)
    positions[n] = motions[static_cast<size_t>(m_pieces[n])] * positions[n];
  return largest;
}

void VoxelSystem::elastic_forces(std::span<const Vec3d> positions, std::span<Vec3d> out) {
  look_at(positions);
  set_forces(m_z);
  for (size_t n = 0; n < m_nodes; ++n)
    out[n] = Vec3f(m_z[3 * n], m_z[3 * n + 1], m_z[3 * n + 2]).cast<double>();
}

size_t VoxelSystem::bytes() const {
  return sizeof(float) *
             (m_stiffness.size() + m_inverses.size() + m_frames.size() + m_products.size() +
              m_pulls.size() + m_resting.size() + m_diagonal.size() + 6 * m_x.size()) +
         sizeof(int32_t) * (m_corners.size() + m_sum_offsets.size() + m_sum_entries.size()) +
         sizeof(double) * m_masses.size();
}

}  // namespace supple
