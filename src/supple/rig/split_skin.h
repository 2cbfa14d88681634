// Splitting the skin of a character where it crosses the planes of a grid, with all that belongs to
// its vertices: weights, painted maps, texture coordinates, colours and shapes.
#pragma once

#include "supple/rig/character.h"

namespace supple {

/// Splits the triangles of a character that has not been split yet at the planes of `grid`, and
/// says in its `split_map` where everything comes from. Vertices keep their order; those that are
/// made stand at the end of their part. Vertices that an exporter doubled at seams are split alike,
/// so that no gap opens between them. Meshes that hang on joints of a skinned character stay as
/// they are. `tolerance` is that of split_at_planes(), which also says when this throws.
void split_skin(Character& character, const CellGrid& grid, double tolerance = 0.01);

/// The vertices of the input file that a part was made of; its own where nothing was split.
Range input_vertices(const SplitMap& map, const Part& part);

}  // namespace supple
