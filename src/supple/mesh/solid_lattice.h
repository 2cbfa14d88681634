// Solids as cells of a lattice: which cells a mesh fills, and how much of each. Cells are those of
// the dense voxelisation (voxel_grid.h): what a triangle runs through, and what is enclosed or
// wound round. Cavities without an opening are filled.
//
// The grid fits the mesh's box: where the box is a whole number of cells long, its sides are planes
// of nodes, and no cell reaches beyond it. Same result for any number of threads.
#pragma once

#include <span>
#include <vector>

#include "supple/mesh/sparse_lattice.h"
#include "supple/mesh/voxel_grid.h"

namespace supple {

/// How a solid is cut into cells.
struct SolidOptions {
  double spacing = 0;           ///< side of a cell, in metres; 0 takes it from `cells`
  int cells = 32;               ///< along the longest side of the mesh
  double least_coverage = 0.1;  ///< of cells with next to no matter, such as those of open sheets
};

/// A solid as cells of a lattice.
struct SolidLattice {
  SparseLattice lattice;
  double spacing = 0;            ///< side of a cell, in metres
  Vec3d origin = Vec3d::Zero();  ///< where node 0 0 0 lies, in metres
  std::vector<float> coverage;   ///< filled part of each cell, block_cells per slot of the lattice

  /// Where a node lies at rest, in metres.
  Vec3d position(const Vec3i& node) const { return origin + spacing * node.cast<double>(); }

  /// The filled part of a cell with matter, from 0 to 1.
  double covered(LatticePlace cell) const {
    const int32_t slot = lattice.cell_slots[static_cast<size_t>(cell.block)];
    return static_cast<double>(
        coverage[static_cast<size_t>(slot) * block_cells + static_cast<size_t>(cell.local)]);
  }
};

/// The cells of the solid that a mesh bounds. Throws an input error when there would be more than
/// 2^30 cells in its box, or none with matter.
SolidLattice fill_lattice(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                          const SolidOptions& options = {});

}  // namespace supple
