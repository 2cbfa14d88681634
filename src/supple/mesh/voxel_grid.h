// Solid voxelisation of triangle meshes: closed, open, overlapping, of many parts, with sheets of
// no thickness. Cells that a triangle touches are boundary; the others are inside when the boundary
// encloses them or when the surface winds round them [Jacobson 2013], and outside else.
//
// The grid lies symmetrically about the middle of the mesh's box, so that a mirror-symmetric mesh
// has a mirror-symmetric grid. Same result for any number of threads. Dense: memory grows with the
// box, not with the matter in it.
#pragma once

#include <span>
#include <vector>

#include "supple/math/types.h"

namespace supple {

/// What a cell is to the solid.
enum class CellKind : uint8_t { outside, boundary, inside };

/// A box of cubic cells, x fastest.
struct VoxelGrid {
  Vec3i size = Vec3i::Zero();    ///< cells along each axis
  Vec3d middle = Vec3d::Zero();  ///< centre of the whole grid
  double spacing = 0;            ///< side of a cell, in length units
  std::vector<CellKind> kinds;   ///< one per cell

  /// Number of cells.
  size_t cells() const {
    return static_cast<size_t>(size[0]) * static_cast<size_t>(size[1]) *
           static_cast<size_t>(size[2]);
  }

  /// Whether these coordinates are those of a cell.
  bool has(const Vec3i& cell) const {
    return (cell.array() >= 0).all() && (cell.array() < size.array()).all();
  }

  /// The number of a cell.
  size_t index(const Vec3i& cell) const {
    return (static_cast<size_t>(cell[2]) * static_cast<size_t>(size[1]) +
            static_cast<size_t>(cell[1])) *
               static_cast<size_t>(size[0]) +
           static_cast<size_t>(cell[0]);
  }

  /// The coordinates of a cell.
  Vec3i cell(size_t index) const {
    const auto nx = static_cast<size_t>(size[0]), ny = static_cast<size_t>(size[1]);
    return {static_cast<int32_t>(index % nx), static_cast<int32_t>(index / nx % ny),
            static_cast<int32_t>(index / nx / ny)};
  }

  /// The centre of a cell, also of one beyond the grid.
  Vec3d centre(const Vec3i& cell) const {
    return middle + spacing * (cell.cast<double>() - (size.cast<double>() - Vec3d::Ones()) / 2);
  }

  /// Where a point lies, in cells from the centre of cell 0 0 0.
  Vec3d lattice_point(const Vec3d& point) const {
    return (point - middle) / spacing + (size.cast<double>() - Vec3d::Ones()) / 2;
  }

  /// The cell that holds a point, which may lie beyond the grid.
  Vec3i cell_at(const Vec3d& point) const {
    return (lattice_point(point).array() + 0.5).floor().max(-1e9).min(1e9).cast<int32_t>();
  }

  /// What the solid is at a point; outside beyond the grid.
  CellKind kind_at(const Vec3d& point) const {
    const Vec3i cell = cell_at(point);
    return has(cell) ? kinds[index(cell)] : CellKind::outside;
  }
};

/// Which triangles overlap each cell, cell after cell, rising.
struct CellTriangles {
  std::vector<int32_t> offsets;  ///< first entry of every cell, and the total at the end
  std::vector<int32_t> triangles;

  /// The triangles that overlap a cell.
  std::span<const int32_t> of(size_t cell) const {
    return {triangles.data() + offsets[cell], triangles.data() + offsets[cell + 1]};
  }
};

/// How fine a grid is made.
struct VoxelOptions {
  double spacing = 0;   ///< side of a cell, in length units; 0 takes it from `resolution`
  int resolution = 96;  ///< cells along the longest side of the mesh
  int padding = 1;      ///< empty cells around the mesh, at least 1
};

/// A grid around the mesh, all cells outside. Throws an input error when it would have more than
/// 2^30 cells.
VoxelGrid grid_around(std::span<const Vec3f> positions, const VoxelOptions& options = {});

/// The triangles that overlap or touch each cell of a grid.
CellTriangles triangles_in_cells(const VoxelGrid& grid, std::span<const Vec3f> positions,
                                 std::span<const Vec3i> triangles);

/// Which triangles belong to shells with holes, one entry (0 or 1) per triangle. Where as many
/// triangles run along every edge one way as the other, a shell has none, unless all of it are
/// segments (triangles with two corners at one place).
std::vector<uint8_t> triangles_of_open_shells(std::span<const Vec3f> positions,
                                              std::span<const Vec3i> triangles);

/// Sets the kinds of a grid's cells from the mesh and the triangles in its cells. Where the surface
/// has holes, cells count as inside when it winds round their centre by more than one half; only
/// cells in the box around the pieces with holes are asked.
void classify_cells(VoxelGrid& grid, const CellTriangles& overlaps,
                    std::span<const Vec3f> positions, std::span<const Vec3i> triangles);

/// Makes cells inside count as outside where the surface does not wind round them: closed cavities.
void empty_cavities(VoxelGrid& grid, std::span<const Vec3f> positions,
                    std::span<const Vec3i> triangles);

/// The solid voxelisation of a mesh.
VoxelGrid voxelise(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                   const VoxelOptions& options = {});

}  // namespace supple
