// Paths through key poses, and direct control of a bone within limits.
#include <gtest/gtest.h>

#include <cmath>

#include "supple/articulation/direct_control.h"
#include "supple/articulation/integrate.h"
#include "supple/articulation/joint_path.h"
#include "supple/core/error.h"

namespace supple {
namespace {

TEST(JointPath, PassesThroughItsKeysSmoothly) {
  const std::vector<double> times = {0, 0.4, 1, 1.3};
  const std::vector<std::vector<double>> keys = {{0, 1}, {2, -1}, {-1, 3}, {0.5, 0}};
  const JointPath path(times, keys);
  std::vector<double> at(2), before(2), after(2);
  for (size_t k = 0; k < times.size(); ++k) {
    path.at(times[k], at);
    for (size_t i = 0; i < 2; ++i) EXPECT_NEAR(at[i], keys[k][i], 1e-12);
  }
  // Second derivatives meet at inner keys, and the ends are at rest.
  const double h = 1e-4;
  const auto second = [&](double t, size_t i) {
    path.at(t - h, before);
    path.at(t, at);
    path.at(t + h, after);
    return (before[i] - 2 * at[i] + after[i]) / (h * h);
  };
  for (const double t : {0.4, 1.0})
    for (size_t i = 0; i < 2; ++i) EXPECT_NEAR(second(t - 2 * h, i), second(t + 2 * h, i), 0.5);
  for (const double t : {0.0, 1.3}) {
    path.at(t == 0 ? h : t - h, after);
    path.at(t, at);
    for (size_t i = 0; i < 2; ++i) EXPECT_LT(std::abs(after[i] - at[i]) / h, 0.02);
  }
  path.at(-5, at);
  EXPECT_EQ(at, keys.front());
  path.at(5, at);
  EXPECT_EQ(at, keys.back());
  EXPECT_THROW(JointPath({0, 0}, {{1}, {2}}), Error);
  EXPECT_THROW(JointPath({0, 1}, {{1}, {2, 3}}), Error);
}

// An arm of three hinges on the world, or on a free base that it pushes away from itself.
ArticulatedBody arm(bool free) {
  std::vector<BoneDescription> bones;
  for (int i = 0; i < 4; ++i) {
    BoneDescription bone;
    bone.name = "bone" + std::to_string(i);
    bone.parent = i - 1;
    bone.joint = i > 0 ? JointType::hinge : free ? JointType::free : JointType::fixed;
    bone.axis = Vec3d::UnitZ();
    bone.position = {i > 0 ? 0.2 : 0.0, 0, 0};
    bone.mass = i == 0 ? 3 : 0.3;
    bone.centre = {0.1, 0, 0};
    bone.inertia = Vec3d(1e-3, 2e-3, 2e-3).asDiagonal();
    bone.passive.lower = {-2, -2};
    bone.passive.upper = {2, 2};
    bones.push_back(bone);
  }
  return ArticulatedBody(bones);
}

// Drives the tip to a goal for so long; returns how far it is from it, and the greatest command.
struct Reached {
  double error = 0, command = 0, angle = 0;
};

Reached reach(const ArticulatedBody& body, const Vec3d& goal_at, bool by_torque,
              const ControlLimits& limits, double seconds) {
  ArticulatedState state = rest_state(body);
  for (int i = 0; i < 3; ++i) state.q[body.position_numbers() - 3 + i] = 0.3;
  HybridDynamics dynamics(body);
  std::vector<uint8_t> active(body.size(), 1);
  DirectControl control(body, active, by_torque, limits);
  const int n = body.velocity_numbers();
  Eigen::VectorXd accelerations = Eigen::VectorXd::Zero(n), torques = Eigen::VectorXd::Zero(n);
  BoneGoal goal;
  goal.bone = 3;
  goal.point = {0.2, 0, 0};
  goal.position = goal_at;
  Reached reached;
  const double h = 1e-3;
  for (int step = 0; step < static_cast<int>(seconds / h); ++step) {
    dynamics.move(state);
    JointCommands commands;
    commands.prescribed = control.prescribed();
    control.find(state, goal, commands, h, dynamics, accelerations, torques);
    commands.accelerations = numbers(accelerations);
    commands.torques = numbers(torques);
    const DynamicsResult& result = dynamics.solve(commands);
    const Eigen::VectorXd& driven = by_torque ? torques : accelerations;
    reached.command = std::max(reached.command, driven.tail<3>().lpNorm<Eigen::Infinity>());
    integrate(body, state, result.accelerations, h);
    reached.angle = std::max(reached.angle, state.q.tail<3>().lpNorm<Eigen::Infinity>());
  }
  const std::vector<BoneMotion> motions = bone_motions(body, state);
  reached.error = (motions[3].point(goal.point) - goal_at).norm();
  return reached;
}

TEST(DirectControl, BringsABoneToItsGoal) {
  for (const bool free : {false, true})
    for (const bool by_torque : {false, true}) {
      const Reached reached = reach(arm(free), {0.5, 0.3, 0}, by_torque, {}, 2);
      EXPECT_LT(reached.error, 0.005) << free << " " << by_torque;
    }
}

TEST(DirectControl, KeepsToItsLimits) {
  ControlLimits limits;
  limits.acceleration = 30;
  limits.velocity = 1.5;
  // Out of reach: as near as it can, with every command and angle within its limits.
  const Reached far = reach(arm(false), {-2, 0.5, 0}, false, limits, 4);
  EXPECT_LE(far.command, 30 + 1e-9);
  EXPECT_LT(far.angle, 2.01);
  EXPECT_TRUE(std::isfinite(far.error));
  const Reached near = reach(arm(false), {0.5, 0.3, 0}, false, limits, 4);
  EXPECT_LT(near.error, 0.005);
}

}  // namespace
}  // namespace supple
