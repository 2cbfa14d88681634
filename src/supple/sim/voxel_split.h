// Skins for voxel bodies with large triangles: split where they cross from cell to cell, as each
// cell bends on its own [Nesme 2006, section 3.2].
#pragma once

#include "supple/rig/character.h"
#include "supple/sim/scene.h"

namespace supple {

/// Splits the skin of a character where it crosses the sides of the cells that a voxel body of
/// these settings will have, whatever `voxels.split` says. Throws an input error naming `file` when
/// no such cells are possible.
void split_for_voxels(Character& character, const BodySettings& settings, const std::string& file);

}  // namespace supple
