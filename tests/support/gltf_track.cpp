#include "support/gltf_track.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>

namespace supple::test {
namespace {

void normalise(std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  for (double& x : v) x /= std::sqrt(sum);
}

/// Spherical linear interpolation of unit quaternions (glTF 2.0, appendix C.4): with d = a.b,
/// alpha = arccos |d|, s = sign d: sin(alpha (1-t)) / sin(alpha) a + s sin(alpha t) / sin(alpha) b.
std::vector<double> slerp(std::vector<double> a, std::vector<double> b, double t) {
  normalise(a);
  normalise(b);
  double d = 0;
  for (size_t i = 0; i < 4; ++i) d += a[i] * b[i];
  const double alpha = std::acos(std::min(1.0, std::abs(d)));
  const double sine = std::sin(alpha);
  double wa = 1 - t, wb = t;
  if (sine > 1e-12) {
    wa = std::sin(alpha * (1 - t)) / sine;
    wb = std::sin(alpha * t) / sine;
  }
  if (d < 0) wb = -wb;
  for (size_t i = 0; i < 4; ++i) a[i] = wa * a[i] + wb * b[i];
  return a;
}

}  // namespace

std::vector<double> sample_gltf_track(const std::string& interpolation, bool rotation, size_t width,
                                      const std::vector<double>& times,
                                      const std::vector<double>& values, double time) {
  const bool cubic = interpolation == "CUBICSPLINE";
  if (!cubic && interpolation != "LINEAR" && interpolation != "STEP") {
    throw std::runtime_error("unknown interpolation " + interpolation);
  }
  if (times.empty() || values.size() != times.size() * width * (cubic ? 3 : 1)) {
    throw std::runtime_error("animation sampler has the wrong number of values");
  }
  // Part 0, 1, 2 of a CUBICSPLINE key: in-tangent, value, out-tangent.
  const auto key = [&](size_t k, size_t part) {
    const size_t first = (cubic ? 3 * k + part : k) * width;
    return std::vector<double>(values.begin() + static_cast<ptrdiff_t>(first),
                               values.begin() + static_cast<ptrdiff_t>(first + width));
  };
  std::vector<double> result;
  if (time <= times.front()) {
    result = key(0, 1);
  } else if (time >= times.back()) {
    result = key(times.size() - 1, 1);
  } else {
    size_t k = 0;
    while (times[k + 1] <= time) ++k;
    const double td = times[k + 1] - times[k], t = (time - times[k]) / td;
    const std::vector<double> from = key(k, 1), to = key(k + 1, 1);
    result = from;
    if (interpolation == "LINEAR" && rotation) {
      result = slerp(from, to, t);
    } else if (interpolation == "LINEAR") {
      for (size_t i = 0; i < width; ++i) result[i] = (1 - t) * from[i] + t * to[i];
    } else if (cubic) {
      // (2t^3 - 3t^2 + 1) v_k + td (t^3 - 2t^2 + t) b_k
      //   + (-2t^3 + 3t^2) v_k+1 + td (t^3 - t^2) a_k+1   (glTF 2.0, appendix C.5)
      const std::vector<double> out = key(k, 2), in = key(k + 1, 0);
      const double t2 = t * t, t3 = t2 * t;
      for (size_t i = 0; i < width; ++i) {
        result[i] = (2 * t3 - 3 * t2 + 1) * from[i] + td * (t3 - 2 * t2 + t) * out[i] +
                    (-2 * t3 + 3 * t2) * to[i] + td * (t3 - t2) * in[i];
      }
    }
  }
  if (rotation) normalise(result);
  return result;
}

}  // namespace supple::test
