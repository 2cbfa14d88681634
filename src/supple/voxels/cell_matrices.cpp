#include "supple/voxels/cell_matrices.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "supple/voxels/relaxed_cells.h"

namespace supple {
namespace {

// Stiffness of a unit cube for mu = 1 and for lambda = 1. Two points per axis integrate products of
// the gradients exactly.
struct UnitStiffness {
  UnitStiffness() {
    mu.setZero();
    lambda.setZero();
    const double low = 0.5 - std::sqrt(1.0 / 12), high = 0.5 + std::sqrt(1.0 / 12);
    for (int q = 0; q < 8; ++q)
      add_point({(q & 1) != 0 ? high : low, (q & 2) != 0 ? high : low, (q & 4) != 0 ? high : low});
  }

  // Energy density mu |e|² + lambda / 2 tr²(e), with the strain e of displacements u: a corner i
  // moved along a changes du_a/dx_b by g_i,b. The second derivatives are
  // mu (delta_ab g_i · g_j + g_i,b g_j,a) + lambda g_i,a g_j,b.
  void add_point(const Vec3d& at) {
    std::array<Vec3d, 8> g;
    for (size_t i = 0; i < 8; ++i) {
      Vec3d value, slope;
      for (int c = 0; c < 3; ++c) {
        const bool upper = (i >> c & 1) != 0;
        value[c] = upper ? at[c] : 1 - at[c];
        slope[c] = upper ? 1 : -1;
      }
      g[i] = Vec3d(slope[0] * value[1] * value[2], value[0] * slope[1] * value[2],
                   value[0] * value[1] * slope[2]);
    }
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) {
        const Vec3d &gi = g[static_cast<size_t>(i)], &gj = g[static_cast<size_t>(j)];
        mu.block<3, 3>(3 * i, 3 * j) += (gi.dot(gj) * Mat3d::Identity() + gj * gi.transpose()) / 8;
        lambda.block<3, 3>(3 * i, 3 * j) += gi * gj.transpose() / 8;
      }
  }

  Matrix24 mu, lambda;
};

const UnitStiffness& unit_stiffness() {
  static const UnitStiffness unit;
  return unit;
}

// For every pair of corners along an axis, where they are among rows or columns: along each axis,
// the child has one corner in common with the parent, and the other one lies halfway.
template <class Visit>
void for_each_pair(int place, const Visit& visit) {
  for (int axis = 0; axis < 3; ++axis)
    for (int i = 0; i < 8; ++i) {
      if ((i >> axis & 1) != 0) continue;
      const int other = i | 1 << axis;
      if ((place >> axis & 1) != 0)
        visit(other, i);
      else
        visit(i, other);
    }
}

// M := M L, axis by axis.
template <int width, class Matrix>
void interpolate_from_right(int place, Matrix& m) {
  for_each_pair(place, [&](int common, int halfway) {
    m.template middleCols<width>(width * halfway) *= 0.5;
    m.template middleCols<width>(width * common) += m.template middleCols<width>(width * halfway);
  });
}

// M := Lᵀ M L for a symmetric M, with columns as the quicker ones.
template <int width, class Matrix>
void interpolate(int place, Matrix& m) {
  interpolate_from_right<width>(place, m);
  m.transposeInPlace();
  interpolate_from_right<width>(place, m);
}

Eigen::Matrix<double, 24, 6> make_rigid_modes() {
  Eigen::Matrix<double, 24, 6> modes = Eigen::Matrix<double, 24, 6>::Zero();
  for (int c = 0; c < 8; ++c) {
    const Vec3d r = Vec3d(c & 1, c >> 1 & 1, c >> 2) - Vec3d::Constant(0.5);
    for (int k = 0; k < 3; ++k) {
      modes(3 * c + k, k) = 1;
      modes.block<3, 1>(3 * c, 3 + k) = Vec3d::Unit(k).cross(r);
    }
  }
  modes.colwise().normalize();
  return modes;
}

// Lᵀ K L of the unit cube's matrices for every child.
struct UnitChildren {
  UnitChildren() {
    for (int c = 0; c < 8; ++c) {
      mu[static_cast<size_t>(c)] = unit_stiffness().mu;
      lambda[static_cast<size_t>(c)] = unit_stiffness().lambda;
      interpolate<3>(c, mu[static_cast<size_t>(c)]);
      interpolate<3>(c, lambda[static_cast<size_t>(c)]);
    }
  }
  std::array<Matrix24, 8> mu, lambda;
};

// The materials of a cell's leaves.
struct LeafMaterials {
  std::span<const VoxelMaterial> all;
  size_t first;
  const VoxelMaterial& operator[](size_t leaf) const {
    return all.size() == 1 ? all[0] : all[first + leaf];
  }
};

// Walks a cell's octree from the finest level up.
class Gatherer {
 public:
  Gatherer(const VoxelSolid& voxels, size_t cell, const LeafMaterials& materials)
      : m_side(voxels.solid.spacing),
        m_levels(voxels.levels),
        m_materials(materials),
        m_leaves(voxels.leaves_of(cell)) {}

