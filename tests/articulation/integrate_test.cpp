// States advanced and compared, and paths that are followed exactly.
#include "supple/articulation/integrate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "articulation/random_bodies.h"

namespace supple {
namespace {

// A tree with every type of joint, a free root first.
ArticulatedBody all_joints(RandomBodies& random) {
  std::vector<BoneDescription> bones = random.bones(12, 3);
  for (size_t i = 0; i < bones.size(); ++i) {
    if (i > 0) bones[i].parent = static_cast<int>(i - 1) / 2;
    bones[i].joint = static_cast<JointType>(i == 0 ? 0 : 1 + i % 5);
    random.give_mass(bones[i]);
  }
  return ArticulatedBody(bones);
}

void expect_unit_quaternions(const ArticulatedBody& body, const Eigen::VectorXd& q) {
  for (const ArticulatedBone& bone : body.bones())
    if (bone.joint == JointType::ball || bone.joint == JointType::free) {
      const int at = bone.q + (bone.joint == JointType::free ? 3 : 0);
      EXPECT_NEAR(q.segment<4>(at).norm(), 1, 1e-14);
    }
}

TEST(Integrate, DifferenceUndoesAdvance) {
  RandomBodies random(1);
  const ArticulatedBody body = all_joints(random);
  for (int i = 0; i < 50; ++i) {
    const ArticulatedState state = random.state(body);
    const Eigen::VectorXd v = random.numbers_for(body, 0.8);
    Eigen::VectorXd q = state.q;
    advance(body, q, v, 0.5);
    expect_unit_quaternions(body, q);
    EXPECT_LT((difference(body, state.q, q) - 0.5 * v).norm(), 1e-12);
  }
}

TEST(Integrate, IsSymplecticEuler) {
  // An oscillator's numbers after one step: v' = v + h a, q' = q + h v'.
  BoneDescription bone;
  bone.name = "only";
  bone.joint = JointType::prismatic;
  bone.mass = 1;
  const ArticulatedBody body({bone});
  ArticulatedState state = rest_state(body);
  state.q[0] = 2;
  state.v[0] = 3;
  integrate(body, state, Eigen::VectorXd::Constant(1, -4), 0.5);
  EXPECT_EQ(state.v[0], 1);
  EXPECT_EQ(state.q[0], 2.5);
}

// A smooth path of all joints.
Eigen::VectorXd path(const ArticulatedBody& body, const ArticulatedState& start,
                     const Eigen::VectorXd& first, const Eigen::VectorXd& second, double t) {
  Eigen::VectorXd q = start.q;
  advance(body, q, first, std::sin(2 * t));
  advance(body, q, second, 1 - std::cos(3 * t));
  return q;
}

TEST(Integrate, PrescribedJointsFollowTheirPathsExactly) {
  double worst = 0;
  for (uint32_t seed = 0; seed < 5; ++seed) {
    RandomBodies random(seed);
    const ArticulatedBody body = all_joints(random);
    ArticulatedState state = random.state(body);
    const ArticulatedState start = state;
    const Eigen::VectorXd first = random.numbers_for(body, 1),
                          second = random.numbers_for(body, 0.5);
    // The root is passive: it goes where the others push it.
    std::vector<uint8_t> prescribed(body.size(), 1);
    prescribed[0] = 0;
    HybridDynamics dynamics(body);
    Eigen::VectorXd wanted;
    const double h = 1.0 / 300;
    for (int step = 0; step < 300; ++step) {
      const Eigen::VectorXd target = path(body, start, first, second, h * (step + 1));
      following_accelerations(body, state, target, h, wanted);
      const DynamicsResult& result = dynamics.solve(state, {prescribed, numbers(wanted), {}, {}});
      integrate(body, state, result.accelerations, h);
      const Eigen::VectorXd off = difference(body, state.q, target);
      worst = std::max(worst, off.tail(off.size() - 6).cwiseAbs().maxCoeff());
      ASSERT_LT(worst, 1e-12) << step;
    }
    expect_unit_quaternions(body, state.q);
  }
  RecordProperty("greatest_distance", fmt::format("{:.2g}", worst));
}

TEST(Integrate, FollowsFromAnywhereInOneStep) {
  // Including the free root, from any velocity, by turns of almost half a turn.
  RandomBodies random(9);
  const ArticulatedBody body = all_joints(random);
  for (int i = 0; i < 200; ++i) {
    ArticulatedState state = random.state(body, 10);
    Eigen::VectorXd target = state.q;
    advance(body, target, random.numbers_for(body, 1).normalized(), random.uniform(0, 3.14));
    Eigen::VectorXd wanted;
    following_accelerations(body, state, target, 0.01, wanted);
    integrate(body, state, wanted, 0.01);
    EXPECT_LT(difference(body, state.q, target).cwiseAbs().maxCoeff(), 1e-11);
  }
}

TEST(Integrate, QuaternionsStayUnitOverManySteps) {
  RandomBodies random(4);
  const ArticulatedBody body = all_joints(random);
  ArticulatedState state = random.state(body, 20);
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(body.velocity_numbers());
  for (int i = 0; i < 20000; ++i) integrate(body, state, none, 0.01);
  expect_unit_quaternions(body, state.q);
  EXPECT_TRUE(is_finite(state));
}

TEST(Integrate, MomentumOfAFreeTreeDriftsOnlyWithTheStep) {
  // Symplectic Euler of order one: halving the step halves the error after the same time.
  double errors[2];
  for (int k = 0; k < 2; ++k) {
    RandomBodies random(6);
    const ArticulatedBody body = all_joints(random);
    ArticulatedState state = random.state(body, 0.3);
    HybridDynamics dynamics(body);
    const Wrench before = total_momentum(body, bone_motions(body, state), Vec3d::Zero());
    const int steps = 200 << k;
    for (int i = 0; i < steps; ++i)
      integrate(body, state, dynamics.solve(state, {}).accelerations, 0.2 / steps);
    const Wrench after = total_momentum(body, bone_motions(body, state), Vec3d::Zero());
    errors[k] = (after.torque - before.torque).norm() / before.torque.norm();
  }
  EXPECT_LT(errors[0], 0.05);
  EXPECT_NEAR(errors[0] / errors[1], 2, 0.3);
}

}  // namespace
}  // namespace supple
