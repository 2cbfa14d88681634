// The equations of a voxel body [Nesme 2006, section 4]: linear elastic cells whose stiffness turns
// with them, f = -R K (Rᵀ x - x0), forces on nodes and points, and one linear solve per step by
// conjugate gradients in which held nodes and points take no part.
//
// Nodes at the far end of cells that are nearly empty hardly resist anything. In steps iterations
// are scaled by the diagonal, pulls and springs included: inertia does the rest. Where pulls are
// weak, as when a body stands under its weight, the equations of every cell's corners are inverted
// instead (additive Schwarz): docs/voxels.md has the figures.
#pragma once

#include <memory>

#include "supple/solve/conjugate_gradient.h"
#include "supple/voxels/cell_kernels.h"
#include "supple/voxels/cell_matrices.h"
#include "supple/voxels/node_vector.h"
#include "supple/voxels/point_constraints.h"

namespace supple {

/// A spring between a point of the body and a place.
struct PointPull {
  LatticeTie point;
  Mat3d stiffness = Mat3d::Zero();  ///< symmetric and not negative, in newtons per metre
  Vec3d target = Vec3d::Zero();     ///< in metres
};

/// What acts on the nodes in a step; one entry per node.
struct VoxelStep {
  std::span<const Vec3d> before;  ///< where they were when the step began, in metres
  std::span<const Vec3d> goals;   ///< where pulls draw them, in metres
  std::span<const Vec3d> forces;  ///< in newtons; empty for none
};

/// Cells that resist, nodes that are drawn to places.
class VoxelSystem {
 public:
  /// Cells as numbered in `mesh`, with sides of `spacing` metres.
  VoxelSystem(const LatticeMesh& mesh, double spacing, std::span<const CellMatrices> cells);

  /// Number of nodes.
  size_t nodes() const { return m_nodes; }

  /// Mass of every node, in kg.
  std::span<const double> masses() const { return m_masses; }

  /// Sets the nodes that are held (empty: none) and the points that are.
  void hold(std::vector<uint8_t> nodes, PointConstraints points);

  /// Sets what draws every node to its goal, in newtons per metre: inertia by time step squared,
  /// and springs.
  void set_pulls(std::span<const double> stiffness);

  /// Sets springs at points, until set again.
  void set_springs(std::span<const PointPull> springs) {
    m_springs.assign(springs.begin(), springs.end());
  }

  /// The constraints.
  const PointConstraints& constraints() const { return m_constraints; }
  /// Whether each node is held; empty when none is.
  std::span<const uint8_t> held() const { return m_held; }

  /// Turns the cells' frames to where the nodes are, and solves the linear equations there for the
  /// nodes: pulls to goals, springs, elasticity and forces in balance. `positions` are where it
  /// begins and where it ends, in metres; held nodes and points stay. What nothing holds moves and
  /// turns as a whole as outer forces say, also when iterations end early.
  LinearReport solve(const VoxelStep& step, const LinearLimits& limits, std::span<Vec3d> positions);

  /// Elastic forces at positions, in newtons.
  void elastic_forces(std::span<const Vec3d> positions, std::span<Vec3d> out);

  /// Bytes held.
  size_t bytes() const;

 private:
  friend struct VoxelOperator;

  CellTables tables() const {
    return {m_groups, m_corners.data(), m_frames.data(), m_edges.data(), m_empty.data()};
  }
  void look_at(std::span<const Vec3d> positions);
  void ask_neighbours();
  void add_up(NodeVector& y) const;
  void set_forces(NodeVector& y);
  double product(const NodeVector& x, NodeVector& y);
  double precondition();
  void add_springs(const NodeVector& x, NodeVector& y) const;
  void filter(NodeVector& v);
  void balance(const VoxelStep& step, std::span<Vec3d> positions) const;
  double balance_once(const VoxelStep& step, std::span<Vec3d> positions) const;
  void set_diagonal();
  bool pulls_are_weak() const;
  void invert_cells();
  void invert_cell(size_t cell);

  size_t m_nodes = 0, m_cells = 0, m_groups = 0;
  double m_spacing;
  std::vector<int32_t> m_corners;                                        // by groups
  std::vector<float> m_stiffness;                                        // matrices by groups
  std::vector<float> m_edges, m_empty, m_frames, m_volumes, m_products;  // by groups
  std::vector<std::array<int32_t, 6>> m_neighbours;  // cells across the sides, or -1
  std::vector<uint32_t> m_sum_offsets, m_sum_entries;
  std::vector<double> m_masses;
  std::vector<int32_t> m_pieces;  // of the nodes
  size_t m_piece_count = 0;
  std::vector<float> m_pulls;                // per node
  std::vector<float> m_resting, m_diagonal;  // of the cells' stiffness at rest, and of all
  std::vector<float> m_inverses;  // of the equations of cells' corners, by groups; empty: not used
  bool m_inverses_are_due = true;
  std::vector<uint8_t> m_held;
  PointConstraints m_constraints;
  std::vector<PointPull> m_springs;

  // Of a solve.
  NodeVector m_x, m_dx, m_r, m_p, m_q, m_z;
};

}  // namespace supple
