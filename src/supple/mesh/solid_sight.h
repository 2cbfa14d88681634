// Sight inside a solid: whether the straight way between two points a cell or so apart stays in
// matter. Crossings of the surface are counted along the way, starting from the winding number at
// its beginning, so that ways through overlapping parts count as inside and ways through the air
// between two parts do not.
#pragma once

#include <span>
#include <vector>

#include "supple/mesh/triangle_mesh.h"
#include "supple/mesh/voxel_grid.h"
#include "supple/mesh/winding_number.h"

namespace supple {

/// Answers for one voxelised mesh; grid, overlaps and mesh must outlive it.
class SolidSight {
 public:
  /// Measures winding numbers at the centres of boundary cells.
  SolidSight(const VoxelGrid& grid, const CellTriangles& overlaps, const TriangleMesh& mesh);

  /// Whether the centre of a cell lies in matter.
  bool centre_inside(size_t cell) const;

  /// Whether the way from the centre of a cell, which lies in matter, to a point stays there.
  bool sees(size_t cell, const Vec3d& point) const { return sees(cell, point, -1); }

  /// Whether the way from the centre of a cell, which lies in matter, to a vertex stays there.
  bool sees_vertex(size_t cell, int32_t vertex) const {
    return sees(cell, m_mesh.positions[vertex].cast<double>(), vertex);
  }

 private:
  struct Crossing {
    double along;  // 0 at the beginning of the way, 1 at its end
    int side;      // 1 when it goes with the triangle's normal
    bool operator<(const Crossing& other) const {
      return along != other.along ? along < other.along : side < other.side;
    }
  };

  bool sees(size_t cell, const Vec3d& point, int32_t ignored_vertex) const;
  void add_crossing(int32_t triangle, const Vec3d& from, const Vec3d& way,
                    std::vector<Crossing>& crossings) const;

  const VoxelGrid& m_grid;
  const CellTriangles& m_overlaps;
  const TriangleMesh& m_mesh;
  WindingNumber m_winding;
  std::vector<float> m_centre_winding;  // of boundary cells
};

}  // namespace supple
