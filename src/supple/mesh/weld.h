// Welding: vertices an exporter split at seams, normals or materials become one point again.
#pragma once

#include <span>
#include <vector>

#include "supple/mesh/triangle_mesh.h"

namespace supple {

/// Which input vertices are the same point.
struct Weld {
  std::vector<int32_t> point_of_vertex;  ///< welded point of every input vertex
  std::vector<int32_t> vertex_of_point;  ///< the first input vertex of every welded point

  /// Number of welded points.
  size_t points() const { return vertex_of_point.size(); }
};

/// Welds vertices closer than `tolerance` (a fraction of the largest extent of all positions;
/// 0 welds only equal positions). Points are numbered by their first vertex.
Weld weld_by_position(std::span<const Vec3f> positions, double tolerance = 1e-6);

/// The mesh over welded points; triangles that collapse are dropped.
TriangleMesh welded_mesh(const Weld& weld, std::span<const Vec3f> positions,
                         std::span<const Vec3i> triangles);

/// Copies each welded point's position back to all its input vertices.
void unweld(const Weld& weld, std::span<const Vec3f> points, std::span<Vec3f> vertices);

}  // namespace supple
