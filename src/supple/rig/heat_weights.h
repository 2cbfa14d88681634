// Bone weights by heat: every bone in turn is warm, the others are cold, and the solid settles
// [Baran 2007]. Here heat runs through the whole solid and not only over its skin, so that the
// result does not depend on how the surface is cut into triangles.
#pragma once

#include <vector>

#include "supple/rig/bone_distances.h"
#include "supple/rig/branches.h"

namespace supple {

/// How heat spreads.
struct HeatOptions {
  double smoothness = 1;  ///< width of the change from bone to bone, relative to the default
};

/// The weight of one bone at one vertex.
struct HeatWeight {
  int32_t vertex = 0;
  double weight = 0;
};

/// Weights of every bone at the vertices it reaches, by vertex; at a vertex they sum to one but for
/// what is negligible. Same result for any number of threads.
///
/// The temperature w of a bone solves Δw = c/d² (w − p): where the nearest bone is at distance d, a
/// node is held at p, the share of this bone among the nearest (settled between branches), by a
/// heat flow that weakens with the square of the distance. So changes from bone to bone are as wide
/// as the limb is thick, whatever its size.
std::vector<std::vector<HeatWeight>> heat_weights(const SolidGraph& graph,
                                                  const BoneDistances& distances, size_t bone_count,
                                                  const Branches& branches,
                                                  const HeatOptions& options = {});

}  // namespace supple
