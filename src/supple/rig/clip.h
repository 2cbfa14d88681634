// Clips: animation channels with keys, evaluated at any time (semantics of glTF 2.0 samplers).
#pragma once

#include <string>
#include <vector>

#include "supple/rig/skeleton.h"

namespace supple {

/// How values run between keys.
enum class Interpolation { step, linear, cubic_spline };

/// What a channel drives.
enum class ChannelTarget { translation, rotation, scale, shape_weights };

/// One animated property. Keys hold `width` values each (3, 4 as x y z w, or the number of shapes);
/// with cubic splines each key holds in-tangent, value, out-tangent: 3 * width values.
struct Channel {
  ChannelTarget target = ChannelTarget::translation;
  Interpolation interpolation = Interpolation::linear;
  int joint = -1;       ///< driven joint; -1 for shape weights
  int first_shape = 0;  ///< first driven shape of a shape_weights channel
  int width = 3;
  std::vector<double> times;  ///< seconds, strictly increasing
  std::vector<double> values;
};

/// A named animation.
struct Clip {
  std::string name;
  std::vector<Channel> channels;
  double rate = 0;  ///< frames per second where the file states it, 0 where it does not

  /// Time of the first key, in seconds; 0 without keys.
  double start() const;

  /// Time of the last key, in seconds; 0 without keys.
  double end() const;
};

/// Applies a clip at `time` (seconds) on top of `pose`; properties it does not drive stay as they
/// are, and times outside a channel's keys give its first or last value.
void apply_clip(const Clip& clip, double time, Pose& pose);

/// Frames per second of a clip: the stated rate, or one of the usual rates (24, 25, 30, 48, 50, 60,
/// 120) that puts its keys on whole frames, or `fallback`.
double clip_rate(const Clip& clip, double fallback = 24);

}  // namespace supple
