// Triangle meshes and what can be measured on them.
#pragma once

#include <span>
#include <vector>

#include "supple/math/types.h"

namespace supple {

/// A triangle mesh: vertex positions and counter-clockwise vertex triples. Lines have their
/// segments among these.
struct TriangleMesh {
  std::vector<Vec3f> positions;
  std::vector<Vec3i> triangles;
};

/// Whether a triangle stands for a segment of a line: its last two corners are one.
inline bool is_segment(const Vec3i& triangle) {
  return triangle[1] == triangle[2] && triangle[0] != triangle[1];
}

/// Smallest box that holds all points; empty when there are none.
Box3f bounding_box(std::span<const Vec3f> positions);

/// Enclosed volume by the divergence theorem, in cubed length units; exact for closed meshes.
double signed_volume(std::span<const Vec3f> positions, std::span<const Vec3i> triangles);

/// Sum of the triangle areas, in squared length units.
double surface_area(std::span<const Vec3f> positions, std::span<const Vec3i> triangles);

/// Area-weighted unit vertex normals (zero where a vertex has no triangle of positive area),
/// written to `normals`, which has one entry per position.
void vertex_normals(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                    std::span<Vec3f> normals);

}  // namespace supple