  CellMatrices gather() {
    CellMatrices result;
    result.stiffness.setZero();
    Matrix8 mass = Matrix8::Zero();
    if (m_leaves[0].depth == 0) {
      const VoxelMaterial& is = m_materials[0];
      const auto filled = static_cast<double>(m_leaves[0].filled);
      result.stiffness = filled * cell_stiffness(is.moduli, m_side);
      mass = filled * is.density * m_side * m_side * m_side * cell_mass();
    } else {
      add_cube(0, 0, result.stiffness, mass);
    }
    result.masses = mass.rowwise().sum();
    return result;
  }

 private:
  // Adds the cube of side 2^-depth at `path`, which is not a leaf.
  void add_cube(int depth, uint32_t path, Matrix24& stiffness, Matrix8& mass) {
    static const UnitChildren unit;
    static const Matrix8 unit_mass = cell_mass();
    const int shift = 3 * (m_levels - depth - 1);
    for (int c = 0; c < 8; ++c) {
      const uint32_t from = path + (static_cast<uint32_t>(c) << shift),
                     to = from + (uint32_t{1} << shift);
      if (m_next == m_leaves.size() || m_leaves[m_next].path >= to) continue;
      const VoxelLeaf& leaf = m_leaves[m_next];
      if (leaf.depth == depth + 1) {
        const VoxelMaterial& is = m_materials[m_next];
        const double h = m_side / (1 << leaf.depth);
        const auto filled = static_cast<double>(leaf.filled);
        stiffness += (filled * h * is.moduli.mu) * unit.mu[static_cast<size_t>(c)] +
                     (filled * h * is.moduli.lambda) * unit.lambda[static_cast<size_t>(c)];
        add_child(filled * is.density * h * h * h * unit_mass, c, mass);
        ++m_next;
        continue;
      }
      Matrix24 inner = Matrix24::Zero();
      Matrix8 inner_mass = Matrix8::Zero();
      add_cube(depth + 1, from, inner, inner_mass);
      add_child(inner, c, stiffness);
      add_child(inner_mass, c, mass);
    }
  }

