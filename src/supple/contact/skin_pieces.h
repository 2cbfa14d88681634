// Cuts the free surface of a skin out of its mesh: skin_surface.h says what is kept.
#pragma once

#include <span>
#include <vector>

#include "supple/contact/skin_surface.h"

namespace supple {

/// The pieces of a mesh (in metres) that have a free side, by triangle. Triangles without area are
/// left out.
std::vector<SkinPiece> free_pieces(const InsideTest& test, std::span<const Vec3f> positions,
                                   std::span<const Vec3i> triangles, double spacing);

}  // namespace supple
