#include "supple/voxels/cube_relaxation.h"

#include <Eigen/Dense>
#include <Eigen/Sparse>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace supple {
namespace {

// How much stronger agreement is than the matter, and how much weaker what makes loose matter
// follow the trilinear motion.
constexpr double agreement = 1e5, looseness = 1e-8;

// How much stiffer held nodes are than the matter: not so much that a thin layer between what is
// held and what is not makes a cell far stiffer than its neighbours.
constexpr double hold = 1e3;

// The sharper, the more the least of the areas at a corner decides; equal ones count alike.
constexpr double sharpness = 10;

// Corners without area follow matter weighted by their function to this power. With 3 the end of a
// beam that bends under its weight in one cell is where trilinear interpolation puts it.
constexpr int nearness = 3;

// As many unknowns as are solved for at once, without regard to which matter touches which.
constexpr int most_dense = 27;

constexpr size_t as_size(int i) { return static_cast<size_t>(i); }

Vec3d corner_place(int corner) { return Vec3d(corner & 1, corner >> 1 & 1, corner >> 2); }

Mat3d cross_matrix(const Vec3d& r) {
  Mat3d m;
  m << 0, -r[2], r[1], r[2], 0, -r[0], -r[1], r[0], 0;
  return m;
}

// What takes rigid motions out of those of the corners.
Matrix24 make_without_rigid() {
  Eigen::Matrix<double, 24, 6> modes = Eigen::Matrix<double, 24, 6>::Zero();
  for (int c = 0; c < 8; ++c) {
    modes.block<3, 3>(3 * c, 0).setIdentity();
    modes.block<3, 3>(3 * c, 3) = cross_matrix(corner_place(c) - Vec3d::Constant(0.5));
  }
  modes.colwise().normalize();
  return Matrix24::Identity() - modes * modes.transpose();
}

double trilinear(const Vec3d& at, int corner) {
  double value = 1;
  for (int axis = 0; axis < 3; ++axis) value *= (corner >> axis & 1) != 0 ? at[axis] : 1 - at[axis];
  return value;
}

}  // namespace

CubeRelaxation::CubeRelaxation(int parts, double side)
    : m_parts(parts),
      m_side(side),
      m_number(as_size((parts + 1) * (parts + 1) * (parts + 1)), -1) {}

void CubeRelaxation::add(const Vec3i& at, const MatterCube& cube) {
  const int row = m_parts + 1;
  Part part{{}, &cube, at};
  for (int i = 0; i < 8; ++i) {
    const Vec3i p = at + Vec3i(i & 1, i >> 1 & 1, i >> 2);
    int& number = m_number[as_size(p[0] + row * (p[1] + row * p[2]))];
    if (number < 0) {
      number = static_cast<int>(m_places.size());
      m_places.emplace_back(p.cast<double>() / m_parts);
    }
    part.nodes[as_size(i)] = number;
  }
  m_cubes.push_back(part);
}

