// Skins that move with cells, fast: points are kept cell by cell, so that each is read with three
// numbers and its own, and cells' corners stay in registers. The same map as LatticeEmbedding, in
// single precision.
#pragma once

#include "supple/mesh/lattice_mesh.h"

namespace supple {

/// Points that move with cells.
class CellSkin {
 public:
  CellSkin() = default;

  /// Ties `points` (in metres, at rest) to the cells of `solid`, numbered as in `mesh`.
  CellSkin(const SolidLattice& solid, const LatticeMesh& mesh, std::span<const Vec3f> points);

  /// Number of points.
  size_t size() const { return m_vertices.size() + m_outside.size(); }

  /// Where the points are when the nodes are at `nodes`; `out` has one entry per point.
  void interpolate(std::span<const Vec3d> nodes, std::span<Vec3f> out) const;

  /// Bytes held.
  size_t bytes() const;

 private:
  // Some points of one cell.
  struct Run {
    int32_t cell = 0;
    uint32_t first = 0, count = 0;
  };

  std::vector<std::array<int32_t, 8>> m_corners;  // of the cells
  std::vector<Run> m_runs;
  std::vector<uint32_t> m_blocks{};  // first run of every block of vertices, and the total
  std::vector<float> m_u, m_v, m_w;  // in the cells, from 0 to 1
  std::vector<int32_t> m_vertices;   // rising in each run
  std::vector<int32_t> m_outside;    // points outside all cells
  std::vector<LatticeTie> m_ties;    // of these
};

}  // namespace supple
