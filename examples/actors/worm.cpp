#include <algorithm>
#include <cmath>
#include <numbers>

#include "actors/self_propelled.h"
#include "modelling/choreography.h"
#include "modelling/quilt.h"
#include "modelling/sculpture.h"
#include "supple/math/smooth_step.h"

namespace supple::actors {
namespace {

using namespace modelling;

constexpr double length = 0.4;  // metres
constexpr double radius = 0.025;
constexpr double breadth = 1.9;              // over the height: rolled up, it stands like a wheel
constexpr double hinges[] = {-0.1, 0, 0.1};  // along x
constexpr int rings = 26, around = 10;       // at detail 1

// Middle and radius of the body at a fraction of its length, from the tail to the head.
Vec3d middle_and_radius(double s) {
  const double t = 2 * s - 1;
  // Round ends, the head's more slender than the tail's.
  const double end = std::sqrt(std::max(0.0, 1 - std::pow(t, 8)));
  const double own = radius * end * (1 - 0.26 * t * t - 0.08 * t * t * t);
  // Where it is thinner, half of what it lacks is below.
  return {length * (s - 0.5), 0.5 * (own + radius), own};
}

Quilt sew(int detail) {
  Quilt quilt;
  const int count = detail * around;
  std::vector<double> fractions;
  // The poles are nearer to their rings than rings to each other, so that ends are round.
  for (int i = 0; i < rings * detail; ++i) fractions.push_back((i + 0.55) / (rings * detail + 0.1));
  const auto profile = [](double q) {
    const Vec3d p = middle_and_radius(0.5 - 0.5 * std::cos(std::numbers::pi * q));
    return Vec3d(p[0], p[2], 0);
  };
  std::vector<int> before;
  const int tail = quilt.add_vertex({-length / 2, 0.5 * radius, 0});
  for (const double q : at_lengths(profile, fractions)) {
    const Vec3d p = middle_and_radius(0.5 - 0.5 * std::cos(std::numbers::pi * q));
    std::vector<int> ring;
    for (int k = 0; k < count; ++k) {
      const double angle = 2 * std::numbers::pi * k / count;  // from below towards -z
      // Flat above and below, round at the sides.
      const double c = std::cos(angle);
      const double up = std::copysign(std::pow(std::abs(c), 0.7), c);
      ring.push_back(quilt.add_vertex({p[0], p[1] - p[2] * up, -breadth * p[2] * std::sin(angle)}));
    }
    ring.push_back(ring.front());
    if (before.empty())
      quilt.add_fan(std::vector<int>(ring.rbegin(), ring.rend()), tail);
    else
      quilt.add_strip(before, ring);
    before = std::move(ring);
  }
  quilt.add_fan(before, quilt.add_vertex({length / 2, 0.5 * radius, 0}));
  quilt.put_on_ground();
  return quilt;
}

// A rosy back over a pale belly, and a saddle behind the head.
Vec3d colour(const Vec3d& p) {
  const double back = smooth_step(p[1] / (1.7 * radius));
  const Vec3d skin =
      screen_colour(0.93, 0.70, 0.64) * (1 - back) + screen_colour(0.66, 0.33, 0.31) * back;
  const double saddle = smooth_step(3 - std::abs(p[0] - 0.085) / 0.011);
  const double segment = 1 - 0.12 * (1 - saddle) * std::cos(2 * std::numbers::pi * p[0] / 0.031);
  return segment * (skin * (1 - saddle) + screen_colour(0.95, 0.58, 0.42) * saddle);
}

Motors make_motors() {
  Motors motors;
  const auto at = [](double x) { return Vec3d(x, radius, 0); };
  const Vec3d z = Vec3d::UnitZ();
  const TurnLimits limits{-100, 100};
  motors.add_root("root", at(0.5 * (hinges[0] + hinges[1])));
  // Towards the tail a turn the other way round is one upwards.
  motors.add("spine1", "root", at(hinges[0]), {{"curl", -z}}, {limits});
  motors.add("spine2", "root", at(hinges[1]), {{"curl", z}}, {limits});
  motors.add("spine3", "spine2", at(hinges[2]), {{"curl", z}}, {limits});
  return motors;
}

// Weights pass from bone to bone over a bone's length, half before and half after the hinge.
BoneShares shares(double x) {
  const auto beyond = [x](int hinge) { return smooth_step((x - hinges[hinge] + 0.05) / 0.1); };
  return {
      {1, 1 - beyond(0)}, {0, beyond(0) - beyond(1)}, {2, beyond(1) - beyond(2)}, {3, beyond(2)}};
}

Clip curl(const Armature& armature) {
  Choreography choreography(armature, "curl", 2);
  choreography.move("spine1", "curl", bump(2, 0, 2, 0.8));
  choreography.move("spine2", "curl", wave(2, 0.35));
  choreography.move("spine3", "curl", bump(2, 0.3, 2.3, 0.9));
  return choreography.clip();
}

}  // namespace

SelfPropelled worm(int detail) {
  const Quilt quilt = sew(std::max(1, detail));
  const Motors motors = make_motors();
  SelfPropelled worm{quilt.character("worm", [&](int v) { return colour(quilt.place(v)); }),
                     motors.joints()};
  std::vector<BoneShares> all;
  for (int v = 0; v < quilt.size(); ++v) all.push_back(shares(quilt.place(v)[0]));
  rig(worm.character, motors, all);
  worm.character.clips.push_back(curl(motors.armature()));
  return worm;
}

}  // namespace supple::actors