  double m_side;
  int m_levels;
  LeafMaterials m_materials;
  std::span<const VoxelLeaf> m_leaves;
  size_t m_next = 0;
};

// The mean over the matter of the functions that say how much each edge has to do with a place:
// they are linear along each axis, so that their mean over a leaf is their value at its centre.
EdgeWeights edge_weights(const VoxelSolid& voxels, size_t cell) {
  const LatticePlace& place = voxels.mesh.cells[cell];
  const Vec3d low =
      voxels.solid.position(voxels.solid.lattice.coordinates(place.block, place.local));
  EdgeWeights sum = EdgeWeights::Zero();
  for (const VoxelLeaf& leaf : voxels.leaves_of(cell)) {
    const Vec3d at = (voxels.centre(cell, leaf) - low) / voxels.solid.spacing;
    const double matter = static_cast<double>(leaf.filled) / std::pow(8.0, leaf.depth);
    for (int axis = 0; axis < 3; ++axis) {
      const double u = at[axis == 0 ? 1 : 0], v = at[axis == 2 ? 1 : 2];
      for (int e = 0; e < 4; ++e)
        sum(axis, e) += matter * ((e & 1) != 0 ? u : 1 - u) * ((e & 2) != 0 ? v : 1 - v);
    }
  }
  return sum / sum.row(0).sum();
}

double filling_of(const VoxelSolid& voxels, size_t cell) {
  double sum = 0;
  for (const VoxelLeaf& leaf : voxels.leaves_of(cell))
    sum += static_cast<double>(leaf.filled) / std::pow(8.0, leaf.depth);
  return sum;
}

// The cell's material is the mean over its leaves by volume, so that the filling ratio scales it.
CellMatrices spread_evenly(const VoxelSolid& voxels, size_t cell, const LeafMaterials& materials) {
  CellMaterial moduli{0, 0};
  double mass = 0;
  const auto leaves = voxels.leaves_of(cell);
  for (size_t i = 0; i < leaves.size(); ++i) {
    const VoxelLeaf& leaf = leaves[i];
    const VoxelMaterial& is = materials[i];
    const double part = static_cast<double>(leaf.filled) / std::pow(8.0, leaf.depth);
    moduli.mu += part * is.moduli.mu;
    moduli.lambda += part * is.moduli.lambda;
    mass += part * is.density * std::pow(voxels.solid.spacing, 3);
  }
  return {cell_stiffness(moduli, voxels.solid.spacing), Vector8::Constant(mass / 8),
          EdgeWeights::Constant(0.25)};
}

}  // namespace

Matrix24 cell_stiffness(const CellMaterial& material, double side) {
  const UnitStiffness& unit = unit_stiffness();
  return (side * material.mu) * unit.mu + (side * material.lambda) * unit.lambda;
}

// Products of linear functions on the unit segment: 1/3 of an end with itself, 1/6 with the other.
Matrix8 cell_mass() {
  Matrix8 mass;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) {
      double value = 1;
      for (int axis = 0; axis < 3; ++axis) value /= ((i ^ j) >> axis & 1) != 0 ? 6 : 3;
      mass(i, j) = value;
    }
  return mass;
}

void interpolate_columns(int place, Matrix24& child) { interpolate_from_right<3>(place, child); }

const Eigen::Matrix<double, 24, 6>& rigid_modes() {
  static const Eigen::Matrix<double, 24, 6> modes = make_rigid_modes();
  return modes;
}

// P K P with P = 1 - m mᵀ, m the rigid motions.
Matrix24 without_rigid(const Matrix24& stiffness) {
  using Modes = Eigen::Matrix<double, 24, 6>;
  const Modes& m = rigid_modes();
  const Modes k = stiffness * m;
  const Modes half = k - m * (m.transpose() * k) / 2;
  return stiffness - half * m.transpose() - m * half.transpose();
}

void add_child(const Matrix24& child, int place, Matrix24& parent) {
  Matrix24 inner = child;
  interpolate<3>(place, inner);
  parent += inner;
}

void add_child(const Matrix8& child, int place, Matrix8& parent) {
  Matrix8 inner = child;
  interpolate<1>(place, inner);
  parent += inner;
}

CellMatrices gather_cell(const VoxelSolid& voxels, size_t cell, StiffnessLaw law,
                         std::span<const VoxelMaterial> materials, const HeldMatter& held) {
  const LeafMaterials own{materials, voxels.first_leaf[cell]};
  if (law == StiffnessLaw::uniform) return spread_evenly(voxels, cell, own);
  CellMatrices result = Gatherer(voxels, cell, own).gather();
  // A cell that is alone and thick gains nothing, and a softer one may stay wound round itself.
  const bool alone = voxels.mesh.cells.size() == 1;
  const bool loose = alone && std::all_of(held.nodes.begin(), held.nodes.end(),
                                          [](uint8_t is) { return is == 0; });
  if (law == StiffnessLaw::bending && !(alone && filling_of(voxels, cell) > 0.5))
    result.stiffness = (loose ? trilinear_part_alone : trilinear_part) * result.stiffness +
                       gather_relaxed(voxels, cell, materials, held).stiffness;
  result.edges = edge_weights(voxels, cell);
  return result;
}

}  // namespace supple
