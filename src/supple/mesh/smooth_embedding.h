// Points in cells that move without kinks: where a point lies is blended from the motions of the
// cells around it by quadratic B-splines, so that the skin's normals are continuous across the
// cells' sides, which trilinear interpolation leaves bent.
//
// Every cell's own motion is trilinear, continued beyond its sides; the blend of these has
// continuous first derivatives and keeps every affine motion exactly. Where cells are missing,
// those that are there share their weight.
#pragma once

#include "supple/mesh/lattice_mesh.h"

namespace supple {

/// Points as weighted sums of up to 64 nodes.
class SmoothEmbedding {
 public:
  SmoothEmbedding() = default;

  /// Ties `points` (in metres, at rest) to the cells of `solid`, numbered as in `mesh`.
  SmoothEmbedding(const SolidLattice& solid, const LatticeMesh& mesh,
                  std::span<const Vec3f> points);

  /// Number of points.
  size_t size() const { return m_offsets.size() - 1; }

  /// Where the points are when the nodes are at `nodes`; `out` has one entry per point.
  void interpolate(std::span<const Vec3d> nodes, std::span<Vec3f> out) const;

  /// Bytes held.
  size_t bytes() const { return m_entries.size() * sizeof(Entry) + 4 * m_offsets.size(); }

 private:
  struct Entry {
    int32_t node;
    float weight;
  };

  std::vector<uint32_t> m_offsets{0};
  std::vector<Entry> m_entries;
};

}  // namespace supple
