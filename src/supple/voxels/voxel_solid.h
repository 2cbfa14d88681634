// Shapes as coarse cells that know where in them the matter is [Nesme 2006, section 3.1]: closed
// and open surfaces, sheets, segments, or all of them at once. The shape is voxelised at a
// resolution 2^levels finer than the cells that will be animated; every such cell keeps its part of
// the octree between the two, in which full cubes are one leaf.
//
// Cells are cubes on a grid about the middle of the shape's box, inflated by 1 %. Same result for
// any number of threads.
#pragma once

#include <span>
#include <vector>

#include "supple/mesh/lattice_mesh.h"
#include "supple/mesh/split_at_planes.h"

namespace supple {

/// How much of the cells on the surface is filled.
enum class FillRule {
  exact,  ///< as much as the surface winds round
  half,   ///< one half of every finest cell that the surface enters [Nesme 2006, section 5.1]
};

/// How a shape is cut into voxels.
struct VoxelSolidOptions {
  int cells = 10;      ///< along the longest side of the box
  double spacing = 0;  ///< side of a cell, in metres; 0 takes it from `cells`
  int levels = 3;      ///< finer levels at which the matter is looked at
  FillRule fill = FillRule::exact;
  double sheet_filling = 0.5;  ///< of finest cells with nothing but sheets and segments, 0 to 1
  bool hollow = false;         ///< closed cavities stay empty
  bool merge = true;           ///< full cubes are one leaf; not where the material varies in space
};

/// A cube of matter in a cell: a leaf of its octree.
struct VoxelLeaf {
  uint32_t path = 0;  ///< Morton code of its lower corner in finest cells of its cell, x lowest
  uint8_t depth = 0;  ///< its side is that of the cell by 2^depth
  float filled = 1;   ///< part of it that is matter, more than 0
};

/// A shape as cells, with the octree of matter in each.
struct VoxelSolid {
  SolidLattice solid;  ///< the cells; coverage is their filling ratio
  LatticeMesh mesh;    ///< their nodes, in the order all else is in
  int levels = 0;
  std::vector<uint32_t> first_leaf;  ///< of every cell, and the total
  std::vector<VoxelLeaf> leaves;     ///< cell after cell, by path

  /// The leaves of a cell.
  std::span<const VoxelLeaf> leaves_of(size_t cell) const {
    return {leaves.data() + first_leaf[cell], leaves.data() + first_leaf[cell + 1]};
  }

  /// The lower corner of a leaf, in finest cubes from that of its cell.
  Vec3i finest(const VoxelLeaf& leaf) const;

  /// The centre of a leaf of a cell, in metres.
  Vec3d centre(size_t cell, const VoxelLeaf& leaf) const;
};

/// The planes between the cells that voxelise_solid() cuts a shape into; throws as that does for
/// shapes that are a point or smaller than a cell.
CellGrid voxel_planes(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                      const VoxelSolidOptions& options = {});

/// Cuts a shape into voxels; segments are triangles with two corners in common. Throws an input
/// error when there is nothing to cut, when it is smaller than a cell, or when it takes more than
/// 2^30 finest cells.
VoxelSolid voxelise_solid(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                          const VoxelSolidOptions& options = {});

}  // namespace supple
