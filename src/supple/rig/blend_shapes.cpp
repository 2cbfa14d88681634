#include "supple/rig/blend_shapes.h"

#include <algorithm>

namespace supple {

void add_blend_shapes(std::span<const BlendShape> shapes, std::span<const double> weights,
                      std::span<Vec3f> positions) {
  for (size_t s = 0; s < std::min(shapes.size(), weights.size()); ++s) {
    if (weights[s] == 0) continue;
    const float weight = static_cast<float>(weights[s]);
    const BlendShape& shape = shapes[s];
    for (size_t i = 0; i < shape.vertices.size(); ++i)
      positions[shape.vertices[i]] += weight * shape.offsets[i];
  }
}

}  // namespace supple
