// Skeletons of another size, place and pose fitted to a figure of blocks.
#include "supple/rig/fit_skeleton.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "rig/blocks.h"
#include "supple/core/error.h"
#include "supple/rig/rig_mesh.h"

namespace supple {
namespace {

using test::add_joint;
using test::block_mesh;

// A body with spread legs' room between them and arms held out.
TriangleMesh figure() {
  return block_mesh(24, [](int x, int y, int z) {
    const int side = x < 0 ? -1 - x : x;
    if (z < -2 || z >= 2) return false;
    return (side < 6 && y >= 0 && y < 20) || (side >= 2 && side < 6 && y >= -24 && y < 0) ||
           (side < 22 && y >= 15 && y < 19) || (side < 2 && y >= 20 && y < 24);
  });
}

// The figure's skeleton, arms lowered by `lowered` radians.
Skeleton skeleton_with_arms(double lowered) {
  Skeleton skeleton;
  add_joint(skeleton, "hips", "", Vec3d(0, 2, 0));
  add_joint(skeleton, "chest", "hips", Vec3d(0, 17, 0));
  add_joint(skeleton, "chest_end", "chest", Vec3d(0, 23, 0));
  for (const double s : {1.0, -1.0}) {
    const std::string side = s > 0 ? ".L" : ".R";
    const Vec3d out(s * std::cos(lowered), -std::sin(lowered), 0);
    add_joint(skeleton, "arm" + side, "chest", Vec3d(s * 6, 17, 0));
    add_joint(skeleton, "forearm" + side, "arm" + side, Vec3d(s * 6, 17, 0) + 8 * out);
    add_joint(skeleton, "forearm" + side + "_end", "forearm" + side,
              Vec3d(s * 6, 17, 0) + 15.5 * out);
    add_joint(skeleton, "thigh" + side, "hips", Vec3d(s * 4, 0, 0));
    add_joint(skeleton, "shin" + side, "thigh" + side, Vec3d(s * 4, -12, 0));
    add_joint(skeleton, "shin" + side + "_end", "shin" + side, Vec3d(s * 4, -23, 0));
  }
  return skeleton;
}

void resize(Skeleton& skeleton, double scale, const Vec3d& shift) {
  for (Joint& joint : skeleton.joints) joint.rest.translation *= scale;
  skeleton.joints[0].rest.translation += shift;
}

std::vector<Vec3d> joints_of(const Skeleton& skeleton) {
  std::vector<Vec3d> result;
  for (const Affine& global : global_matrices(skeleton, rest_pose(skeleton)))
    result.emplace_back(global.translation());
  return result;
}

double largest_distance(const Skeleton& a, const Skeleton& b) {
  double largest = 0;
  const std::vector<Vec3d> p = joints_of(a), q = joints_of(b);
  for (size_t j = 0; j < p.size(); ++j) largest = std::max(largest, (p[j] - q[j]).norm());
  return largest;
}

TEST(FitSkeleton, LeavesAloneWhatFits) {
  Skeleton skeleton = skeleton_with_arms(0);
  std::vector<Clip> clips;
  const SkeletonFit fit = fit_skeleton(figure(), FitKind::pose, {}, {}, skeleton, clips);
  EXPECT_TRUE(fit.fitted_before);
  EXPECT_EQ(fit.scale, 1);
  EXPECT_EQ(largest_distance(skeleton, skeleton_with_arms(0)), 0);
}

TEST(FitSkeleton, FindsSizeAndPlace) {
  for (const FitKind kind : {FitKind::size, FitKind::pose})
    for (const double scale : {39.37, 0.01}) {
      Skeleton skeleton = skeleton_with_arms(0);
      resize(skeleton, scale, Vec3d(5, 100, -3) * scale);
      std::vector<Clip> clips;
      const SkeletonFit fit = fit_skeleton(figure(), kind, {}, {}, skeleton, clips);
      EXPECT_NEAR(fit.scale * scale, 1, 0.06);
      EXPECT_GT(fit.inside, 0.9);
      EXPECT_LT(largest_distance(skeleton, skeleton_with_arms(0)), 2);
    }
}

TEST(FitSkeleton, RaisesArmsThatHang) {
  Skeleton skeleton = skeleton_with_arms(0.9);
  resize(skeleton, 7, Vec3d::Zero());
  const std::vector<Vec3d> before = joints_of(skeleton);
  std::vector<Clip> clips;
  const SkeletonFit fit = fit_skeleton(figure(), FitKind::pose, {}, {}, skeleton, clips);
  EXPECT_GT(fit.inside, 0.9);
  EXPECT_GT(fit.largest_bend, 30);
  EXPECT_LT(largest_distance(skeleton, skeleton_with_arms(0)), 3);
  // Bones keep their lengths, but for the one scale.
  const std::vector<Vec3d> after = joints_of(skeleton);
  for (size_t j = 1; j < after.size(); ++j) {
    const auto parent = static_cast<size_t>(skeleton.joints[j].parent);
    EXPECT_NEAR((after[j] - after[parent]).norm(), fit.scale * (before[j] - before[parent]).norm(),
                1e-6);
  }
}

TEST(FitSkeleton, TurnsASkeletonThatFacesSideways) {
  Skeleton skeleton = skeleton_with_arms(0);
  for (Joint& joint : skeleton.joints) {
    const Vec3d t = joint.rest.translation;
    joint.rest.translation = 3 * Vec3d(-t[2], t[1], t[0]);
  }
  std::vector<Clip> clips;
  const SkeletonFit fit = fit_skeleton(figure(), FitKind::pose, {}, {}, skeleton, clips);
  EXPECT_EQ(fit.turn, 90);
  EXPECT_GT(fit.inside, 0.9);
}

// The clip lifts the root by two units of the skeleton and walks; afterwards it starts where the
// mesh stands, touches its floor once, and travels by the scaled distance.
TEST(FitSkeleton, CarriesClipsAlong) {
  Skeleton skeleton = skeleton_with_arms(0);
  resize(skeleton, 10, Vec3d(0, 500, 0));
  Channel travel;
  travel.joint = 0;
  travel.times = {0, 1};
  travel.values = {700, 40, -30, 700, 20, 170};
  Channel turn;
  turn.target = ChannelTarget::rotation;
  turn.joint = skeleton.find("arm.L");
  turn.width = 4;
  turn.times = {0, 1};
  turn.values = {0, 0, 0, 1, 0, 0, std::sin(0.5), std::cos(0.5)};
  std::vector<Clip> clips(1);
  clips[0].channels = {travel, turn};
  const SkeletonFit fit = fit_skeleton(figure(), FitKind::size, {}, {}, skeleton, clips);
  const std::vector<Vec3d> rest = joints_of(skeleton);
  const auto root_at = [&](double time) {
    Pose pose = rest_pose(skeleton);
    apply_clip(clips[0], time, pose);
    return Vec3d(global_matrices(skeleton, pose)[0].translation());
  };
  EXPECT_NEAR(root_at(0)[0], rest[0][0], 1e-9);
  EXPECT_NEAR(root_at(0)[2], rest[0][2], 1e-9);
  EXPECT_NEAR(root_at(1)[1], rest[0][1], 1e-9);
  EXPECT_NEAR(root_at(0)[1] - root_at(1)[1], 20 * fit.scale, 1e-9);
  EXPECT_NEAR(root_at(1)[2] - root_at(0)[2], 200 * fit.scale, 1e-9);
  EXPECT_EQ(clips[0].channels[1].values, turn.values);
}

TEST(FitSkeleton, RefusesWhatHasNoSize) {
  Skeleton skeleton;
  add_joint(skeleton, "a", "", Vec3d(1, 2, 3));
  add_joint(skeleton, "b", "a", Vec3d(1, 2, 3));
  std::vector<Clip> clips;
  EXPECT_THROW(fit_skeleton(figure(), FitKind::size, {}, {}, skeleton, clips), Error);
}

TEST(RigMesh, MakesACharacterAndSaysWhyNot) {
  Character character;
  character.source = "body.obj";
  SkeletonSource source{"walk.bvh", skeleton_with_arms(0), {}, {}};
  EXPECT_THROW(rig_mesh(character, source), Error);
  character.skin = figure();
  EXPECT_THROW(rig_mesh(character, {"empty.glb", {}, {}, {}}), Error);
  SkeletonSource far = source;
  resize(far.skeleton, 1, Vec3d(1000, 0, 0));
  RigOptions unfitted;
  unfitted.fit = FitKind::none;
  try {
    rig_mesh(character, far, unfitted);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "walk.bvh: skeleton: all its bones lie outside the mesh of body.obj; let it be "
                 "fitted");
  }
  const RigReport report = rig_mesh(character, source);
  EXPECT_EQ(report.bones, 10u);
  EXPECT_EQ(character.binds.size(), 10u);
  EXPECT_EQ(character.weights.vertices(), character.skin.positions.size());
}

}  // namespace
}  // namespace supple
