// Skeletons: matrices of a pose, and taking matrices apart.
#include "supple/rig/skeleton.h"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include <random>

#include "supple/rig/character.h"

namespace supple {
namespace {

Transform random_transform(std::mt19937& random) {
  std::normal_distribution<double> normal;
  Transform t;
  t.translation = Vec3d(normal(random), normal(random), normal(random));
  t.rotation = Quatd(normal(random), normal(random), normal(random), normal(random)).normalized();
  t.scale = Vec3d(normal(random), normal(random), normal(random)).cwiseAbs() + Vec3d::Constant(0.1);
  return t;
}

// T · R · S entry by entry from the quaternion's own formula.
Mat4d matrix_by_hand(const Transform& t) {
  const double x = t.rotation.x(), y = t.rotation.y(), z = t.rotation.z(), w = t.rotation.w();
  Mat3d r;
  r << 1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w),  //
      2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),   //
      2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y);
  Mat4d m = Mat4d::Identity();
  for (int c = 0; c < 3; ++c) m.block<3, 1>(0, c) = r.col(c) * t.scale[c];
  m.block<3, 1>(0, 3) = t.translation;
  return m;
}

TEST(Skeleton, GlobalsAreProductsAlongTheTree) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 50; ++trial) {
    Skeleton skeleton;
    const int joints = 1 + static_cast<int>(random() % 30);
    for (int j = 0; j < joints; ++j) {
      Joint joint;
      joint.parent = static_cast<int>(random() % static_cast<unsigned>(j + 1)) - 1;
      joint.rest = random_transform(random);
      if (random() % 5 == 0) {
        Affine shear = Affine::Identity();
        shear(0, 1) = 0.5;
        joint.sheared = shear;
      }
      skeleton.joints.push_back(joint);
    }
    Pose pose = rest_pose(skeleton, 3);
    EXPECT_EQ(pose.shape_weights, std::vector<double>(3, 0));
    for (Transform& t : pose.local) t = random_transform(random);
    const std::vector<Affine> globals = global_matrices(skeleton, pose);
    for (int j = 0; j < joints; ++j) {
      // From the joint up to the root, multiplying on the left.
      Mat4d expected = Mat4d::Identity();
      for (int at = j; at >= 0; at = skeleton.joints[at].parent)
        expected = (skeleton.joints[at].sheared ? skeleton.joints[at].sheared->matrix()
                                                : matrix_by_hand(pose.local[at])) *
                   expected;
      EXPECT_LT((globals[j].matrix() - expected).norm(), 1e-9 * (1 + expected.norm()));
    }
  }
}

TEST(Skeleton, FindsTheFirstOfANameOrNone) {
  Skeleton skeleton;
  for (const char* name : {"a", "b", "b"}) skeleton.joints.emplace_back().name = name;
  EXPECT_EQ(skeleton.find("b"), 1);
  EXPECT_EQ(skeleton.find("c"), -1);
  EXPECT_EQ(Skeleton{}.find(""), -1);
}

TEST(Decompose, GivesBackTransforms) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 300; ++trial) {
    const Transform t = random_transform(random);
    const std::optional<Transform> found = decompose(t.matrix());
    ASSERT_TRUE(found);
    EXPECT_LT((found->translation - t.translation).norm(), 1e-12);
    EXPECT_LT((found->scale - t.scale).norm(), 1e-9);
    EXPECT_NEAR(std::abs(found->rotation.dot(t.rotation)), 1, 1e-12);
  }
}

// Mirrored and flattened matrices have no unique parts, but the parts must make the matrix again.
TEST(Decompose, ExplainsMirroredAndFlatMatrices) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 300; ++trial) {
    Transform t = random_transform(random);
    for (int c = 0; c < 3; ++c) {
      const unsigned kind = random() % 4;
      if (kind == 0) t.scale[c] *= -1;
      if (kind == 1) t.scale[c] = 0;
      if (kind == 2) t.scale[c] = 1e-14;
    }
    const Affine m = t.matrix();
    const std::optional<Transform> found = decompose(m);
    ASSERT_TRUE(found) << m.matrix();
    EXPECT_LT((found->matrix().matrix() - m.matrix()).norm(), 1e-6 * m.linear().norm() + 1e-12);
    EXPECT_NEAR(found->rotation.norm(), 1, 1e-12);
  }
}

TEST(Decompose, ToleratesFloatRoundingButNotShear) {
  std::mt19937 random(4);
  for (int trial = 0; trial < 100; ++trial) {
    const Affine m = random_transform(random).matrix();
    EXPECT_TRUE(decompose(Affine(m.matrix().cast<float>().cast<double>())));
    Affine sheared = m;
    sheared.linear().col(0) += 1e-4 * m.linear().norm() * m.linear().col(1).normalized();
    EXPECT_FALSE(decompose(sheared));
    Affine broken = m;
    broken(1, 2) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(decompose(broken));
  }
}

