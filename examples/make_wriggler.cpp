// Models the wriggler: a striped caterpillar of one closed surface on a chain of bones, with a clip
// in which it rears up, sways and lies down again. make_wriggler FILE.glb [RINGS]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>

#include "supple/core/error.h"
#include "supple/io/character_writer.h"

namespace {

using namespace supple;

constexpr int bones = 8;
constexpr double length = 1.6;  // metres
constexpr double girth = 0.16;
constexpr double seconds = 4;
constexpr double rate = 24;

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

/// A chain of bones along the body, and weights that pass smoothly from one to the next.
void rig(Character& character) {
  for (int b = 0; b < bones; ++b) {
    Joint joint;
    joint.name = "bone" + std::to_string(b);
    joint.parent = b - 1;
    joint.rest.translation = b == 0 ? Vec3d(0, girth, 0) : Vec3d(0, 0, length / bones);
    joint.is_bone = true;
    character.skeleton.joints.push_back(joint);
  }
  const std::vector<Affine> globals =
      global_matrices(character.skeleton, rest_pose(character.skeleton));
  for (int b = 0; b < bones; ++b)
    character.binds.push_back({b, globals[static_cast<size_t>(b)].inverse()});
  for (const Vec3f& p : character.skin.positions) {
    const double along = static_cast<double>(p[2]) / length * bones - 0.5;
    const int low = std::clamp(static_cast<int>(std::floor(along)), 0, bones - 1);
    const int high = std::min(low + 1, bones - 1);
    const double t = std::clamp(along - low, 0.0, 1.0);
    const double share = t * t * (3 - 2 * t);
    const Influence pair[] = {{low, static_cast<float>(1 - share)},
                              {high, static_cast<float>(share)}};
    character.weights.add_vertex(pair, low);
  }
}

/// Four seconds that end where they began: a wave runs through the body while it rears up.
void animate(Character& character) {
  Clip clip;
  clip.name = "wriggle";
  clip.rate = rate;
  for (int b = 0; b < bones; ++b) {
    Channel channel;
    channel.target = ChannelTarget::rotation;
    channel.joint = b;
    channel.width = 4;
    for (int frame = 0; frame <= static_cast<int>(seconds * rate); ++frame) {
      const double phase = 2 * std::numbers::pi * frame / (seconds * rate);
      const double rise = 0.5 - 0.5 * std::cos(phase);
      const double pitch = b < 2 ? 0 : -0.42 * rise + 0.10 * std::sin(2 * phase - 0.7 * b);
      const double yaw = 0.28 * std::sin(2 * phase - 0.8 * b) * (b == 0 ? 0.3 : 1);
      const Quatd q =
          Eigen::AngleAxisd(yaw, Vec3d::UnitY()) * Eigen::AngleAxisd(pitch, Vec3d::UnitX());
      channel.times.push_back(frame / rate);
      channel.values.insert(channel.values.end(), {q.x(), q.y(), q.z(), q.w()});
    }
    clip.channels.push_back(std::move(channel));
  }
  character.clips.push_back(std::move(clip));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: make_wriggler FILE.glb [RINGS]\n");
    return 2;
  }
  const int rings = std::clamp(argc > 2 ? std::atoi(argv[2]) : 120, 12, 3000);
  Character character;
  character.name = "wriggler";
  model_skin(character, rings);
  Part part;
  part.name = "wriggler";
  part.vertices = {0, static_cast<int32_t>(character.skin.positions.size())};
  part.triangles = {0, static_cast<int32_t>(character.skin.triangles.size())};
  character.parts.push_back(part);
  rig(character);
  animate(character);
  try {
    write_character(argv[1], character);
  } catch (const Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 4;
  }
}
