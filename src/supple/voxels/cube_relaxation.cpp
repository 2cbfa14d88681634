#include "supple/voxels/cube_relaxation.h"

#include <Eigen/Dense>
#include <Eigen/Sparse>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "supple/voxels/elimination_kernels.h"

namespace supple {
namespace {

// How much stronger agreement is than the matter, and how much weaker what makes loose matter
// follow the trilinear motion.
constexpr double agreement = 1e8, looseness = 1e-8;

// How much stiffer held nodes are than the matter: not so much that a thin layer between what is
// held and what is not makes a cell far stiffer than its neighbours.
constexpr double hold = 1e3;

// The sharper, the more the least of the areas at a corner decides; equal ones count alike.
constexpr double sharpness = 10;

// Corners without area follow matter weighted by their function to this power. With 3 the end of a
// beam that bends under its weight in one cell is where trilinear interpolation puts it.
constexpr int nearness = 3;

// What has to agree: a vector for each corner, and one along each axis.
constexpr size_t row_count = 11;

constexpr size_t as_size(int i) { return static_cast<size_t>(i); }

Vec3d corner_place(int corner) { return Vec3d(corner & 1, corner >> 1 & 1, corner >> 2); }

Mat3d cross_matrix(const Vec3d& r) {
  Mat3d m;
  m << 0, -r[2], r[1], r[2], 0, -r[0], -r[1], r[0], 0;
  return m;
}

double trilinear(const Vec3d& at, int corner) {
  double value = 1;
  for (int axis = 0; axis < 3; ++axis) value *= (corner >> axis & 1) != 0 ? at[axis] : 1 - at[axis];
  return value;
}

}  // namespace

void CubeRelaxation::begin(int parts, double side) {
  m_parts = parts;
  m_side = side;
  m_number.assign(as_size((parts + 1) * (parts + 1) * (parts + 1)), -1);
  m_places.clear();
  m_weights.clear();
  m_cubes.clear();
}

void CubeRelaxation::add(const Vec3i& at, const MatterCube& cube) {
  const int row = m_parts + 1;
  Part part{{}, &cube, at};
  for (int i = 0; i < 8; ++i) {
    const Vec3i p = at + Vec3i(i & 1, i >> 1 & 1, i >> 2);
    int& number = m_number[as_size(p[0] + row * (p[1] + row * p[2]))];
    if (number < 0) {
      number = static_cast<int>(m_places.size());
      m_places.emplace_back(p.cast<double>() / m_parts);
      std::array<double, 8>& weights = m_weights.emplace_back();
      for (int c = 0; c < 8; ++c) weights[as_size(c)] = trilinear(m_places.back(), c);
    }
    part.nodes[as_size(i)] = number;
  }
  m_cubes.push_back(part);
}

// How the corners of a part follow those of the whole.
Matrix8 CubeRelaxation::weights_of(const Part& part) const {
  Matrix8 l;
  for (int i = 0; i < 8; ++i)
    for (int c = 0; c < 8; ++c) l(i, c) = m_weights[as_size(part.nodes[as_size(i)])][as_size(c)];
  return l;
}

void CubeRelaxation::gather(MatterCube& whole) const {
  whole.empty = m_cubes.empty();
  whole.mass.setZero();
  whole.firmness = 0;
  for (Eigen::Matrix4d& area : whole.areas) area.setZero();
  for (const Part& part : m_cubes) {
    const Matrix8 l = weights_of(part);
    whole.mass += l.transpose() * part.cube->mass * l;
    whole.firmness += part.cube->firmness;
    for (int s = 0; s < 6; ++s) {
      const Eigen::Matrix4d& area = part.cube->areas[as_size(s)];
      if (!part.is_outer(s, m_parts) || !(area(0, 0) > 0)) continue;
      Eigen::Matrix4d side;
      for (int j = 0; j < 4; ++j)
        for (int a = 0; a < 4; ++a) side(j, a) = l(corner_of_side(s, j), corner_of_side(s, a));
      whole.areas[as_size(s)] += side.transpose() * area * side;
    }
  }
}

void CubeRelaxation::stay(MatterCube& whole) const {
  whole.stiffness.setZero();
  for (const Part& part : m_cubes)
    add_child(part.cube->stiffness, part.at[0] + 2 * part.at[1] + 4 * part.at[2], whole.stiffness);
}

Eigen::Matrix<double, 3, 24> CubeRelaxation::RigidMotion::at(const Vec3d& place) const {
  Eigen::Matrix<double, 3, 24> result = Eigen::Matrix<double, 3, 24>::Zero();
  const double count = std::popcount(corners);
  for (int c = 0; c < 8; ++c)
    if ((corners >> c & 1) != 0)
      result.block<3, 3>(0, 3 * c) =
          Mat3d::Identity() / count - cross_matrix(place - centre) * turns[as_size(c)];
  return result;
}

// The turn of corners r with displacements u is J⁻¹ Σ r × u, J = -Σ [r]²; none where they are on a
// line.
std::optional<CubeRelaxation::RigidMotion> CubeRelaxation::rigid_motion(unsigned held) {
  if (std::popcount(held) < 3) return {};
  RigidMotion result;
  result.corners = held;
  const double count = std::popcount(held);
  for (int c = 0; c < 8; ++c)
    if ((held >> c & 1) != 0) result.centre += corner_place(c) / count;
  Mat3d inertia = Mat3d::Zero();
  for (int c = 0; c < 8; ++c)
    if ((held >> c & 1) != 0) {
      const Mat3d r = cross_matrix(corner_place(c) - result.centre);
      inertia -= r * r;
    }
  for (int c = 0; c < 8; ++c)
    result.turns[as_size(c)] = inertia.inverse() * cross_matrix(corner_place(c) - result.centre);
  return result;
}

// Moments over the areas of the sides, against the bilinear functions of their corners.
void CubeRelaxation::add_moments() {
  const size_t nodes = m_places.size();
  m_moments.assign(24 * nodes, 0);
  for (const Part& part : m_cubes)
    for (int s = 0; s < 6; ++s) {
      const Eigen::Matrix4d& area = part.cube->areas[as_size(s)];
      if (!part.is_outer(s, m_parts) || !(area.trace() > 0)) continue;
      for (int i = 0; i < 4; ++i) {
        const auto& weights = m_weights[as_size(part.nodes[as_size(corner_of_side(s, i))])];
        for (int a = 0; a < 4; ++a) {
          double* moments = m_moments.data() + as_size(4 * s + a) * nodes;
          const double weight = weights[as_size(corner_of_side(s, a))];
          for (int j = 0; j < 4; ++j)
            moments[part.nodes[as_size(corner_of_side(s, j))]] += weight * area(i, j);
        }
      }
    }
}

// A corner on no side where matter goes on.
void CubeRelaxation::follow_matter(int corner) {
  for (const Part& part : m_cubes)
    for (int i = 0; i < 8; ++i) {
      const double near =
          std::pow(m_weights[as_size(part.nodes[as_size(i)])][as_size(corner)], nearness);
      for (int j = 0; j < 8; ++j)
        row(corner)[part.nodes[as_size(j)]] += near * part.cube->mass(i, j);
    }
}

// What the motion has to agree with, as rows of weights of the nodes.
void CubeRelaxation::agree(unsigned held, const MatterCube& whole) {
  using Row = Eigen::Map<Eigen::RowVectorXd>;
  const auto nodes = static_cast<Eigen::Index>(m_places.size());
  const auto moments = [&](int r) { return Row(m_moments.data() + r * nodes, nodes); };
  add_moments();
  std::array<double, 6> areas;
  double least = std::numeric_limits<double>::max();
  for (size_t s = 0; s < 6; ++s) {
    areas[s] = whole.areas[s].sum();
    if (areas[s] > 0) least = std::min(least, areas[s]);
  }
  m_rows.assign(row_count * m_places.size(), 0);
  unsigned seen = held;
  for (int s = 0; s < 6; ++s) {
    if (!(areas[as_size(s)] > 0)) continue;
    const double weight = std::pow(least / areas[as_size(s)], sharpness) / areas[as_size(s)];
    for (int a = 0; a < 4; ++a) {
      const int c = corner_of_side(s, a);
      seen |= 1u << c;
      if ((held >> c & 1) == 0) Row(row(c), nodes) += weight * moments(4 * s + a);
    }
  }
  for (int c = 0; c < 8; ++c)
    if ((seen >> c & 1) == 0) follow_matter(c);
  for (int axis = 0; axis < 3; ++axis) {
    const double low = areas[as_size(2 * axis)], high = areas[as_size(2 * axis + 1)];
    if (!(low > 0) || !(high > 0)) continue;
    for (int a = 0; a < 4; ++a)
      Row(row(8 + axis), nodes) += moments(8 * axis + 4 + a) / high - moments(8 * axis + a) / low;
  }
  for (int r = 0; r < static_cast<int>(row_count); ++r)
    if (const double norm = Row(row(r), nodes).norm(); norm > 0) Row(row(r), nodes) /= norm;
}

// Of motions v of the nodes by those u of the corners, N the trilinear one, least
// vᵀKv + (v - Nu)ᵀP(v - Nu), P what agrees. With v = (N - X) u that is (K + P) X = KN, and the
// least value uᵀ(NᵀKN - (KN)ᵀX)u. What is held is drawn to another motion T than N, with strength
// G: then (K + P + G) X = KN + G(N - T) =: F and the value is NᵀKN + (N - T)ᵀG(N - T) - FᵀX.
void CubeRelaxation::relax(unsigned held, MatterCube& whole) {
  double scale = 0;
  for (const Part& part : m_cubes)
    scale = std::max(scale, part.cube->stiffness.diagonal().maxCoeff());
  agree(held, whole);
  add_forces(whole);
  if (!(scale > 0)) return;
  m_pulls.assign(m_places.size(), looseness * scale);
  if (m_rigid) hold_nodes(whole);
  if (m_parts == 2)
    eliminate_dense(scale, whole);
  else
    eliminate_sparse(scale, whole);
}

// KN of the nodes, NᵀKN of the whole.
void CubeRelaxation::add_forces(MatterCube& whole) {
  m_forces.setZero(3 * static_cast<Eigen::Index>(m_places.size()), 24);
  m_masses.assign(m_places.size(), 0);
  whole.stiffness.setZero();
  for (const Part& part : m_cubes) {
    Matrix24 forces;  // K L, node by node
    if (m_parts == 2) {
      forces = part.cube->stiffness;
      interpolate_columns(part.at[0] + 2 * part.at[1] + 4 * part.at[2], forces);
    } else {
      using ByNodes = Eigen::Matrix<double, 72, 8>;
      Eigen::Map<ByNodes>(forces.data()) =
          Eigen::Map<const ByNodes>(part.cube->stiffness.data()) * weights_of(part);
    }
    for (int i = 0; i < 8; ++i) {
      const int node = part.nodes[as_size(i)];
      m_forces.middleRows<3>(3 * node) += forces.middleRows<3>(3 * i);
      m_masses[as_size(node)] += part.cube->mass.row(i).sum();
    }
  }
  for (size_t i = 0; i < m_places.size(); ++i)
    for (int c = 0; c < 8; ++c)
      whole.stiffness.middleCols<3>(3 * c) +=
          m_weights[i][as_size(c)] *
          m_forces.middleRows<3>(3 * static_cast<Eigen::Index>(i)).transpose();
}

void CubeRelaxation::hold_nodes(MatterCube& whole) {
  double mass = 0;
  for (const double m : m_masses) mass += m;
  const double grip = hold * whole.firmness / (m_side * m_side) / mass;
  for (size_t i = 0; i < m_places.size(); ++i) {
    if (m_held_nodes[i] == 0) continue;
    const double strength = grip * m_masses[i];
    Eigen::Matrix<double, 3, 24> off = -m_rigid->at(m_places[i]);
    for (int c = 0; c < 8; ++c)
      off.block<3, 3>(0, 3 * c).diagonal().array() += m_weights[i][as_size(c)];
    m_pulls[i] += strength;
    m_forces.middleRows<3>(3 * static_cast<Eigen::Index>(i)) += strength * off;
    whole.stiffness += strength * off.transpose() * off;
  }
}

// All at once, without regard to which matter touches which.
void CubeRelaxation::eliminate_dense(double scale, MatterCube& whole) {
  const size_t nodes = m_places.size(), size = 3 * nodes + 24,
               stride = (size + row_tile - 1) / row_tile * row_tile;
  m_system.assign(size * stride, 0);
  const auto at = [&](size_t i, size_t j) { return m_system.data() + i * stride + j; };
  for (const Part& part : m_cubes)
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) {
        const int row = part.nodes[as_size(i)], column = part.nodes[as_size(j)];
        if (row > column) continue;
        for (int b = 0; b < 3; ++b)
          for (int a = 0; a < 3; ++a)
            *at(as_size(3 * row + a), as_size(3 * column + b)) +=
                part.cube->stiffness(3 * i + a, 3 * j + b);
      }
  const double strength = agreement * scale;
  for (size_t i = 0; i < nodes; ++i) {
    for (size_t k = 0; k < 3; ++k) *at(3 * i + k, 3 * i + k) += m_pulls[i];
    for (size_t r = 0; r < row_count; ++r) {
      const double* weights = m_rows.data() + r * nodes;
      if (weights[i] == 0) continue;
      const double weight = strength * weights[i];
      for (size_t j = i; j < nodes; ++j)
        for (size_t k = 0; k < 3; ++k) *at(3 * i + k, 3 * j + k) += weight * weights[j];
    }
    for (size_t k = 0; k < 3; ++k)
      std::copy_n(m_forces.data() + (3 * i + k) * 24, 24, at(3 * i + k, 3 * nodes));
  }
  for (size_t i = 0; i < 24; ++i)
    for (size_t j = i; j < 24; ++j)
      *at(3 * nodes + i, 3 * nodes + j) =
          whole.stiffness(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
  eliminate(m_system.data(), stride, 3 * nodes, size);
  for (int i = 0; i < 24; ++i)
    for (int j = i; j < 24; ++j)
      whole.stiffness(i, j) = whole.stiffness(j, i) =
          *at(3 * nodes + as_size(i), 3 * nodes + as_size(j));
}

// First without what has to agree, of which there is little, then with it: for A + BᵀB r,
// X = A⁻¹(F - Bᵀλ) with (B A⁻¹Bᵀ + 1/r) λ = B A⁻¹F.
void CubeRelaxation::eliminate_sparse(double scale, MatterCube& whole) const {
  const auto nodes = static_cast<Eigen::Index>(m_places.size());
  constexpr auto rows = static_cast<Eigen::Index>(row_count);
  std::vector<Eigen::Triplet<double>> entries;
  for (const Part& part : m_cubes)
    for (int i = 0; i < 24; ++i)
      for (int j = 0; j < 24; ++j)
        entries.emplace_back(3 * part.nodes[as_size(i / 3)] + i % 3,
                             3 * part.nodes[as_size(j / 3)] + j % 3, part.cube->stiffness(i, j));
  for (Eigen::Index i = 0; i < 3 * nodes; ++i)
    entries.emplace_back(static_cast<int>(i), static_cast<int>(i),
                         m_pulls[static_cast<size_t>(i / 3)]);
  Eigen::SparseMatrix<double> a(3 * nodes, 3 * nodes);
  a.setFromTriplets(entries.begin(), entries.end());
  const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> solver(a);
  Eigen::MatrixXd b = Eigen::MatrixXd::Zero(3 * nodes, 3 * rows);
  for (Eigen::Index r = 0; r < rows; ++r)
    for (Eigen::Index i = 0; i < 3 * nodes; ++i)
      b(i, 3 * r + i % 3) = m_rows[static_cast<size_t>(r * nodes + i / 3)];
  // What rounding leaves of rigid motions would be in the way of loose matter.
  const Eigen::MatrixXd forces = m_forces - (m_forces * rigid_modes()) * rigid_modes().transpose();
  const Eigen::MatrixXd free = solver.solve(forces), given = solver.solve(b);
  Eigen::MatrixXd between = b.transpose() * given;
  between.diagonal().array() += 1 / (agreement * scale);
  const Eigen::MatrixXd way = free - given * between.ldlt().solve(b.transpose() * free);
  const Matrix24 freed = forces.transpose() * way;
  whole.stiffness -= (freed + freed.transpose()) / 2;
}

}  // namespace supple
