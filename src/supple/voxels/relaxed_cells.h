// Stiffness of cells whose matter moves as it costs least [Nesme 2006, section 5.3, with other
// interpolations]. Where the children of a cube follow the trilinear motion of its corners, thin
// parts cannot bend. Here they take, of all motions that agree with the trilinear one as follows,
// that of least energy: K = Σ ΦᵀKΦ, level by level, with Φ instead of interpolation.
//
// - A corner's moment, over the area where matter goes on into the next cube and against the
//   corner's bilinear function, is that of the trilinear motion. Of the sides at a corner the one
//   with the least such area counts: there a rod or a sheet ends, and next to it it may sag.
// - Across the cube, between sides that both go on, the mean strain is the trilinear one: with it
//   constant stress passes from cell to cell.
// - Corners on no such side follow the matter near them.
// - Matter that is held moves rigidly with the held corners.
//
// Sides that are held count as if matter went on there. Full cubes with nothing but full cubes
// around them stay trilinear, and so do masses. The cell of a body that has no other is not
// gathered level by level: parts of it that turn corners would share nodes in empty space.
#pragma once

#include <span>

#include "supple/voxels/cell_matrices.h"

namespace supple {

/// Gathers the stiffness and masses of a cell; `materials` has one entry per leaf of the solid, or
/// one for all.
CellMatrices gather_relaxed(const VoxelSolid& voxels, size_t cell,
                            std::span<const VoxelMaterial> materials, const HeldMatter& held);

}  // namespace supple
