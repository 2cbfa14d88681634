// The levels of the multigrid solver: coarser lattices by pairs of cells along each axis down to
// one small enough to be solved directly, linearised about averaged deformation gradients [McAdams
// 2011, §8]. Unlike there, a coarse node is fixed only where the fine node at its place is, and
// coarse cells whose interpolation would move fixed fine nodes take the Galerkin matrix of their
// children: fixed regions do not grow from level to level.
#pragma once

#include <Eigen/Cholesky>

#include <memory>

#include "supple/lattice/level.h"

namespace supple {

/// A soft pull of a material point: where it lies in the lattice, and how stiff it is.
struct PointSpring {
  Vec3d at = Vec3d::Zero();             ///< in cells from node 0 0 0
  std::array<float, 6> stiffness = {};  ///< xx yy zz yz xz xy, in newtons per metre
};

/// A spring at one of the points a hierarchy has placed.
struct PlacedSpring {
  int32_t point = 0;
  std::array<float, 6> stiffness = {};  ///< xx yy zz yz xz xy, in newtons per metre
};

/// All levels, finest first.
class Hierarchy {
 public:
  /// Takes the finest level, with materials and free nodes set.
  explicit Hierarchy(std::unique_ptr<Level> finest, size_t coarsest_nodes = 200,
                     size_t most_levels = 16);

  Level& level(size_t l) { return *m_levels[l]; }
  const Level& level(size_t l) const { return *m_levels[l]; }
  size_t levels() const { return m_levels.size(); }
  Level& finest() { return *m_levels.front(); }
  const Level& finest() const { return *m_levels.front(); }

  /// Finds material points, given in cells from node 0 0 0, on every level; springs that were set
  /// before are gone.
  void place_points(std::span<const Vec3d> points);

  /// The placed points on a level, in the order given; the block of those outside all cells is -1.
  std::span<const PointInCell> points(size_t l) const { return m_points[l]; }

  /// Sets springs at placed points, on every level; to be followed by linearise().
  void set_springs(std::span<const PlacedSpring> springs);

  /// Places the points of springs and sets them.
  void set_springs(std::span<const PointSpring> springs);

  /// Sets what is added to the diagonal at every node of the finest level (mass over the square of
  /// the time step, in kg/s²), and on coarser levels; empty for none. To be followed by
  /// linearise().
  void set_masses(std::span<const float> masses);

  /// Integrates the finest level at eight points from now on; to be followed by linearise().
  void use_eight_points();

  /// Takes over changed free nodes of the finest level; to be followed by linearise().
  void update_free();

  /// Takes over changed materials of the finest level; to be followed by linearise().
  void update_materials();

  /// Linearises all levels, or the finest one alone, about node positions (in metres).
  void linearise(const BlockVector<double>& x, Differential kind, bool finest_only = false);

  /// Linearises one level about its mean deformation gradients (not on the finest level) plus those
  /// of `moved`, a displacement or, on the finest level, positions; null for none. With `average`,
  /// sets the mean gradients of the next coarser level.
  void linearise_level(size_t l, const BlockVector<double>* moved, Differential kind, bool average);

  /// Estimates the largest eigenvalues of linearised levels, for smoothers.
  void estimate_eigenvalues();

  /// Prepares solve_coarsest() after the coarsest level was linearised.
  void factor_coarsest();

  /// Solves on the coarsest level: x from b.
  void solve_coarsest();

  /// Bytes held by all levels.
  size_t bytes() const;

 private:
  void coarsen_free(size_t fine);
  void coarsen_materials(size_t fine);
  void average_gradients(size_t fine, size_t block, const float* gradients);
  void find_matrix_cells(size_t coarse);
  void update_matrix_cells(size_t coarse);

  std::vector<std::unique_ptr<Level>> m_levels;
  std::vector<std::vector<PointInCell>> m_points;     // per level
  std::vector<std::vector<uint64_t>> m_matrix_cells;  // per level, bits of matrix cells per block
  Eigen::LLT<Eigen::MatrixXd> m_factor;
  std::vector<int32_t> m_coarsest_dofs;  // number of a coarsest node in the dense system, or -1
  Eigen::VectorXd m_coarsest_vector;
};

}  // namespace supple
