// Triangles split where they cross the planes of a grid of cubes, so that each lies in one cell.
//
// One axis after the other, every edge gets a vertex where it crosses a plane, once for all
// triangles that share it, and every polygon is cut between such vertices: neighbours keep
// meeting edge to edge, and what is closed stays closed. Polygons become triangles at the end.
// Vertices nearer to a plane than a tolerance are taken to lie on it, so that no triangle is
// thinner than that because of a cut.
//
// Not handled: triangles that are slivers already stay so, and pieces of triangles that meet a
// plane at a small angle are long. Vertices at one place are joined by their numbers alone;
// coordinates that are equal to the bit are cut at equal places.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "supple/mesh/triangle_mesh.h"

namespace supple {

/// Cubes side by side, without an end.
struct CellGrid {
  Vec3d origin = Vec3d::Zero();  ///< where planes of all three axes meet
  double spacing = 0;            ///< between planes, in length units
};

/// Where a vertex comes from: a weighted mean of up to three vertices of one input triangle.
struct VertexSource {
  Vec3i vertices = Vec3i::Zero();  ///< of the input, rising; the first one again where there are
                                   ///< fewer than three
  Vec3f weights = Vec3f::UnitX();  ///< multiples of 2^-24 that sum to exactly one; 0 where unused

  /// Whether the vertex is one of the input's.
  bool is_input() const { return weights[0] == 1; }
};

/// Where all of a split mesh comes from; empty for a mesh that is the input itself.
struct SplitMap {
  std::vector<VertexSource> vertices;
  std::vector<int32_t> triangles;  ///< input triangle that each one is a piece of

  /// Whether there is no map.
  bool empty() const { return vertices.empty(); }
};

/// A mesh whose triangles were split.
struct SplitMesh {
  TriangleMesh mesh;  ///< first the vertices of the input; pieces in the order of its triangles
  SplitMap map;
};

/// The weighted mean of vectors that a source stands for; rounded once, from double precision.
template <class Vector>
Vector at_source(const VertexSource& source, std::span<const Vector> values) {
  if (source.is_input()) return values[static_cast<size_t>(source.vertices[0])];
  auto sum = (static_cast<double>(source.weights[0]) *
              values[static_cast<size_t>(source.vertices[0])].template cast<double>())
                 .eval();
  for (int k = 1; k < 3; ++k)
    sum += static_cast<double>(source.weights[k]) *
           values[static_cast<size_t>(source.vertices[k])].template cast<double>();
  return sum.template cast<typename Vector::Scalar>();
}

/// Splits triangles at the planes of `grid`; segments, and other triangles with two corners in
/// common, are split like lines. Vertices within `tolerance` (a part of the spacing, below one
/// half) of a plane are not parted from it. The position of every vertex is at_source() of the
/// input's, to the bit. Throws an input error for a position that is not finite, and when there
/// would be more than 2^27 vertices.
SplitMesh split_at_planes(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                          const CellGrid& grid, double tolerance = 0.01);

}  // namespace supple
