// Weights between branches of a skeleton: the middle between two legs.
#include "supple/rig/branches.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "rig/blocks.h"
#include "supple/rig/auto_weights.h"
#include "supple/rig/skinning.h"

namespace supple {
namespace {

using test::add_joint;
using test::block_mesh;

// Joints 0 root, 1 and 2 hips, 3 and 4 legs that run down side by side, two apart from x = 0.
Skeleton two_legs() {
  Skeleton skeleton;
  add_joint(skeleton, "root", "", Vec3d(0, 2, 0));
  for (const char* side : {".L", ".R"})
    add_joint(skeleton, std::string("hip") + side, "root", Vec3d(0, 2, 0));
  for (const double s : {2.0, -2.0})
    add_joint(skeleton, s > 0 ? "leg.L" : "leg.R", s > 0 ? "hip.L" : "hip.R", Vec3d(s, 2, 0));
  return skeleton;
}

Bone bone_between(int joint, const Vec3d& from, const Vec3d& to) {
  Bone bone;
  bone.joint = joint;
  bone.segments.push_back({from, to, {}});
  return bone;
}

std::vector<Bone> leg_bones(bool with_root) {
  std::vector<Bone> bones;
  if (with_root) bones.push_back(bone_between(0, Vec3d(0, 2, 0), Vec3d(0, 4, 0)));
  bones.push_back(bone_between(1, Vec3d(0, 2, 0), Vec3d(2, 2, 0)));
  bones.push_back(bone_between(2, Vec3d(0, 2, 0), Vec3d(-2, 2, 0)));
  bones.push_back(bone_between(3, Vec3d(2, 2, 0), Vec3d(2, -20, 0)));
  bones.push_back(bone_between(4, Vec3d(-2, 2, 0), Vec3d(-2, -20, 0)));
  return bones;
}

// Shares after settling at a node, from shares before; all bones are near.
std::vector<double> settled(bool with_root, const Vec3d& node, std::vector<double> shares) {
  const std::vector<Bone> bones = leg_bones(with_root);
  std::vector<NearBone> near;
  std::vector<double> distances;
  for (size_t b = 0; b < bones.size(); ++b) {
    near.push_back({static_cast<int32_t>(b), bones[b].nearest(node).distance, 1});
    distances.push_back(near.back().distance);
  }
  const std::vector<double> before = shares;
  const double moved = Branches(two_legs(), bones).settle(node, near, distances, shares);
  double lost = 0;
  for (size_t b = 0; b < shares.size(); ++b) lost += std::max(0.0, before[b] - shares[b]);
  EXPECT_NEAR(moved, lost, 1e-12);
  return shares;
}

TEST(Branches, TheMiddleBetweenTwoLegsBelongsToTheRoot) {
  const std::vector<double> shares = settled(true, Vec3d(0, 0.1, 0), {0, 0, 0, 0.5, 0.5});
  EXPECT_NEAR(shares[0], 1, 1e-12);
}

TEST(Branches, WithoutABoneThereTheFirstOfEachBranchTakesIt) {
  const std::vector<double> shares = settled(false, Vec3d(0, 0.1, 0), {0.1, 0.1, 0.5, 0.3});
  EXPECT_NEAR(shares[0], 0.6, 1e-12);
  EXPECT_NEAR(shares[1], 0.4, 1e-12);
}

TEST(Branches, FarFromTheForkAndOutsideNothingMoves) {
  for (const Vec3d& node : {Vec3d(0, -8, 0), Vec3d(3, 0, 0), Vec3d(2, 0, 1), Vec3d(0, 0, 6)}) {
    const std::vector<double> before = {0, 0, 0, 0.7, 0.3};
    EXPECT_EQ(settled(true, node, before), before) << node.transpose();
  }
}

TEST(Branches, SumsStayAndMirrorImagesStayMirrored) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> number(0, 1), place(-2.5, 2.5);
  for (int i = 0; i < 500; ++i) {
    std::vector<double> shares;
    double sum = 0;
    for (int b = 0; b < 5; ++b) sum += shares.emplace_back(number(random));
    const Vec3d node(place(random), place(random), place(random) / 4);
    const std::vector<double> here = settled(true, node, shares);
    const std::vector<double> mirrored =
        settled(true, node.cwiseProduct(Vec3d(-1, 1, 1)),
                {shares[0], shares[2], shares[1], shares[4], shares[3]});
    double after = 0;
    for (const double share : here) {
      EXPECT_GE(share, 0);
      after += share;
    }
    EXPECT_NEAR(after, sum, 1e-12);
    for (const auto& [a, b] : {std::pair(0, 0), {1, 2}, {2, 1}, {3, 4}, {4, 3}})
      EXPECT_NEAR(here[a], mirrored[b], 1e-12);
  }
}

TEST(Branches, SharesChangeSmoothlyFromLegToLeg) {
  double before = 0;
  for (double x = 1.9; x >= 0; x -= 0.01) {
    const double root = settled(true, Vec3d(x, 0.1, 0), {0, 0, 0, 1, 0})[0];
    EXPECT_GE(root, before - 1e-12) << x;
    EXPECT_LT(root, before + 0.05) << x;
    before = root;
  }
  EXPECT_NEAR(before, 1, 1e-12);
}

// A body whose legs are a block apart below y = 0 (or grown together), with hip joints well above.
constexpr int top = 16, bottom = -24;

TriangleMesh legged_body(bool grown_together) {
  return block_mesh(24, [&](int x, int y, int z) {
    const int side = x < 0 ? -1 - x : x;
    if (z < -4 || z >= 4 || side >= 9 || y < bottom || y >= top) return false;
    return y >= 0 || side >= 1 || grown_together;
  });
}

// With `split`, hips of both sides begin at the root, which then has no bone of its own.
Skeleton legged_skeleton(bool split) {
  Skeleton skeleton;
  add_joint(skeleton, "root", "", Vec3d(0, 5, 0));
  add_joint(skeleton, "spine", "root", Vec3d(0, split ? 5 : 8, 0));
  add_joint(skeleton, "spine_end", "spine", Vec3d(0, 15, 0));
  for (const double s : {1.0, -1.0}) {
    const std::string side = s > 0 ? ".L" : ".R";
    if (split) add_joint(skeleton, "hip" + side, "root", Vec3d(0, 5, 0));
    add_joint(skeleton, "thigh" + side, split ? "hip" + side : "root", Vec3d(s * 5, 4, 0));
    add_joint(skeleton, "shin" + side, "thigh" + side, Vec3d(s * 5, -10, 0));
    add_joint(skeleton, "shin" + side + "_end", "shin" + side, Vec3d(s * 5, -23, 0));
  }
  return skeleton;
}

double weight_of(const AutoWeights& made, const Skeleton& skeleton, const std::string& name,
                 size_t vertex) {
  double sum = 0;
  for (const Influence& i : made.weights.of(vertex))
    if (skeleton.joints[static_cast<size_t>(made.binds[static_cast<size_t>(i.bind)].joint)]
            .name.starts_with(name))
      sum += double{i.weight};
  return sum;
}

// Both thighs swing forward by a right angle: the middle between them stays behind. Shared by both
// legs it would have 0.6 to 0.8 of their weight and be dragged along by 3.3 to 5.7 of 7.
TEST(Branches, TheMiddleStaysWhenBothLegsSwingForward) {
  const TriangleMesh body = legged_body(false);
  for (const bool split : {false, true}) {
    const Skeleton skeleton = legged_skeleton(split);
    const AutoWeights made = automatic_weights(body, skeleton);
    Pose pose = rest_pose(skeleton);
    for (const char* name : {"thigh.L", "thigh.R"})
      pose.local[static_cast<size_t>(skeleton.find(name))].rotation =
          Quatd(Eigen::AngleAxisd(-M_PI / 2, Vec3d::UnitX()));
    std::vector<Vec3f> posed(body.positions.size());
    Skinner(made.weights, made.binds)
        .skin(SkinningMethod::linear, global_matrices(skeleton, pose), body.positions, posed);
    int count = 0;
    for (size_t v = 0; v < body.positions.size(); ++v) {
      const Vec3f& p = body.positions[v];
      if (p[1] != 0 || p[0] != 0 || std::abs(p[2]) > 3) continue;
      EXPECT_LT(weight_of(made, skeleton, "thigh", v), 0.35) << p.transpose();
      EXPECT_LT((posed[v] - p).norm(), 2.5) << p.transpose();
      ++count;
    }
    EXPECT_EQ(count, 7);
  }
}

// Far below the hips the middle of legs that have grown together moves with them.
TEST(Branches, LegsThatHaveGrownTogetherKeepTheirMiddle) {
  const TriangleMesh body = legged_body(true);
  const Skeleton skeleton = legged_skeleton(true);
  const AutoWeights made = automatic_weights(body, skeleton);
  for (size_t v = 0; v < body.positions.size(); ++v) {
    const Vec3f& p = body.positions[v];
    if (p[0] != 0 || p[1] > -12) continue;
    EXPECT_GT(weight_of(made, skeleton, "shin", v) + weight_of(made, skeleton, "thigh", v), 0.95)
        << p.transpose();
  }
}

}  // namespace
}  // namespace supple
