// How bodies of tetrahedra show their skin.
#pragma once

#include "supple/sim/tet_model.h"
#include "supple/sim/tet_skin.h"

namespace supple {

/// A skin, and how far each vertex is from where plain skinning would have it.
struct TetSkinShown {
  std::vector<Vec3f> positions;  ///< of the character's vertices, m
  std::vector<float> distance;   ///< m
};

/// The skin with nodes at `nodes` (m). Vertices without flesh are where `plain` skinning has them
/// (empty: where the shapes have them); blend shapes are added as the skin would have them without
/// flesh. `smooth` may be null.
TetSkinShown show_tet_skin(const Character& character, const TetModel& model,
                           const SmoothTetSkin* smooth, std::span<const Vec3d> nodes,
                           const std::vector<double>& shape_weights, std::span<const Vec3f> plain);

}  // namespace supple
