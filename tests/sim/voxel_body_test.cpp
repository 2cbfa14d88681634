// Bodies of few cells in scenes: the ground below them, held points, springs, pokes, materials,
// checkpoints, and what is refused.
#include "supple/sim/voxel_body.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/solids.h"
#include "supple/core/error.h"
#include "supple/core/parallel.h"

namespace supple {
namespace {

using test::box;
using test::frames;
using test::side;

BodySettings voxels(int cells = 4) {
  BodySettings settings;
  settings.type = "voxels";
  settings.cells = cells;
  settings.young = 5e4;
  settings.poisson = 0.3;
  return settings;
}

StepReport run(VoxelBody& body, int first, int last) {
  StepReport report;
  Drive drive;
  for (int frame = first; frame <= last; ++frame) {
    drive.frame = frame;
    drive.time = (frame - 1) / 24.0;
    report = body.step(drive, 1.0 / 24);
  }
  return report;
}

std::vector<Vec3f> skin_of(const VoxelBody& body) {
  BodyFrame frame;
  body.skin(frame);
  return frame.positions;
}

double lowest(const VoxelBody& body) {
  double y = 1e9;
  for (const Vec3f& p : skin_of(body)) y = std::min(y, static_cast<double>(p[1]));
  return y;
}

std::string refusal(const Character& character, const BodySettings& settings) {
  try {
    const VoxelBody body(character, settings, frames(10), "s.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "was built";
}

TEST(VoxelBody, AHangingBarStretchesAsTheFormulaSays) {
  const Character bar = box({0.2, 1, 0.2});
  BodySettings settings = voxels(10);
  settings.young = 1e6;
  settings.poisson = 0;
  settings.dynamic = false;
  settings.voxels.levels = 3;
  settings.fixed = {{side({0, 0.499, 0}, {0, 1, 0}), {}}};
  VoxelBody body(bar, settings, frames(1), "s.json");
  run(body, 1, 1);
  // rho g L² / (2 E), with the length below what is held.
  const double expected = 1000 * 9.81 / (2 * 1e6);
  EXPECT_NEAR(-0.5 - lowest(body), expected, 0.05 * expected);
}

TEST(VoxelBody, APropStandsOnTheGroundBelowIt) {
  const Character cube = box({0.5, 0.5, 0.5});
  VoxelBody body(cube, voxels(3), frames(50), "s.json");
  run(body, 1, 120);
  EXPECT_NEAR(lowest(body), -0.25, 0.02);
  Vec3f middle = Vec3f::Zero();
  const std::vector<Vec3f> skin = skin_of(body);
  for (const Vec3f& p : skin) middle += p / static_cast<float>(skin.size());
  EXPECT_LT(std::hypot(middle[0], middle[2]), 0.01f);
  EXPECT_LT(middle[1], 0);
  EXPECT_GT(middle[1], -0.06f);
}

TEST(VoxelBody, HeldPointsGoWhereTheScriptSays) {
  const Character bar = box({1, 0.2, 0.2}, 0.05);
  BodySettings settings = voxels(5);
  ScriptSettings turn;
  turn.rotate = {{1, 0, 0}, 90, {0, 0, 0}};
  turn.translate = {0, 0.3, 0};
  settings.fixed = {{side({0.45, 0, 0}, {1, 0, 0}), {turn}, true},
                    {side({-0.45, 0, 0}, {-1, 0, 0}), {}, true}};
  VoxelBody body(bar, settings, frames(24), "s.json");
  Drive drive;
  size_t held = 0;
  for (int frame = 1; frame <= 24; ++frame) {
    drive.frame = frame;
    drive.time = (frame - 1) / 24.0;
    body.step(drive, 1.0 / 24);
    const std::vector<Vec3f> skin = skin_of(body);
    const Affine motion = body.model().held_points[0].script.at({drive.time, 1.0 * frame});
    held = 0;
    for (size_t v = 0; v < skin.size(); ++v) {
      const Vec3d rest = bar.skin.positions[v].cast<double>();
      if (std::abs(rest[0]) < 0.45) continue;
      const Vec3d target = rest[0] > 0 ? Vec3d(motion * rest) : rest;
      EXPECT_LT((skin[v].cast<double>() - target).norm(), 1e-5) << frame;
      ++held;
    }
  }
  EXPECT_GT(held, 20u);
}

TEST(VoxelBody, SpringsAndPokesPushTheSkin) {
  const Character cube = box({0.5, 0.5, 0.5});
  BodySettings settings = voxels(3);
  settings.gravity.acceleration = {0, 0, 0};
  PokeSettings poke;
  poke.at = {0.25, 0, 0};
  poke.radius = 0.15;
  poke.force = {-30, 0, 0};
  poke.to = 0.5;
  settings.pokes = {poke};
  PulledSettings pull;
  pull.select = side({-0.24, 0, 0}, {-1, 0, 0});
  pull.stiffness = 1e4;
  pull.skin = true;
  settings.pulled = {pull};
  VoxelBody body(cube, settings, frames(50), "s.json");
  run(body, 1, 12);
  double pushed = 1;
  for (size_t v = 0; v < cube.skin.positions.size(); ++v)
    if ((cube.skin.positions[v] - Vec3f(0.25f, 0, 0)).norm() < 0.11f)
      pushed = std::min(pushed, static_cast<double>(skin_of(body)[v][0]));
  EXPECT_LT(pushed, 0.245);
  run(body, 13, 200);
  for (size_t v = 0; v < cube.skin.positions.size(); ++v)
    EXPECT_LT((skin_of(body)[v] - cube.skin.positions[v]).norm(), 0.005f);
}

TEST(VoxelBody, FlyingBodiesKeepTheirCourse) {
  const Character cube = box({0.5, 0.3, 0.2});
  BodySettings settings = voxels(3);
  settings.gravity.acceleration = {0, 0, 0};
  settings.velocity = {1, 2, 3};
  settings.spin = {0, 0, 90};
  VoxelBody body(cube, settings, frames(50), "s.json");
  const auto middle = [&] {
    Vec3d sum = Vec3d::Zero();
    double mass = 0;
    for (size_t n = 0; n < body.model().masses.size(); ++n) {
      sum += body.model().masses[n] * body.node_positions()[n];
      mass += body.model().masses[n];
    }
    return Vec3d(sum / mass);
  };
  run(body, 1, 1);
  const Vec3d start = middle();
  run(body, 2, 25);
  EXPECT_LT((middle() - start - Vec3d(1, 2, 3)).norm(), 1e-6);
}

TEST(VoxelBody, RegionsMakeOneHalfStiffer) {
  const Character bar = box({1, 0.2, 0.2}, 0.05);
  BodySettings settings = voxels(4);
  settings.young = 2e5;
  settings.dynamic = false;
  settings.fixed = {{side({-0.49, 0, 0}, {-1, 0, 0}), {}}};
  const auto sag = [&] {
    VoxelBody body(bar, settings, frames(1), "s.json");
    run(body, 1, 1);
    return -0.1 - lowest(body);
  };
  const double plain = sag();
  RegionSettings region;
  region.select = side({0, 0, 0}, {-1, 0, 0});
  region.young = 2e6;
  settings.materials = {region};
  EXPECT_LT(sag(), 0.5 * plain);
}

TEST(VoxelBody, GoesOnFromACheckpointWithTheSameBits) {
  const Character cube = box({0.5, 0.5, 0.3});
  VoxelBody whole(cube, voxels(3), frames(50), "s.json"),
      first(cube, voxels(3), frames(50), "s.json"), second(cube, voxels(3), frames(50), "s.json");
  set_thread_count(1);
  run(whole, 1, 20);
  set_thread_count(0);
  run(first, 1, 9);
  Chunk state;
  first.save(state);
  second.load(state, "checkpoint");
  run(second, 10, 20);
  EXPECT_EQ(skin_of(second), skin_of(whole));
  Chunk damaged;
  EXPECT_THROW(second.load(damaged, "checkpoint"), Error);
}

TEST(VoxelBody, SmoothSkinsMoveWithTheSameCells) {
  const Character cube = box({0.5, 0.5, 0.5}, 0.05);
  BodySettings settings = voxels(3);
  settings.embedding = SkinEmbedding::smooth;
  VoxelBody smooth(cube, settings, frames(50), "s.json"),
      plain(cube, voxels(3), frames(50), "s.json");
  run(smooth, 1, 10);
  run(plain, 1, 10);
  const std::vector<Vec3f> a = skin_of(smooth), b = skin_of(plain);
  float most = 0;
  for (size_t v = 0; v < a.size(); ++v) most = std::max(most, (a[v] - b[v]).norm());
  EXPECT_GT(most, 1e-5f);
  EXPECT_LT(most, 0.02f);
}

TEST(VoxelBody, RefusesWhatIsNotPossible) {
  const Character cube = box({0.5, 0.5, 0.5});
  BodySettings settings = voxels();
  settings.spacing = 2;
  EXPECT_NE(refusal(cube, settings).find("smaller than one cell"), std::string::npos);
  settings = voxels(100);
  settings.voxels.levels = 8;
  EXPECT_NE(refusal(cube, settings).find("finer levels"), std::string::npos);
  settings = voxels();
  settings.fixed = {{side({5, 0, 0}, {1, 0, 0}), {}, true}};
  EXPECT_NE(refusal(cube, settings).find("body.fixed[0].select"), std::string::npos);
  settings = voxels();
  settings.pokes = {{.at = {9, 9, 9}}};
  EXPECT_NE(refusal(cube, settings).find("body.pokes[0].at"), std::string::npos);
  settings = voxels();
  settings.dynamic = false;
  settings.contact.colliders.emplace_back();
  EXPECT_NE(refusal(cube, settings).find("nothing holds"), std::string::npos);
}

}  // namespace
}  // namespace supple
