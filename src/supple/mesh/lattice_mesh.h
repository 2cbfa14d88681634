// A lattice by running numbers of its nodes and cells, and points embedded in it: what skins,
// overlays and checkpoints are made from.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "supple/mesh/solid_lattice.h"

namespace supple {

/// The nodes and cells of a lattice, numbered block by block.
struct LatticeMesh {
  LatticeMesh() = default;
  explicit LatticeMesh(const SparseLattice& lattice);

  std::vector<LatticePlace> nodes;
  std::vector<LatticePlace> cells;
  std::vector<std::array<int32_t, 8>> corners;  ///< nodes of every cell, x fastest

  /// The number of a cell by its place, or -1.
  int32_t cell_number(LatticePlace cell) const;

  /// The nodes one step along an axis from each node, where a cell has both; node after node.
  struct Neighbours {
    std::vector<int32_t> offsets;  ///< first entry of every node, and the total
    std::vector<int32_t> nodes;
  };
  Neighbours neighbours() const;

  /// The connected piece of every node: pieces are numbered by their first node.
  std::vector<int32_t> pieces() const;
};

/// The mean deformation gradient of the cell with these corners (x fastest), whose side at rest is
/// `spacing`, when the nodes are at `nodes`.
Mat3d cell_gradient(std::span<const Vec3d> nodes, const std::array<int32_t, 8>& corners,
                    double spacing);

/// A point tied to a cell: a sum of weights times the cell's corners.
struct LatticeTie {
  std::array<int32_t, 8> nodes{};
  std::array<double, 8> weights{};

  /// Where the point is when the nodes are at `nodes_at`.
  Vec3d position(std::span<const Vec3d> nodes_at) const {
    Vec3d sum = Vec3d::Zero();
    for (size_t c = 0; c < 8; ++c) sum += weights[c] * nodes_at[static_cast<size_t>(nodes[c])];
    return sum;
  }
};

/// The number of the cell a point (in metres, at rest) lies in, or of the nearest one.
int32_t nearest_cell(const SolidLattice& solid, const LatticeMesh& mesh, const Vec3d& point);

/// Ties a point (in metres, at rest) to a cell, as LatticeEmbedding does.
LatticeTie tie_to_cell(const SolidLattice& solid, const LatticeMesh& mesh, int32_t cell,
                       const Vec3d& point);

/// Points tied to cells: each is a sum of weights times the corners of one cell. Points inside a
/// cell move with it trilinearly. Points outside all cells belong to the nearest one and continue
/// its deformation linearly from the closest point of it, so that every affine motion of the nodes
/// carries every point exactly, and nothing grows faster than the distance.
class LatticeEmbedding {
 public:
  LatticeEmbedding() = default;

  /// Ties `points` (in metres, at rest) to the cells of `solid`, numbered as in `mesh`.
  LatticeEmbedding(const SolidLattice& solid, const LatticeMesh& mesh,
                   std::span<const Vec3f> points);

  /// Number of points.
  size_t size() const { return m_ties.size(); }

  /// Where the points are when the nodes are at `nodes`; `out` has one entry per point.
  void interpolate(std::span<const Vec3d> nodes, std::span<Vec3f> out) const;

  /// The value at every point of numbers given per node.
  void interpolate(std::span<const float> nodes, std::span<float> out) const;

  /// Bytes held.
  size_t bytes() const;

  /// The cells' corners and their weights, per point.
  std::span<const LatticeTie> ties() const { return m_ties; }

 private:
  std::vector<LatticeTie> m_ties;
};

}  // namespace supple
