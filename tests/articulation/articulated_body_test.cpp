// What a body is built from, and what is refused by name.
#include "supple/articulation/articulated_body.h"

#include <gtest/gtest.h>

#include <functional>

#include "supple/core/error.h"

namespace supple {
namespace {

std::vector<BoneDescription> two_bones() {
  std::vector<BoneDescription> bones(2);
  bones[0].name = "hips";
  bones[0].joint = JointType::free;
  bones[0].position = {0, 1, 0};
  bones[1].name = "thigh";
  bones[1].parent = 0;
  bones[1].joint = JointType::universal;
  for (BoneDescription& bone : bones) {
    bone.mass = 2;
    bone.inertia = 0.1 * Mat3d::Identity();
  }
  return bones;
}

// The message of what is thrown after a change of the second bone.
std::string problem(const std::function<void(BoneDescription&)>& change, size_t which = 1) {
  std::vector<BoneDescription> bones = two_bones();
  change(bones[which]);
  try {
    const ArticulatedBody body(bones);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "";
}

TEST(ArticulatedBody, KnowsItsNumbers) {
  const ArticulatedBody body(two_bones());
  EXPECT_EQ(body.size(), 2u);
  EXPECT_EQ(body.position_numbers(), 9);
  EXPECT_EQ(body.velocity_numbers(), 8);
  EXPECT_EQ(body.bone(1).q, 7);
  EXPECT_EQ(body.bone(1).v, 6);
  EXPECT_EQ(body.find("thigh"), 1);
  EXPECT_EQ(body.find("knee"), -1);
  EXPECT_EQ(body.mass(), 4);
  const ArticulatedState state = rest_state(body);
  EXPECT_EQ(state.q[1], 1);
  EXPECT_EQ(state.q[6], 1);
  EXPECT_EQ(state.v.norm(), 0);
}

TEST(ArticulatedBody, IsEmptyWithoutBones) {
  const ArticulatedBody body{std::vector<BoneDescription>{}};
  EXPECT_EQ(body.size(), 0u);
  EXPECT_TRUE(is_finite(rest_state(body)));
}

TEST(ArticulatedBody, RefusesWhatIsWrongByName) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto expect = [](const std::function<void(BoneDescription&)>& change, const char* part) {
    const std::string message = problem(change);
    EXPECT_NE(message.find("bone 'thigh'"), std::string::npos) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  using B = BoneDescription;
  expect([](B& b) { b.parent = 1; }, "parents come first");
  expect([](B& b) { b.parent = -2; }, "parents come first");
  expect([](B& b) { b.joint = JointType::free; }, "without a parent");
  expect([](B& b) { b.axis *= 2; }, "unit length");
  expect([nan](B& b) { b.axis[1] = nan; }, "unit length");
  expect([](B& b) { b.axis2 = Vec3d::Zero(); }, "unit length");
  expect([](B& b) { b.axis2 = Vec3d(0.6, 0, 0.8); }, "right angles");
  expect([](B& b) { b.orientation = Quatd(0, 0, 0, 0); }, "unit quaternion");
  expect([nan](B& b) { b.position[0] = nan; }, "not finite");
  expect([](B& b) { b.mass = -1; }, "mass -1");
  expect([nan](B& b) { b.mass = nan; }, "mass nan");
  expect([](B& b) { b.inertia(0, 0) = -1; }, "negative principal moment");
  expect([](B& b) { b.inertia(0, 1) = 0.05; }, "not symmetric");
  expect([nan](B& b) { b.inertia(2, 1) = nan; }, "inertia is not finite");
  expect([nan](B& b) { b.centre[2] = nan; }, "centre of mass");
  expect([](B& b) { b.passive.stiffness = -3; }, "stiffness -3");
  expect([nan](B& b) { b.passive.damping = nan; }, "damping nan");
  expect([](B& b) { b.passive.lower[1] = 2, b.passive.upper[1] = 1; }, "lower limit 2");
  expect([nan](B& b) { b.passive.upper[0] = nan; }, "upper limit nan");
  expect([](B& b) { b.passive.rest_turn.coeffs() *= 3; }, "unit quaternion");
  expect([](B& b) { b.joint = JointType::fixed, b.passive.stiffness = 1; }, "fixed");
  EXPECT_NE(problem([](B& b) { b.name = "thigh"; }, 0).find("twice"), std::string::npos);
  EXPECT_EQ(problem([](B&) {}), "");
}

TEST(ArticulatedBody, RefusesJointsThatMoveNoMass) {
  const auto weightless = [](BoneDescription& bone) {
    bone.mass = 0;
    bone.inertia.setZero();
  };
  EXPECT_NE(problem(weightless).find("bone 'thigh': its joint can move without moving any mass"),
            std::string::npos);
  // Below a fixed joint nothing moves.
  EXPECT_EQ(problem([&](BoneDescription& bone) {
              weightless(bone);
              bone.joint = JointType::fixed;
            }),
            "");
  // A point of mass in a joint turns without effort; away from it only about the line to it.
  const auto point = [&](JointType joint, const Vec3d& centre, const Vec3d& axis) {
    return problem([&](BoneDescription& bone) {
      weightless(bone);
      bone.mass = 1;
      bone.joint = joint;
      bone.axis = axis;
      bone.centre = centre;
    });
  };
  EXPECT_NE(point(JointType::hinge, Vec3d::Zero(), Vec3d::UnitZ()), "");
  EXPECT_EQ(point(JointType::hinge, Vec3d::UnitX(), Vec3d::UnitZ()), "");
  EXPECT_NE(point(JointType::hinge, Vec3d::UnitX(), Vec3d::UnitX()), "");
  EXPECT_NE(point(JointType::ball, Vec3d::UnitX(), Vec3d::UnitX()), "");
  EXPECT_EQ(point(JointType::prismatic, Vec3d::Zero(), Vec3d::UnitX()), "");
}

TEST(ArticulatedBody, SaysWhetherAStateIsFinite) {
  const ArticulatedBody body(two_bones());
  ArticulatedState state = rest_state(body);
  EXPECT_TRUE(is_finite(state));
  state.v[3] = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(is_finite(state));
  state = rest_state(body);
  state.q[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(is_finite(state));
}

}  // namespace
}  // namespace supple
