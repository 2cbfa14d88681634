#include "actors/wriggler.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "modelling/choreography.h"
#include "supple/math/smooth_step.h"

namespace supple::actors {
namespace {

using namespace modelling;

constexpr int bones = 8;
constexpr double length = 1.6;  // metres
constexpr double girth = 0.16;
constexpr double seconds = 4;

/// Radius of the body at a fraction of its length: round ends, a bulge per segment.
double radius(double s) {
  const double ends = std::pow(std::max(0.0, 1 - std::pow(std::abs(2 * s - 1), 6)), 0.5);
  const double bulges = 1 + 0.12 * std::cos(2 * std::numbers::pi * bones * (s - 0.5 / bones));
  return girth * ends * bulges * (0.75 + 0.25 * std::sin(std::numbers::pi * s));
}

/// A closed surface of revolution along +Z: two poles and rings in between, striped green.
void model_skin(Character& character, int rings) {
  const int around = rings / 3;
  VertexAttribute colour{"COLOR_0", 3, {}};
  const auto add_vertex = [&](const Vec3d& p, double s) {
    character.skin.positions.push_back(p.cast<float>());
    const double stripe = 0.5 + 0.5 * std::cos(2 * std::numbers::pi * bones * s);
    const Vec3d rgb = Vec3d(0.95, 0.75, 0.25) * stripe + Vec3d(0.35, 0.62, 0.20) * (1 - stripe);
    for (int c = 0; c < 3; ++c) colour.values.push_back(static_cast<float>(rgb[c]));
  };
  add_vertex({0, girth, 0}, 0);
  for (int i = 1; i < rings; ++i) {
    // Rings crowd towards the round ends.
    const double s = 0.5 - 0.5 * std::cos(std::numbers::pi * i / rings);
    for (int k = 0; k < around; ++k) {
      const double angle = 2 * std::numbers::pi * k / around;
      add_vertex({radius(s) * std::cos(angle), girth + radius(s) * std::sin(angle), length * s}, s);
    }
  }
  add_vertex({0, girth, length}, 1);
  const auto ring = [&](int i, int k) { return 1 + (i - 1) * around + k % around; };
  const int last = static_cast<int>(character.skin.positions.size()) - 1;
  for (int k = 0; k < around; ++k) {
    character.skin.triangles.emplace_back(0, ring(1, k + 1), ring(1, k));
    character.skin.triangles.emplace_back(last, ring(rings - 1, k), ring(rings - 1, k + 1));
    for (int i = 1; i + 1 < rings; ++i) {
      character.skin.triangles.emplace_back(ring(i, k), ring(i, k + 1), ring(i + 1, k));
      character.skin.triangles.emplace_back(ring(i, k + 1), ring(i + 1, k + 1), ring(i + 1, k));
    }
  }
  character.attributes.push_back(std::move(colour));
}

/// A chain of bones along the body.
Armature make_armature() {
  Armature armature;
  for (int b = 0; b < bones; ++b)
    armature.add("bone" + std::to_string(b), b == 0 ? "" : "bone" + std::to_string(b - 1),
                 {0, girth, b * length / bones},
                 {{"yaw", Vec3d::UnitY()}, {"pitch", Vec3d::UnitX()}});
  return armature;
}

/// Weights that pass smoothly from one bone to the next.
void rig(Character& character) {
  const std::vector<Affine> globals =
      global_matrices(character.skeleton, rest_pose(character.skeleton));
  for (int b = 0; b < bones; ++b)
    character.binds.push_back({b, globals[static_cast<size_t>(b)].inverse()});
  for (const Vec3f& p : character.skin.positions) {
    const double along = static_cast<double>(p[2]) / length * bones - 0.5;
    const int low = std::clamp(static_cast<int>(std::floor(along)), 0, bones - 1);
    const int high = std::min(low + 1, bones - 1);
    const double share = smooth_step(along - low);
    const Influence pair[] = {{low, static_cast<float>(1 - share)},
                              {high, static_cast<float>(share)}};
    character.weights.add_vertex(pair, low);
  }
}

/// Four seconds that end where they began: a wave runs through the body while it rears up.
Clip wriggle(const Armature& armature) {
  Choreography choreography(armature, "wriggle", seconds);
  for (int b = 0; b < bones; ++b) {
    const std::string joint = "bone" + std::to_string(b);
    const double lag = b / (2 * std::numbers::pi);  // periods of the wave per radian
    choreography.move(joint, "yaw", wave(seconds / 2, b == 0 ? 0.084 : 0.28, 0.8 * lag));
    if (b < 2) continue;
    choreography.move(joint, "pitch", bump(seconds, 0, seconds, -0.42));
    choreography.move(joint, "pitch", wave(seconds / 2, 0.10, 0.7 * lag));
  }
  return choreography.clip();
}

}  // namespace

int wriggler_rings(int vertices) {
  return std::clamp(static_cast<int>(std::lround(std::sqrt(3.0 * vertices))), 12, 3000);
}

Character wriggler(int rings) {
  Character character;
  character.name = "wriggler";
  model_skin(character, std::clamp(rings, 12, 3000));
  Part part;
  part.name = "wriggler";
  part.vertices = {0, static_cast<int32_t>(character.skin.positions.size())};
  part.triangles = {0, static_cast<int32_t>(character.skin.triangles.size())};
  character.parts.push_back(part);
  const Armature armature = make_armature();
  character.skeleton = armature.skeleton();
  rig(character);
  character.clips.push_back(wriggle(armature));
  return character;
}

}  // namespace supple::actors
