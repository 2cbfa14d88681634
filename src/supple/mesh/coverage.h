// How much of each cell of a voxelisation is filled. Cells inside are full; of those that triangles
// run through, as many of 64 well spread points count as the surface winds round. Sheets, segments
// and points have no volume: the cells they enter count as filled to a given part.
#pragma once

#include <span>
#include <vector>

#include "supple/mesh/voxel_grid.h"

namespace supple {

/// A triangle within this distance of a cell's side, in cells, touches the cell without entering
/// it.
inline constexpr double touching_distance = 1e-3;

/// What cells count as that triangles run through.
struct CoverageOptions {
  double least = 0;   ///< of cells that triangles enter
  double sheets = 0;  ///< of cells that triangles of shells with holes enter
  bool half = false;  ///< all of them are half full [Nesme 2006, section 5.1]
};

/// The filled part of every cell of a classified grid, from 0 to 1; negative for cells without
/// matter, which include those that closed surfaces merely touch. Sheets that lie in a plane
/// between cells have matter on both sides.
std::vector<float> cell_coverage(const VoxelGrid& grid, const CellTriangles& overlaps,
                                 std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                                 const CoverageOptions& options);

}  // namespace supple
