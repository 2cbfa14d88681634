// A smooth ramp.
#pragma once

#include <algorithm>

namespace supple {

/// Goes from 0 to 1 as `t` does, with no slope at either end; 0 before and 1 after.
inline double smooth_step(double t) {
  t = std::clamp(t, 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

}  // namespace supple
