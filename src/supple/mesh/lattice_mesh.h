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

  /// The connected piece of every node: pieces are numbered by their first node.
  std::vector<int32_t> pieces() const;
};

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

 private:
  struct Tie {
    std::array<int32_t, 8> nodes;
    std::array<double, 8> weights;
  };
  std::vector<Tie> m_ties;
};

}  // namespace supple
