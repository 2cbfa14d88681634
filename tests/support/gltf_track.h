// The value of a glTF animation sampler at a time, straight from the specification's formulas.
#pragma once

#include <string>
#include <vector>

namespace supple::test {

/// The value of a glTF animation sampler: `values` holds for each key time `width` numbers, three
/// times as many (in-tangent, value, out-tangent) for CUBICSPLINE. Rotations (width 4, x y z w) are
/// interpolated along the shorter arc when LINEAR, and come back normalised.
std::vector<double> sample_gltf_track(const std::string& interpolation, bool rotation, size_t width,
                                      const std::vector<double>& times,
                                      const std::vector<double>& values, double time);

}  // namespace supple::test
