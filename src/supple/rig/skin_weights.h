// Skin weights: which bones each vertex of the skin follows, and how much.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "supple/rig/skeleton.h"

namespace supple {

/// A joint as one skin sees it: where the skin's rest shape lies in the joint's own space.
struct Bind {
  int joint = 0;
  Affine rest_to_joint =
      Affine::Identity();  ///< inverse bind matrix, from the rest pose in model space
};

/// One bind's pull on a vertex.
struct Influence {
  int32_t bind = 0;
  float weight = 0;
};

/// Any number of influences per vertex, stored one vertex after the other.
struct SkinWeights {
  std::vector<int32_t> offsets{0};    ///< first influence of every vertex, and the total at the end
  std::vector<Influence> influences;  ///< weights of a vertex sum to one

  /// Number of vertices.
  size_t vertices() const { return offsets.size() - 1; }

  /// The influences of one vertex.
  std::span<const Influence> of(size_t vertex) const {
    return {influences.data() + offsets[vertex], influences.data() + offsets[vertex + 1]};
  }

  /// Adds the next vertex: drops weights of zero, joins repeated binds and scales the sum to one.
  /// Without any positive weight the vertex follows `fallback_bind` alone.
  /// Returns the sum of the weights as given.
  double add_vertex(std::span<const Influence> given, int32_t fallback_bind);
};

}  // namespace supple
