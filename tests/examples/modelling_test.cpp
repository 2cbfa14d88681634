// The kit the examples' characters are modelled with: shapes, meshes, armatures, choreographies.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "examples/exact_intersections.h"
#include "modelling/choreography.h"
#include "modelling/surface.h"
#include "supple/core/error.h"
#include "supple/mesh/topology.h"

namespace supple::test {
namespace {

using namespace modelling;

Vec3d random_point(std::mt19937& random, double reach) {
  std::uniform_real_distribution<double> any(-reach, reach);
  return {any(random), any(random), any(random)};
}

// Distance to many points along an arc's circle, less the rod's radius.
TEST(Shape, ArcDistanceIsThatOfItsPoints) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 20; ++trial) {
    const Mat3d axes = turn(37.0 * trial, random_point(random, 1));
    const Vec3d centre = random_point(random, 0.5);
    const double half = 0.15 * (trial + 1);
    const Shape shape = arc(centre, 0.4, half, 0.05, axes);
    for (int sample = 0; sample < 50; ++sample) {
      const Vec3d p = random_point(random, 1);
      double nearest = INFINITY;
      for (int i = -2000; i <= 2000; ++i) {
        const double angle = half * i / 2000;
        const Vec3d on = centre + axes * (0.4 * Vec3d(std::sin(angle), std::cos(angle), 0));
        nearest = std::min(nearest, (p - on).norm());
      }
      EXPECT_NEAR(shape.distance(p), nearest - 0.05, 1e-5);
      if (shape.is_beyond(0.1, p)) {
        EXPECT_GT(shape.distance(p), 0.1);
      }
    }
  }
}

TEST(Surface, FocusMakesFacesFinerAndKeepsTheShape) {
  Sculpture plain;
  plain.add(ball({0, 0, 0}, 0.5), 0);
  plain.add(ball({0.4, 0.3, 0}, 0.2), 0.1, true);
  Sculpture focused = plain;
  focused.set_focus({{0, 0, 0.5}, 0.2, 2.0});
  const TriangleMesh coarse = mesh_surface(plain, 0.04), fine = mesh_surface(focused, 0.04);
  const auto near = [](const TriangleMesh& mesh) {
    return std::count_if(mesh.positions.begin(), mesh.positions.end(),
                         [](const Vec3f& p) { return (p - Vec3f(0, 0, 0.5f)).norm() < 0.2f; });
  };
  EXPECT_GT(near(fine), 3.2 * near(coarse));
  EXPECT_LT(near(fine), 5.0 * near(coarse));
  EXPECT_TRUE(analyse_topology(fine.positions.size(), fine.triangles).closed());
  EXPECT_EQ(IntersectionFinder(fine).find().size(), 0u);
  for (const Vec3f& p : fine.positions) EXPECT_NEAR(plain.distance(p.cast<double>()), 0, 2e-6);
}

// The finder itself: it sees a stab, a touch and a fold, and lets neighbours be.
TEST(IntersectionFinder, SeesWhatMeets) {
  TriangleMesh mesh;
  mesh.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
  mesh.triangles = {{0, 1, 2}, {1, 3, 2}};
  EXPECT_EQ(IntersectionFinder(mesh).find().size(), 0u);
  mesh.positions[3] = {0.25f, 0.25f, 0};  // folded flat onto its neighbour
  EXPECT_EQ(IntersectionFinder(mesh).find().size(), 1u);
  mesh.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.2f, 0.2f, -1}, {0.2f, 0.3f, 1}, {3, 3, 1}};
  mesh.triangles = {{0, 1, 2}, {3, 4, 5}};
  EXPECT_EQ(IntersectionFinder(mesh).find().size(), 1u);
  mesh.positions[4] = {0.2f, 0.3f, -0x1p-26f};  // 15 nm below
  mesh.positions[5] = {3, 3, -1};
  EXPECT_EQ(IntersectionFinder(mesh).find().size(), 0u);
  mesh.positions[4] = {0.2f, 0.3f, 0};  // touches
  EXPECT_EQ(IntersectionFinder(mesh).find().size(), 1u);
  mesh.positions = {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {1, 1, 0}, {2, 1, 0}, {1, 2, 0}};  // in plane
  EXPECT_EQ(IntersectionFinder(mesh).find().size(), 1u);
}

double slope(const Curve& curve, double time, double step) {
  return (curve(time + step) - curve(time)) / step;
}

TEST(Curves, ArePeriodicAndSmooth) {
  const double period = 3;
  const Curve curves[] = {
      through(period, {{2.0, -1}, {0.3, 1}, {0.9, 2, 1.5}, {1.4, 2.5}, {2.6, -1}}),
      wave(period, 2, 0.3), bump(period, 2.2, 3.7, 1.5), shake(period, 0.5, 2.0, 3, 0.7),
      late(sum(still(0.3), scaled(wave(period, 1), -2)), 0.4)};
  for (const Curve& curve : curves)
    for (int i = 0; i < 3000; ++i) {
      const double time = i * period / 1000 - period;
      EXPECT_NEAR(curve(time), curve(time + period), 1e-9);
      EXPECT_NEAR(slope(curve, time, 1e-6), slope(curve, time, -1e-6), 1e-3) << time;
    }
}

