// Limits, springs, dampers and servos: gradients of their energies, and what they are for.
#include "supple/articulation/joint_torques.h"

#include <gtest/gtest.h>

#include "articulation/random_bodies.h"

namespace supple {
namespace {

ArticulatedBody springy_tree(RandomBodies& random) {
  std::vector<BoneDescription> bones = random.bones(20, 4);
  for (BoneDescription& bone : bones) {
    if (bone.joint == JointType::free || bone.joint == JointType::fixed) continue;
    JointPassive& passive = bone.passive;
    passive.stiffness = random.uniform(0, 5);
    passive.rest = {random.normal(), random.normal()};
    passive.rest_turn = rotation_of(0.5 * random.vector());
    passive.lower = {-0.4, -0.2};
    passive.upper = {0.3, 0.5};
    passive.limit_stiffness = random.uniform(1, 20);
  }
  return ArticulatedBody(bones);
}

TEST(JointTorques, PassiveTorquesAreGradientsOfTheirEnergy) {
  for (uint32_t seed = 0; seed < 10; ++seed) {
    RandomBodies random(seed);
    const ArticulatedBody body = springy_tree(random);
    ArticulatedState state = random.state(body, 0);
    Eigen::VectorXd torques = Eigen::VectorXd::Zero(body.velocity_numbers());
    add_passive_torques(body, state, torques);
    for (int k = 0; k < body.velocity_numbers(); ++k) {
      const double h = 1e-6;
      const Eigen::VectorXd unit = Eigen::VectorXd::Unit(body.velocity_numbers(), k);
      ArticulatedState later = state, earlier = state;
      advance(body, later.q, unit, h);
      advance(body, earlier.q, unit, -h);
      const double slope = (passive_energy(body, later) - passive_energy(body, earlier)) / (2 * h);
      EXPECT_NEAR(torques[k], -slope, 1e-6 * (1 + std::abs(slope))) << seed << ' ' << k;
    }
  }
}

TEST(JointTorques, SpringsRestWhereTheyAreSaidTo) {
  for (const JointType joint :
       {JointType::ball, JointType::universal, JointType::hinge, JointType::prismatic}) {
    RandomBodies random(7);
    BoneDescription bone;
    bone.name = "arm";
    bone.joint = joint;
    random.give_mass(bone);
    bone.passive.stiffness = 3;
    bone.passive.rest = {0.4, -0.7};
    bone.passive.rest_turn = rotation_of({0.3, -0.8, 0.5});
    const ArticulatedBody body({bone});
    ArticulatedState state = rest_state(body);
    if (joint == JointType::ball)
      state.q = bone.passive.rest_turn.coeffs();
    else
      state.q = Eigen::Vector2d(0.4, -0.7).head(state.q.size());
    Eigen::VectorXd torques = Eigen::VectorXd::Zero(body.velocity_numbers());
    add_passive_torques(body, state, torques);
    EXPECT_LT(torques.norm(), 1e-14);
    EXPECT_LT(passive_energy(body, state), 1e-28);
    // A turn of 0.1 from there, about any of the bone's axes, meets 0.3 N m.
    advance(body, state.q, Eigen::VectorXd::Unit(body.velocity_numbers(), 0), 0.1);
    add_passive_torques(body, state, torques);
    EXPECT_NEAR(torques[0], -0.3, 1e-12);
  }
}

TEST(JointTorques, DampersTakePower) {
  RandomBodies random(2);
  std::vector<BoneDescription> bones = random.bones(15, 4);
  for (BoneDescription& bone : bones)
    if (bone.joint != JointType::free && bone.joint != JointType::fixed) bone.passive.damping = 0.7;
  const ArticulatedBody body(bones);
  const ArticulatedState state = random.state(body);
  Eigen::VectorXd torques = Eigen::VectorXd::Zero(body.velocity_numbers());
  add_passive_torques(body, state, torques);
  for (const ArticulatedBone& bone : body.bones()) {
    const double damping = bone.passive.damping;
    EXPECT_LT((torques + damping * state.v).segment(bone.v, bone.v_count).norm(), 1e-14);
  }
}

// A bone that falls onto its limit of 0.5, and comes to rest on it; the greatest angle on its way.
double greatest_angle(JointType joint) {
  BoneDescription bone;
  bone.name = "arm";
  bone.joint = joint;
  bone.mass = 1;
  bone.centre = {0.3, 0, 0};
  bone.inertia = 0.01 * Mat3d::Identity();
  bone.passive.lower = {-0.5, -0.5};
  bone.passive.upper = {0.5, 0.5};
  bone.passive.limit_stiffness = 2000;
  bone.passive.limit_damping = 10;
  const ArticulatedBody body({bone});
  HybridDynamics dynamics(body);
  ArticulatedState state = rest_state(body);
  double angle = 0, greatest = 0;
  for (int step = 0; step < 3000; ++step) {
    Eigen::VectorXd torques = Eigen::VectorXd::Zero(body.velocity_numbers());
    add_passive_torques(body, state, torques);
    integrate(body, state,
              dynamics.solve(state, {{}, {}, numbers(torques), {}, {0, -9.81, 0}}).accelerations,
              1e-3);
    angle = difference(body, rest_state(body).q, state.q).norm();
    greatest = std::max(greatest, angle);
  }
  // The stop bears the weight's torque.
  EXPECT_LT(state.v.norm(), 1e-3);
  EXPECT_NEAR(angle, 0.5 + 9.81 * 0.3 * std::cos(0.5) / 2000, 1e-4);
  return greatest;
}

TEST(JointTorques, LimitsHold) {
  EXPECT_LT(greatest_angle(JointType::hinge), 0.56);
  EXPECT_GT(greatest_angle(JointType::hinge), 0.5);
  EXPECT_LT(greatest_angle(JointType::ball), 0.56);
}

TEST(JointTorques, StopsNeverPull) {
  BoneDescription bone;
  bone.name = "arm";
  bone.joint = JointType::hinge;
  bone.mass = 1;
  bone.inertia.setIdentity();
  bone.passive.upper[0] = 1;
  bone.passive.limit_stiffness = 10;
  bone.passive.limit_damping = 100;
  const ArticulatedBody body({bone});
  ArticulatedState state = rest_state(body);
  state.q[0] = 1.1;
  state.v[0] = -5;  // coming back fast: the damper alone would hold it
  Eigen::VectorXd torques = Eigen::VectorXd::Zero(1);
  add_passive_torques(body, state, torques);
  EXPECT_EQ(torques[0], 0);
  state.v[0] = 0;
  add_passive_torques(body, state, torques);
  EXPECT_NEAR(torques[0], -1, 1e-12);
}

TEST(JointTorques, ServosReachTheirTargets) {
  for (const JointType joint : {JointType::ball, JointType::universal, JointType::hinge}) {
    RandomBodies random(12);
    BoneDescription bone;
    bone.name = "arm";
    bone.joint = joint;
    random.give_mass(bone);
    bone.inertia += 0.05 * Mat3d::Identity();
    const ArticulatedBody body({bone});
    HybridDynamics dynamics(body);
    ArticulatedState state = random.state(body, 3);
    const ArticulatedState goal = random.state(body, 0);
    for (int step = 0; step < 8000; ++step) {
      Eigen::VectorXd torques = Eigen::VectorXd::Zero(body.velocity_numbers());
      add_servo_torque(body, state, {0, 20, 4}, numbers(goal.q), {}, torques);
      integrate(body, state, dynamics.solve(state, {{}, {}, numbers(torques), {}}).accelerations,
                1e-3);
    }
    EXPECT_LT(difference(body, state.q, goal.q).norm(), 1e-6) << static_cast<int>(joint);
  }
}

TEST(JointTorques, ServosAreAsStrongAsTheyMayBe) {
  RandomBodies random(12);
  BoneDescription bone;
  bone.name = "arm";
  bone.joint = JointType::universal;
  random.give_mass(bone);
  const ArticulatedBody body({bone});
  const ArticulatedState state = rest_state(body);
  Eigen::VectorXd torques = Eigen::VectorXd::Zero(2);
  const double target[] = {1, -0.01}, rate[] = {0, 0.001};
  add_servo_torque(body, state, {0, 100, 10, 5}, target, rate, torques);
  EXPECT_EQ(torques[0], 5);
  EXPECT_NEAR(torques[1], -0.99, 1e-12);
}

}  // namespace
}  // namespace supple
