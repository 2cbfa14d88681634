// Clips for the examples' characters: every freedom of an armature follows a smooth periodic curve,
// and feet may be held in place, the legs following. Clips are cubic splines with the curves' own
// slopes, so that they and their velocities are continuous, also where the clip starts again.
#pragma once

#include <string>
#include <vector>

#include "modelling/armature.h"
#include "modelling/curves.h"
#include "supple/rig/clip.h"

namespace supple::modelling {

/// Where a foot is over time. It turns about `pivot`, a point of the model at rest: by `yaw` about
/// Y, then by `pitch` about X (positive lifts the heel), radians; then it moves by x, y and z
/// (metres).
struct Footing {
  Vec3d pivot = Vec3d::Zero();
  Curve x = still(0), y = still(0), z = still(0);
  Curve pitch = still(0), yaw = still(0);
};

/// A periodic motion of an armature, which must outlive it.
class Choreography {
 public:
  Choreography(const Armature& armature, std::string name, double seconds)
      : m_armature(armature), m_name(std::move(name)), m_seconds(seconds) {}

  /// Length of the clip, in seconds.
  double seconds() const { return m_seconds; }

  /// Moves a joint's freedom; several curves add up.
  void move(const std::string& joint, const std::string& freedom, Curve curve);

  /// Moves both joints of a pair as mirror images.
  void move_pair(const std::string& joint, const std::string& freedom, const Curve& curve);

  /// Moves a foot along a footing: the freedoms of hip, knee and ankle, six in all, are solved for.
  void place_foot(const std::string& hip, const std::string& knee, const std::string& ankle,
                  Footing footing);

  /// Values of all freedoms at a time (seconds).
  std::vector<double> values(double time) const;

  /// The motion as a clip with `rate` keys per second.
  Clip clip(double rate = 24) const;

 private:
  struct Move {
    size_t freedom;
    Curve curve;
  };
  struct Leg {
    std::vector<size_t> freedoms;
    int foot;
    Vec3d foot_place;
    Footing footing;
  };

  Pose pose(double time) const { return m_armature.pose(values(time)); }
  void solve(const Leg& leg, double time, std::vector<double>& values) const;

  const Armature& m_armature;
  std::string m_name;
  double m_seconds;
  std::vector<Move> m_moves;
  std::vector<Leg> m_legs;
};

}  // namespace supple::modelling
