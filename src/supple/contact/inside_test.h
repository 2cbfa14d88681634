// Which points lie inside the union of a character's parts, whatever its mesh is like: parts that
// overlap, face inwards, have holes, or enclose air only together.
//
// The rule, by the cell of a grid (voxel_grid.h) that holds the point:
// - outside cells are outside, inside cells (no triangle in them; enclosed, or wound round by a
//   surface with holes) are inside;
// - in cells that triangles run through, points that the closed shells wind round by more than
//   1/2, or those with holes by more than `least_open`, are inside [Jacobson 2013];
// - so are points there from which the straight way to the centre of one of the 26 neighbouring
//   cells, if it is of enclosed air, crosses no triangle.
// Winding numbers are measured at one place of every cell; on the way from there to a point they
// change by one at every triangle of the cell. Within a cell of where a surface ends they change
// in between as well and are computed at the point itself.
// Shells that face inwards are turned round first, so that overlapping parts never cancel. Closed
// cavities count as inside, as they do in lattices. Flat sheets have no inside.
//
// Not resolved: the inside next to loose patches that face different ways; and where surfaces end
// in a hole, the border between inside and outside is a soft one and may jump by a part of a cell
// between cells.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "supple/mesh/voxel_grid.h"
#include "supple/mesh/winding_number.h"

namespace supple {

/// Tells inside from outside; const calls may be made from many threads.
class InsideTest {
 public:
  /// The winding number of shells with holes from which on a point is inside. Flat sheets reach
  /// 0.5 and rounding adds to it.
  static constexpr double least_open = 0.52;

  /// For a mesh (in metres) and the side of the grid's cells. Throws an input error for numbers
  /// that are not finite, triangles of missing vertices and grids of more than 2^30 cells.
  InsideTest(std::span<const Vec3f> positions, std::span<const Vec3i> triangles, double spacing);

  /// Whether a point (in metres) is inside.
  bool inside(const Vec3d& point) const;

  /// The cells the rule goes by.
  const VoxelGrid& grid() const { return m_grid; }

  /// The mesh's triangles, those of shells that face inwards turned round.
  std::span<const Vec3i> outward_triangles() const { return m_triangles; }

 private:
  struct Oriented;
  InsideTest(const Oriented& mesh, double spacing);
  bool wound(const Vec3d& point, size_t cell) const;
  bool sees_enclosed_air(const Vec3d& point, const Vec3i& cell) const;
  bool way_is_free(const Vec3d& point, const Vec3i& cell, const Vec3i& next) const;
  void mark_borders(std::span<const uint8_t> ends);
  void measure_cells();
  Vec3d anchor(const Vec3i& cell) const;
  std::array<Vec3d, 3> corners(int32_t triangle) const;

  std::vector<Vec3f> m_positions;
  std::vector<Vec3i> m_triangles;  // turned outwards
  VoxelGrid m_grid;
  CellTriangles m_overlaps;
  std::vector<uint8_t> m_air;                   // 1 for inside cells that nothing winds round
  std::vector<uint8_t> m_is_open;               // 1 for triangles of shells with holes
  std::vector<uint8_t> m_near_border;           // 1 for cells within a cell of a surface's end
  std::array<WindingNumber, 2> m_winding;       // of closed shells, of shells with holes
  std::vector<std::array<float, 2>> m_anchors;  // winding numbers at the anchors of cells
};

}  // namespace supple
