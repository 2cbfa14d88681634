// How far a skin has got into itself, measured on its triangles alone: no lattice, no contact code.
#pragma once

#include <span>
#include <vector>

#include "supple/mesh/triangle_mesh.h"
#include "supple/mesh/winding_number.h"

namespace supple::test {

/// What is inside another part of the skin.
struct SkinOverlap {
  size_t deep = 0;                ///< vertices further in than allowed
  double deepest = 0;             ///< of all vertices, in metres
  double depth = 0;               ///< sum over all vertices, in metres
  std::vector<int32_t> vertices;  ///< those further in than allowed

  /// Of these, those that have no outside around them and are further than allowed behind some
  /// surface. The others lie at the bottom of a crease, which the parts beside it close: far from
  /// other parts, but in none.
  size_t behind = 0;
  double furthest_behind = 0;  ///< of all vertices that are in, in metres
};

/// Measures overlap of one skin in many poses; what overlaps at rest never counts.
class OverlapMeter {
 public:
  /// For a mesh at rest in which vertices at the same place are one. Surface within `reach` (in
  /// metres, at rest) of a vertex is its own and no other part.
  OverlapMeter(const TriangleMesh& rest, double reach);

  /// The overlap with the vertices at `posed`; `allowed` in metres.
  SkinOverlap measure(std::span<const Vec3f> posed, double allowed) const;

  /// Vertices that count.
  size_t vertices() const { return m_counted; }

 private:
  std::vector<uint8_t> inside(std::span<const Vec3f> posed) const;
  double behind(std::span<const Vec3f> posed, size_t vertex, const WindingNumber& winding) const;
  bool borders_on_outside(std::span<const Vec3f> posed, size_t vertex,
                          const WindingNumber& winding) const;
  double rest_distance(size_t triangle, size_t vertex) const;

  const TriangleMesh& m_rest;
  double m_reach;
  std::vector<std::vector<int32_t>> m_own;  // triangles around every vertex
  std::vector<uint8_t> m_inside_at_rest;
  size_t m_counted = 0;
};

}  // namespace supple::test
