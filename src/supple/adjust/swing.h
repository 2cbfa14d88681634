// What animators see of a swing, measured on its trajectory: how fast it goes back and forth (zero
// crossings), how quickly it dies down (a line through the logarithms of its peaks), and where it
// comes to rest.
#pragma once

#include <span>
#include <vector>

#include "supple/solve/body_vector.h"

namespace supple {

/// A swing that dies down.
struct Swing {
  double frequency = 0;  ///< Hz; 0 when it does not cross its rest often enough to tell
  double half_life = 0;  ///< seconds in which its peaks halve; infinite when they do not shrink
  double rest = 0;       ///< the value it swings about
  double peak = 0;       ///< height of its first peak above rest
  int crossings = 0;     ///< how many there were
};

/// Measures samples h seconds apart.
Swing measure_swing(std::span<const double> samples, double h);

/// The place every number of a trajectory swings about, by least squares with swings of the
/// frequency (Hz) and half-life (s) that were measured; samples are h seconds apart.
BodyVector rest_of(std::span<const BodyVector> trajectory, double h, const Swing& swing);

}  // namespace supple
