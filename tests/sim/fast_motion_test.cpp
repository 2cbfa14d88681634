// Flesh whose rig is faster than a step can follow: thrown flesh keeps its volume, and steps in
// which flesh would come to harm are taken in shorter ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "sim/two_bones.h"
#include "supple/core/parallel.h"
#include "supple/sim/flesh_shown.h"
#include "supple/sim/lattice_body.h"

namespace supple {
namespace {

constexpr double degree = std::numbers::pi / 180;

BodySettings settings() { return test::bar_settings(24); }

FrameRange frames() { return test::hundred_frames(); }

// The bar turned as a whole about an end, by an angle in degrees.
Drive swung(const Character& bar, int frame, double angle) {
  Drive drive = test::pose(bar, frame, 0);
  drive.pose.local[0].rotation = Eigen::AngleAxisd(angle * degree, Vec3d::UnitX());
  drive.joints = global_matrices(bar.skeleton, drive.pose);
  return drive;
}

// The volume that a closed skin encloses.
double volume_of(std::span<const Vec3i> triangles, std::span<const Vec3f> positions) {
  double sum = 0;
  for (const Vec3i& t : triangles) {
    const auto corner = [&](int k) {
      return Vec3d(positions[static_cast<size_t>(t[k])].cast<double>());
    };
    sum += corner(0).dot(corner(1).cross(corner(2))) / 6;
  }
  return sum;
}

// The bar spins at 480 degrees a second, and stops. With the pressure of the step before alone it
// grows by a fifth.
TEST(FastMotion, ThrownFleshKeepsItsVolume) {
  const Character bar = test::two_bones();
  BodySettings s = settings();
  s.young = 15e3;
  LatticeBody body(bar, s, frames(), "s.json");
  const double rest = volume_of(bar.skin.triangles, bar.skin.positions);
  BodyFrame out;
  for (int frame = 1; frame <= 14; ++frame) {
    const StepReport report = body.step(swung(bar, frame, 20 * std::min(frame - 1, 9)), 1.0 / 24);
    EXPECT_TRUE(report.warnings.empty()) << frame << ": " << report.warnings.front();
    body.skin(out);
    EXPECT_NEAR(volume_of(bar.skin.triangles, out.positions) / rest, 1, 0.03) << frame;
  }
}

// A bar is bent from frame to frame, and in one step to the last one comes to harm. That frame has
// the same bits after a checkpoint, and on one thread.
void expect_cured(const Character& bar, const BodySettings& s, std::span<const double> bends) {
  LatticeBody body(bar, s, frames(), "s.json"), resumed(bar, s, frames(), "s.json");
  const auto last = static_cast<int>(bends.size());
  for (int frame = 1; frame <= last; ++frame) {
    const Drive drive = test::pose(bar, frame, bends[static_cast<size_t>(frame - 1)]);
    if (frame == last) {
      Chunk before;
      body.save(before);
      resumed.load(before, "c");
      set_thread_count(1);
      resumed.step(drive, 1.0 / 24);
      set_thread_count(0);
    }
    const StepReport report = body.step(drive, 1.0 / 24);
    EXPECT_TRUE(report.warnings.empty()) << frame << ": " << report.warnings.front();
    EXPECT_LT(inverted_part(body.model(), body.node_positions()), 0.01) << frame;
  }
  EXPECT_EQ(body.node_positions(), resumed.node_positions());
  EXPECT_EQ(body.node_velocities(), resumed.node_velocities());
}

// More than 69 degrees between two frames.
TEST(FastMotion, CutsThatDoHarmAreTakenInParts) {
  BodySettings s = settings();
  s.young = 3e3;
  expect_cured(test::two_bones(1, 0.4), s, std::array{0.0, 85.0, 165.0, 85.0});
}

TEST(FastMotion, StepsThatDoHarmAreTakenInParts) {
  BodySettings s = settings();
  s.cells = 20;
  s.young = 5e3;
  expect_cured(test::two_bones(1, 0.3), s, std::array{0.0, 40.0, 100.0, 160.0, 100.0});
}

// Where nothing helps, the flesh is somewhere sensible, and the report says so.
TEST(FastMotion, WhatCannotBeFollowedIsReported) {
  const Character bar = test::two_bones(1, 0.3);
  BodySettings s = settings();
  s.young = 500;
  LatticeBody body(bar, s, frames(), "s.json");
  size_t warnings = 0;
  BodyFrame out;
  for (int frame = 1; frame <= 8; ++frame) {
    warnings += body.step(swung(bar, frame, 60 * frame), 1.0 / 24).warnings.size();
    body.skin(out);
    for (const Vec3f& p : out.positions) {
      ASSERT_TRUE(p.allFinite());
      ASSERT_LT(p.norm(), 3);
    }
  }
  EXPECT_GT(warnings, 0u);
}

}  // namespace
}  // namespace supple
