// Scripted motions: where material points are put over time.
#pragma once

#include <string>
#include <vector>

#include "supple/math/types.h"
#include "supple/sim/scene.h"
#include "supple/sim/session.h"

namespace supple {

/// A moment of a run, as scripts count it.
struct Moment {
  double time = 0;   ///< seconds in the clip
  double frame = 0;  ///< frame number; fractions lie between frames
};

/// A chain of turns and shifts, each done to the amount its keys give.
class Script {
 public:
  Script() = default;

  /// Throws an input error naming `file` and `field` when keys or axes are not possible. Motions
  /// without keys go from the first to the last frame of `range`.
  Script(const std::vector<ScriptSettings>& motions, const FrameRange& range,
         const std::string& file, const std::string& field);

  /// The motion from rest at a moment.
  Affine at(const Moment& moment) const;

 private:
  struct Key {
    double time, amount;
  };
  struct Step {
    Vec3d translate, axis, about;
    double angle;  // radians
    TimeUnit unit;
    Ramp ramp;
    std::vector<Key> keys;
  };
  static double amount_at(const Step& step, const Moment& moment);

  std::vector<Step> m_steps;
};

}  // namespace supple
