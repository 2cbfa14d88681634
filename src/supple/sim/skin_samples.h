// Points all over a skin, close enough together for the cells of a lattice: the vertices, and
// points inside triangles that are larger than a cell. What vertices say is interpolated to them.
#pragma once

#include <span>
#include <vector>

#include "supple/mesh/triangle_mesh.h"
#include "supple/rig/skin_weights.h"

namespace supple {

/// Points of a mesh that are no further apart than a spacing, up to a bound.
class SkinSamples {
 public:
  /// For a mesh and a spacing, both in metres.
  SkinSamples(const TriangleMesh& mesh, double spacing);

  /// Where they are: first the vertices of the mesh.
  std::span<const Vec3f> points() const { return m_points; }

  /// Numbers given per vertex at the points.
  std::vector<float> values(std::span<const float> of_vertices) const;

  /// Skin weights at the points; `vertex_of_point` has the vertex whose weights a vertex of the
  /// mesh has.
  SkinWeights weights(const SkinWeights& of_vertices,
                      std::span<const int32_t> vertex_of_point) const;

 private:
  // A point inside a triangle.
  struct Inner {
    Vec3i corners;
    Vec3f shares;
  };

  size_t m_vertices;
  std::vector<Vec3f> m_points;
  std::vector<Inner> m_inner;
};

}  // namespace supple