void CubeRelaxation::gather(MatterCube& whole) const {
  whole.empty = m_cubes.empty();
  whole.mass.setZero();
  whole.firmness = 0;
  for (Eigen::Matrix4d& area : whole.areas) area.setZero();
  for (const Part& part : m_cubes) {
    Matrix8 l;
    for (int i = 0; i < 8; ++i)
      for (int c = 0; c < 8; ++c) l(i, c) = trilinear(m_places[as_size(part.nodes[as_size(i)])], c);
    whole.mass += l.transpose() * part.cube->mass * l;
    whole.firmness += part.cube->firmness;
    for (int s = 0; s < 6; ++s) {
      if (part.at[s / 2] != (s % 2 != 0 ? m_parts - 1 : 0)) continue;
      Eigen::Matrix4d side;
      for (int j = 0; j < 4; ++j)
        for (int a = 0; a < 4; ++a) side(j, a) = l(corner_of_side(s, j), corner_of_side(s, a));
      whole.areas[as_size(s)] += side.transpose() * part.cube->areas[as_size(s)] * side;
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

// What the motion has to agree with, as rows of weights of the nodes.
void CubeRelaxation::agree(unsigned held, const MatterCube& whole) {
  const auto nodes = static_cast<Eigen::Index>(m_places.size());
  Eigen::MatrixXd moments = Eigen::MatrixXd::Zero(24, nodes);  // sides by their corners
  for (const Part& part : m_cubes)
    for (int s = 0; s < 6; ++s) {
      if (part.at[s / 2] != (s % 2 != 0 ? m_parts - 1 : 0)) continue;
      const Eigen::Matrix4d& area = part.cube->areas[as_size(s)];
      if (!(area.trace() > 0)) continue;
      for (int j = 0; j < 4; ++j) {
        const int node = part.nodes[as_size(corner_of_side(s, j))];
        for (int i = 0; i < 4; ++i)
          for (int a = 0; a < 4; ++a)
            moments(4 * s + a, node) +=
                corner_weight(part.nodes[as_size(corner_of_side(s, i))], corner_of_side(s, a)) *
                area(i, j);
      }
    }
  std::array<double, 6> areas;
  double least = std::numeric_limits<double>::max();
  for (size_t s = 0; s < 6; ++s) {
    areas[s] = whole.areas[s].sum();
    if (areas[s] > 0) least = std::min(least, areas[s]);
  }
  m_rows = Eigen::MatrixXd::Zero(11, nodes);
  unsigned seen = held;
  for (int s = 0; s < 6; ++s) {
    if (!(areas[as_size(s)] > 0)) continue;
    const double weight = std::pow(least / areas[as_size(s)], sharpness) / areas[as_size(s)];
    for (int a = 0; a < 4; ++a) {
      const int c = corner_of_side(s, a);
      seen |= 1u << c;
      if ((held >> c & 1) == 0) m_rows.row(c) += weight * moments.row(4 * s + a);
    }
  }
  for (int c = 0; c < 8; ++c) {
    if ((seen >> c & 1) != 0) continue;
    for (const Part& part : m_cubes)
      for (size_t i = 0; i < 8; ++i) {
        const double near = std::pow(corner_weight(part.nodes[i], c), nearness);
        for (size_t j = 0; j < 8; ++j)
          m_rows(c, part.nodes[j]) +=
              near * part.cube->mass(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
      }
  }
  for (int axis = 0; axis < 3; ++axis) {
    const double low = areas[as_size(2 * axis)], high = areas[as_size(2 * axis + 1)];
    if (!(low > 0) || !(high > 0)) continue;
    m_rows.row(8 + axis) = moments.middleRows(8 * axis + 4, 4).colwise().sum() / high -
                           moments.middleRows(8 * axis, 4).colwise().sum() / low;
  }
  for (Eigen::Index r = 0; r < m_rows.rows(); ++r)
    if (const double norm = m_rows.row(r).norm(); norm > 0) m_rows.row(r) /= norm;
}

// Of motions v of the nodes by those of the corners, N the trilinear one: least
// vᵀKv + (v - N)ᵀP(v - N), P what agrees. With v = N - X that is (K + P) X = KN, and
// vᵀKv = NᵀKN - (KN)ᵀX - Xᵀ(KN) + Xᵀ(K + P)X - XᵀPX. What is held is drawn to another motion than
// N, which adds to the right side.
void CubeRelaxation::relax(unsigned held, MatterCube& whole) {
  const auto nodes = static_cast<Eigen::Index>(m_places.size());
  m_weights.resize(nodes, 8);
  for (int i = 0; i < nodes; ++i)
    for (int c = 0; c < 8; ++c) m_weights(i, c) = trilinear(m_places[as_size(i)], c);
  agree(held, whole);
  Eigen::MatrixXd kn = Eigen::MatrixXd::Zero(3 * nodes, 24);
  Eigen::VectorXd masses = Eigen::VectorXd::Zero(nodes);
  double scale = 0;
  for (const Part& part : m_cubes) {
    scale = std::max(scale, part.cube->stiffness.diagonal().maxCoeff());
    Matrix24 product = part.cube->stiffness;
    // K L, node by node.
    Matrix8 l;
    for (int j = 0; j < 8; ++j) l.row(j) = m_weights.row(part.nodes[as_size(j)]);
    const Eigen::Map<const Eigen::Matrix<double, 72, 8>> by_nodes(product.data());
    const Eigen::Matrix<double, 72, 8> by_corners = by_nodes * l;
    const Eigen::Map<const Matrix24> forces(by_corners.data());
    for (int i = 0; i < 8; ++i) {
      const int node = part.nodes[as_size(i)];
      kn.middleRows<3>(3 * node) += forces.middleRows<3>(3 * i);
      masses[node] += part.cube->mass.row(i).sum();
    }
  }
  whole.stiffness.setZero();
  m_way = Eigen::MatrixXd::Zero(3 * nodes, 24);
  for (int i = 0; i < nodes; ++i)
    for (int c = 0; c < 8; ++c)
      whole.stiffness.middleRows<3>(3 * c) += m_weights(i, c) * kn.middleRows<3>(3 * i);
  if (!(scale > 0)) return;
  m_pulls = Eigen::VectorXd::Constant(nodes, looseness * scale);
  m_forces = kn;
  const double grip = hold * whole.firmness / (m_side * m_side) / masses.sum();
  for (int i = 0; i < nodes; ++i) {
    if (m_held_nodes[as_size(i)] == 0) continue;
    m_pulls[i] += grip * masses[i];
    Eigen::Matrix<double, 3, 24> off = m_rigid->at(m_places[as_size(i)]);
    for (int c = 0; c < 8; ++c) off.block<3, 3>(0, 3 * c).diagonal().array() -= m_weights(i, c);
    m_forces.middleRows<3>(3 * i) -= grip * masses[i] * off;
  }
  // Rigid motions are trilinear; what rounding leaves of them would be in the way of loose matter.
  static const Matrix24 without_rigid = make_without_rigid();
  m_forces *= without_rigid;
  if (nodes <= most_dense)
    solve_dense(scale);
  else
    solve_sparse(scale);
  Eigen::MatrixXd agreed = Eigen::MatrixXd::Zero(3 * m_rows.rows(), 24);
  for (Eigen::Index r = 0; r < m_rows.rows(); ++r)
    for (int i = 0; i < nodes; ++i)
      agreed.middleRows<3>(3 * r) += m_rows(r, i) * m_way.middleRows<3>(3 * i);
  Eigen::MatrixXd pulled = m_way;
  for (int i = 0; i < nodes; ++i) pulled.middleRows<3>(3 * i) *= m_pulls[i];
  const Matrix24 work = kn.transpose() * m_way;
  whole.stiffness += m_way.transpose() * (m_forces - pulled) - work - work.transpose() -
                     agreement * scale * agreed.transpose() * agreed;
  whole.stiffness = without_rigid * whole.stiffness * without_rigid;
  whole.stiffness = (whole.stiffness + whole.stiffness.transpose()).eval() / 2;
}

// All at once.
void CubeRelaxation::solve_dense(double scale) {
  using Dense =
      Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 3 * most_dense, 3 * most_dense>;
  const auto nodes = static_cast<Eigen::Index>(m_places.size());
  Dense a = Dense::Zero(3 * nodes, 3 * nodes);
  for (const Part& part : m_cubes)
    for (int j = 0; j < 8; ++j)
      for (int i = 0; i < 8; ++i) {
        const int row = 3 * part.nodes[as_size(i)], column = 3 * part.nodes[as_size(j)];
        if (row >= column)
          a.block<3, 3>(row, column) += part.cube->stiffness.block<3, 3>(3 * i, 3 * j);
      }
  Eigen::MatrixXd p = (agreement * scale) * m_rows.transpose() * m_rows;
  p.diagonal() += m_pulls;
  for (Eigen::Index j = 0; j < nodes; ++j)
    for (Eigen::Index i = j; i < nodes; ++i)
      a.block<3, 3>(3 * i, 3 * j).diagonal().array() += p(i, j);
  m_way = Eigen::LLT<Eigen::Ref<Dense>>(a).solve(m_forces);
}

// First without what has to agree, of which there is little, then with it: for A + BᵀB r,
// X = A⁻¹(f - Bᵀλ) with (B A⁻¹Bᵀ + 1/r) λ = B A⁻¹f.
void CubeRelaxation::solve_sparse(double scale) {
  const auto nodes = static_cast<Eigen::Index>(m_places.size());
  std::vector<Eigen::Triplet<double>> entries;
  for (const Part& part : m_cubes)
    for (int i = 0; i < 24; ++i)
      for (int j = 0; j < 24; ++j)
        entries.emplace_back(3 * part.nodes[as_size(i / 3)] + i % 3,
                             3 * part.nodes[as_size(j / 3)] + j % 3, part.cube->stiffness(i, j));
  for (Eigen::Index i = 0; i < 3 * nodes; ++i)
    entries.emplace_back(static_cast<int>(i), static_cast<int>(i), m_pulls[i / 3]);
  Eigen::SparseMatrix<double> a(3 * nodes, 3 * nodes);
  a.setFromTriplets(entries.begin(), entries.end());
  const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> solver(a);
  Eigen::MatrixXd b = Eigen::MatrixXd::Zero(3 * nodes, 3 * m_rows.rows());
  for (Eigen::Index r = 0; r < m_rows.rows(); ++r)
    for (Eigen::Index i = 0; i < 3 * nodes; ++i) b(i, 3 * r + i % 3) = m_rows(r, i / 3);
  const Eigen::MatrixXd free = solver.solve(m_forces), given = solver.solve(b);
  Eigen::MatrixXd between = b.transpose() * given;
  between.diagonal().array() += 1 / (agreement * scale);
  m_way = free - given * between.ldlt().solve(b.transpose() * free);
}

Eigen::MatrixXd CubeRelaxation::motion() const {
  const int row = m_parts + 1;
  Eigen::MatrixXd result =
      Eigen::MatrixXd::Zero(3 * static_cast<Eigen::Index>(m_number.size()), 24);
  for (int z = 0; z < row; ++z)
    for (int y = 0; y < row; ++y)
      for (int x = 0; x < row; ++x) {
        const int at = x + row * (y + row * z), node = m_number[as_size(at)];
        for (int c = 0; c < 8; ++c)
          result.block<3, 3>(3 * at, 3 * c) =
              trilinear(Vec3d(x, y, z) / m_parts, c) * Mat3d::Identity();
        if (node >= 0) result.middleRows<3>(3 * at) -= m_way.middleRows<3>(3 * node);
      }
  return result;
}

}  // namespace supple