TEST(Curves, PassThroughTheirBeatsAndNotBeyond) {
  const std::vector<Beat> beats = {{0.1, 0}, {0.5, 1}, {1.1, 1.2}, {1.5, -2}, {1.9, -2}};
  const Curve curve = through(2, beats);
  for (const Beat& beat : beats) EXPECT_NEAR(curve(beat.time + 2), beat.value, 1e-12);
  for (int i = 0; i < 400; ++i) {
    EXPECT_LE(curve(i / 200.0), 1.2 + 1e-12);
    EXPECT_GE(curve(i / 200.0), -2 - 1e-12);
  }
  for (double time = 1.5; time <= 1.9; time += 0.01) EXPECT_NEAR(curve(time), -2, 1e-12);
  // Between equal and opposite slopes the curve is the parabola of a thrown body.
  const Curve thrown = through(2, {{0.5, 0, 4}, {1.0, 0, -4}, {1.5, -1}});
  for (double s = 0; s <= 0.5; s += 0.05) EXPECT_NEAR(thrown(0.5 + s), 4 * s * (1 - s / 0.5), 1e-9);
}

Armature walker() {
  Armature a;
  std::vector<Freedom> free = ball_joint();
  free.push_back({"height", Vec3d::UnitY(), true});
  a.add("pelvis", "", {0, 1, 0}, free);
  a.add_pair("hip", "pelvis", {0.1, 0.95, 0}, ball_joint());
  a.add_pair("knee", "hip", {0.12, 0.5, 0.05}, {{"bend", Vec3d::UnitX()}});
  a.add_pair("ankle", "knee", {0.12, 0.1, 0}, {{"bend", Vec3d::UnitX()}, {"lean", Vec3d::UnitZ()}});
  return a;
}

TEST(Armature, PairsMoveAsMirrorImages) {
  const Armature a = walker();
  EXPECT_EQ(a.freedom_count(), 16u);
  std::mt19937 random(3);
  std::uniform_real_distribution<double> any(-1, 1);
  std::vector<double> values(a.freedom_count(), 0);
  for (const std::string joint : {"hip", "knee", "ankle"}) {
    const auto left = a.freedoms_of("left_" + joint), right = a.freedoms_of("right_" + joint);
    for (size_t f = 0; f < left.size(); ++f) values[left[f]] = values[right[f]] = any(random);
  }
  const Affine left = a.frame(a.joint("left_ankle"), values);
  const Affine right = a.frame(a.joint("right_ankle"), values);
  const Vec3d flip(-1, 1, 1);
  for (const Vec3d& p : {Vec3d(0, 0, 0), Vec3d(0.3, 0.1, -0.2)})
    EXPECT_LT((flip.cwiseProduct(left * p) - right * flip.cwiseProduct(p)).norm(), 1e-12);
  const auto globals = global_matrices(a.skeleton(), a.pose(values));
  EXPECT_LT((globals[a.joint("left_ankle")].matrix() - left.matrix()).norm(), 1e-12);
  EXPECT_THROW(a.joint("tail"), Error);
  EXPECT_THROW(a.freedom("left_knee", "lean"), Error);
}

TEST(Choreography, FeetGoWhereTheyArePlaced) {
  const Armature a = walker();
  Choreography c(a, "step", 2);
  c.move("pelvis", "height", wave(2, 0.05, 0.1));
  c.move("pelvis", "height", still(-0.1));
  c.move("pelvis", "twist", wave(2, 0.3));
  c.move("pelvis", "lean", wave(1, 0.1));
  Footing footing;
  footing.pivot = Vec3d(0.12, 0, 0.1);
  footing.y = bump(2, 0.2, 1.2, 0.1);
  footing.z = wave(2, 0.1);
  footing.pitch = wave(2, 0.4, 0.2);
  footing.yaw = wave(2, 0.3, 0.4);
  c.place_foot("left_hip", "left_knee", "left_ankle", footing);
  for (int i = 0; i < 40; ++i) {
    const double time = i / 20.0;
    const Affine foot = a.frame(a.joint("left_ankle"), c.values(time));
    const Vec3d pivot = foot * (footing.pivot - a.place("left_ankle"));
    EXPECT_LT((pivot - footing.pivot - Vec3d(0, footing.y(time), footing.z(time))).norm(), 1e-9);
    const Vec3d forward = foot.linear() * Vec3d::UnitZ();
    EXPECT_NEAR(std::atan2(forward[0], forward[2]), footing.yaw(time), 1e-9);
    EXPECT_NEAR(std::asin(-forward[1]), footing.pitch(time), 1e-9);
  }
}

// Between keys the clip follows the curves, which only tangents of the right size do.
TEST(Choreography, ClipFollowsItsCurves) {
  const Armature a = walker();
  Choreography c(a, "sway", 2);
  c.move("pelvis", "twist", wave(2, 0.8));
  c.move("pelvis", "bend", wave(1, 0.5, 0.2));
  c.move("pelvis", "height", wave(2, 0.2));
  const Clip clip = c.clip();
  EXPECT_EQ(clip_rate(clip), 24);
  EXPECT_DOUBLE_EQ(clip.end(), 2);
  for (int i = 0; i <= 480; ++i) {
    Pose pose = rest_pose(a.skeleton());
    apply_clip(clip, i / 240.0, pose);
    const Pose expected = a.pose(c.values(i / 240.0));
    EXPECT_LT((pose.local[0].translation - expected.local[0].translation).norm(), 1e-5);
    EXPECT_LT(pose.local[0].rotation.angularDistance(expected.local[0].rotation), 1e-5);
  }
}

}  // namespace
}  // namespace supple::test
