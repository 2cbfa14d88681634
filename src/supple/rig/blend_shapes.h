// Blend shapes (morph targets): sparse offsets added to the rest shape before skinning.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "supple/math/types.h"

namespace supple {

/// One shape: offsets of the vertices it moves, in model space at rest, and its rest weight.
struct BlendShape {
  std::string name;
  std::vector<int32_t> vertices;
  std::vector<Vec3f> offsets;
  double rest_weight = 0;
};

/// Adds every shape, scaled by its weight, to `positions`.
void add_blend_shapes(std::span<const BlendShape> shapes, std::span<const double> weights,
                      std::span<Vec3f> positions);

}  // namespace supple
