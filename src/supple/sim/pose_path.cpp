#include "supple/sim/pose_path.h"

#include <algorithm>
#include <cmath>

namespace supple {

Pose pose_between(const Pose& from, const Pose& to, double part) {
  Pose result = to;
  for (size_t j = 0; j < std::min(from.local.size(), to.local.size()); ++j) {
    const Transform &a = from.local[j], &b = to.local[j];
    result.local[j].translation = a.translation + part * (b.translation - a.translation);
    result.local[j].scale = a.scale + part * (b.scale - a.scale);
    result.local[j].rotation = a.rotation.slerp(part, b.rotation);
  }
  for (size_t s = 0; s < std::min(from.shape_weights.size(), to.shape_weights.size()); ++s)
    result.shape_weights[s] =
        from.shape_weights[s] + part * (to.shape_weights[s] - from.shape_weights[s]);
  return result;
}

double largest_turn(const Pose& from, const Pose& to) {
  double largest = 0;
  for (size_t j = 0; j < std::min(from.local.size(), to.local.size()); ++j)
    largest = std::max(largest, from.local[j].rotation.angularDistance(to.local[j].rotation));
  return largest;
}

}  // namespace supple
