// Bones as shapes: where they run, how thick they are, and which pose they are looked for in.
#include "supple/rig/bone_shapes.h"

#include <gtest/gtest.h>

#include "supple/mesh/primitives.h"
#include "supple/rig/bind_pose.h"

namespace supple {
namespace {

// A bar along y from -0.5 to 0.5 on a joint at its lower end; a hat hangs on the joint a little
// further up. The node tree rests elsewhere than where the skin was bound.
Character bar_with_hat() {
  Character c;
  c.skin = box_surface({0.2, 1, 0.2}, 0.05);
  const auto vertices = static_cast<int32_t>(c.skin.positions.size());
  const auto triangles = static_cast<int32_t>(c.skin.triangles.size());
  Part part;
  part.vertices = {0, vertices};
  part.triangles = {0, triangles};
  c.parts = {part};
  for (const auto& [name, parent, place] : {std::tuple{"root", -1, Vec3d(0, -0.8, 0)},
                                            {"bone", 0, Vec3d(7, 0.3, 0)},
                                            {"hat", 1, Vec3d(0, 0.03, 0)},
                                            {"sword", 1, Vec3d(0, 0.4, 3)}}) {
    Joint joint;
    joint.name = name;
    joint.parent = parent;
    joint.rest.translation = place;
    c.skeleton.joints.push_back(joint);
  }
  c.binds = {{1, Affine(Eigen::Translation3d(0, 0.5, 0))}};
  for (int32_t v = 0; v < vertices; ++v) {
    const Influence whole[] = {{0, 1}};
    c.weights.add_vertex(whole, 0);
  }
  return c;
}

TEST(BindSkeleton, RestsWhereTheSkinWasBound) {
  const Skeleton bound = bind_skeleton(bar_with_hat());
  const std::vector<Affine> globals = global_matrices(bound, rest_pose(bound));
  EXPECT_LT((globals[1].translation() - Vec3d(0, -0.5, 0)).norm(), 1e-12);
  EXPECT_LT((globals[2].translation() - Vec3d(0, -0.47, 0)).norm(), 1e-12);
}

TEST(BoneShapes, RunThroughTheFleshAndNotToAHat) {
  const Character c = bar_with_hat();
  const VoxelGrid solid = voxelise(c.skin.positions, c.skin.triangles, {.spacing = 0.05});
  const std::vector<BoneShape> bones = bone_shapes(c, c.skin.positions, solid, 0.5);
  ASSERT_EQ(bones.size(), 1u);
  EXPECT_EQ(bones[0].joint, 1);
  EXPECT_EQ(bones[0].bind, 0);
  for (const Vec3d& end : {bones[0].from, bones[0].to}) {
    EXPECT_LT(std::abs(end[0]), 0.1);
    EXPECT_LT(std::abs(end[1]), 0.51);
    EXPECT_LT(std::abs(end[2]), 0.1);
  }
  EXPECT_GT(bones[0].length(), 0.2);
  EXPECT_GT(bones[0].radius, 0.01);  // it begins at the skin
  EXPECT_LE(bones[0].radius, 0.05);
}

TEST(BoneShapes, JointsWithoutABoneGetABall) {
  Character c = bar_with_hat();
  c.skeleton.joints.resize(2);
  c.skeleton.joints[1].parent = -1;
  c.skeleton.joints.erase(c.skeleton.joints.begin());
  c.binds[0].joint = 0;
  const VoxelGrid solid = voxelise(c.skin.positions, c.skin.triangles, {.spacing = 0.05});
  const std::vector<BoneShape> bones = bone_shapes(c, c.skin.positions, solid, 0.5);
  ASSERT_EQ(bones.size(), 1u);
  EXPECT_LT(bones[0].length(), 1e-9);
  EXPECT_GE(bones[0].radius, 0);
}

TEST(BoneShape, AxisDistance) {
  const BoneShape bone{0, 0, {0, 0, 0}, {0, 2, 0}, 0.1};
  EXPECT_DOUBLE_EQ(bone.axis_distance({3, 1, 4}), 5);
  EXPECT_DOUBLE_EQ(bone.axis_distance({0, -2, 0}), 2);
  EXPECT_DOUBLE_EQ(bone.axis_distance({0, 5, 4}), 5);
}

}  // namespace
}  // namespace supple