TEST(SkinWeights, CleansUpWeights) {
  SkinWeights weights;
  const Influence given[] = {{4, 0.5f}, {2, 0}, {4, 0.5f}, {1, 2.0f}, {7, -1.0f}, {3, 1.0f}};
  EXPECT_DOUBLE_EQ(weights.add_vertex(given, 9), 3);
  EXPECT_EQ(weights.add_vertex({}, 9), 0);
  const Influence nothing[] = {{4, 0.0f}, {5, -0.5f}};
  EXPECT_EQ(weights.add_vertex(nothing, 8), -0.5);
  ASSERT_EQ(weights.vertices(), 3u);
  ASSERT_EQ(weights.of(0).size(), 3u);
  const int32_t binds[] = {4, 1, 3};
  const float expected[] = {0.25f, 0.5f, 0.25f};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(weights.of(0)[i].bind, binds[i]);
    EXPECT_FLOAT_EQ(weights.of(0)[i].weight, expected[i]);
  }
  ASSERT_EQ(weights.of(1).size(), 1u);
  EXPECT_EQ(weights.of(1)[0].bind, 9);
  EXPECT_EQ(weights.of(1)[0].weight, 1);
  EXPECT_EQ(weights.of(2)[0].bind, 8);
}

TEST(SkinWeights, SumsAreOneWhateverIsGiven) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> exponent(-40, 30);
  SkinWeights weights;
  for (int v = 0; v < 500; ++v) {
    std::vector<Influence> given(random() % 13);
    for (Influence& i : given)
      i = {static_cast<int32_t>(random() % 6), std::pow(10.0f, exponent(random))};
    if (v % 7 == 0) given.push_back({0, std::numeric_limits<float>::infinity()});
    if (v % 11 == 0) given.push_back({1, std::numeric_limits<float>::quiet_NaN()});
    weights.add_vertex(given, 0);
    double sum = 0;
    for (const Influence& i : weights.of(weights.vertices() - 1)) sum += i.weight;
    EXPECT_NEAR(sum, 1, 1e-6) << v;
  }
}

TEST(BlendShapes, AddScaledOffsets) {
  BlendShape one{"one", {0, 2}, {Vec3f(1, 0, 0), Vec3f(0, 1, 0)}, 0};
  BlendShape unused{"unused", {1}, {Vec3f::Constant(std::numeric_limits<float>::quiet_NaN())}, 0};
  BlendShape two{"two", {2}, {Vec3f(0, 0, 4)}, 0.5};
  std::vector<Vec3f> positions(3, Vec3f(10, 10, 10));
  add_blend_shapes(std::vector{one, unused, two}, std::vector{0.5, 0.0, -0.25}, positions);
  EXPECT_EQ(positions[0], Vec3f(10.5f, 10, 10));
  EXPECT_EQ(positions[1], Vec3f(10, 10, 10));
  EXPECT_EQ(positions[2], Vec3f(10, 10.5f, 9));
}

TEST(Character, FindsAttributesAndClips) {
  Character character;
  character.attributes.push_back({"_STIFFNESS", 1, {1.0f}});
  character.clips.emplace_back().name = "walk";
  character.shapes.push_back({"smile", {}, {}, 0.25});
  EXPECT_EQ(character.attribute("_STIFFNESS"), &character.attributes[0]);
  EXPECT_EQ(character.attribute("_ATTACH"), nullptr);
  EXPECT_EQ(character.clip("walk"), &character.clips[0]);
  EXPECT_EQ(character.clip("run"), nullptr);
  EXPECT_EQ(rest_pose(character).shape_weights, std::vector<double>{0.25});
}

// A mesh bound rigidly rests where it was, and follows its joint.
TEST(Character, RigidBindingKeepsTheRestShape) {
  std::mt19937 random(6);
  for (const int joints : {0, 1, 3}) {
    Character character;
    character.name = "prop";
    character.skin.positions = {Vec3f(1, 2, 3), Vec3f(-1, 0, 2)};
    character.parts.emplace_back();
    for (int j = 0; j < joints; ++j) {
      Joint& joint = character.skeleton.joints.emplace_back();
      joint.parent = j - 1;
      joint.rest = random_transform(random);
      if (joints == 3 && j == 0) joint.rest.scale[1] = 0;  // cannot be inverted, nor can the others
    }
    bind_rigidly(character);
    ASSERT_EQ(character.skeleton.size(), joints == 1 ? 1u : static_cast<size_t>(joints) + 1);
    const int joint = character.binds[0].joint;
    EXPECT_EQ(character.skeleton.joints[joint].name, joints == 1 ? "" : "prop");
    EXPECT_TRUE(character.skeleton.joints[joint].is_bone);
    EXPECT_EQ(character.parts[0].joint, joint);
    const Skinner skinner(character.weights, character.binds);
    Pose pose = rest_pose(character);
    std::vector<Vec3f> out(2);
    skinner.skin(SkinningMethod::linear, global_matrices(character.skeleton, pose),
                 character.skin.positions, out);
    for (int v = 0; v < 2; ++v) EXPECT_LT((out[v] - character.skin.positions[v]).norm(), 1e-5f);
    pose.local[joint].translation += Vec3d(0, 0, 5);
    skinner.skin(SkinningMethod::linear, global_matrices(character.skeleton, pose),
                 character.skin.positions, out);
    for (int v = 0; v < 2; ++v)
      EXPECT_LT((out[v] - character.skin.positions[v] - Vec3f(0, 0, 5)).norm(), 1e-5f);
  }
}

}  // namespace
}  // namespace supple
