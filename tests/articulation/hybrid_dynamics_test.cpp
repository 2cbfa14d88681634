// Hybrid dynamics against dense matrices, analytic motions, and what must be kept.
#include "supple/articulation/hybrid_dynamics.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "articulation/dense_reference.h"
#include "articulation/random_bodies.h"
#include "supple/articulation/joint_torques.h"

namespace supple {
namespace {

// Into the report of --gtest_output.
void record(const char* what, double value) {
  testing::Test::RecordProperty(what, fmt::format("{:.2g}", value));
}

double difference_of(const reference::Vec3& a, const Vec3d& b) {
  return static_cast<double>((a - b.cast<reference::Real>()).norm());
}

// Greatest differences between the recursion and the dense reference, relative to the greatest
// number of each kind.
double error_of(const DynamicsResult& result, reference::Dense& dense, const ArticulatedBody& body,
                const JointCommands& commands) {
  dense.solve(commands);
  double worst = 0, accelerations = 1, forces = 1, bones = 1;
  if (body.velocity_numbers() > 0) {
    accelerations += static_cast<double>(dense.accelerations.cwiseAbs().maxCoeff());
    forces += static_cast<double>(dense.joint_torques.cwiseAbs().maxCoeff());
    const reference::Vector a = result.accelerations.cast<reference::Real>() - dense.accelerations;
    const reference::Vector t = result.torques.cast<reference::Real>() - dense.joint_torques;
    worst = std::max(static_cast<double>(a.cwiseAbs().maxCoeff()) / accelerations,
                     static_cast<double>(t.cwiseAbs().maxCoeff()) / forces);
  }
  for (size_t i = 0; i < body.size(); ++i) {
    bones += static_cast<double>(dense.linear(i, commands.gravity).norm());
    forces += static_cast<double>(dense.force(i).norm());
  }
  for (size_t i = 0; i < body.size(); ++i) {
    const Twist& bone = result.bones[i];
    const Wrench& reaction = result.reactions[i];
    worst = std::max({worst, difference_of(dense.angular(i), bone.angular) / accelerations,
                      difference_of(dense.linear(i, commands.gravity), bone.linear) / bones,
                      difference_of(dense.torque(i), reaction.torque) / forces,
                      difference_of(dense.force(i), reaction.force) / forces});
  }
  return worst;
}

TEST(HybridDynamics, AgreesWithDenseMatricesOnRandomTrees) {
  double worst = 0;
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    RandomBodies random(seed);
    const int size = random.whole(1, 40), reach = random.whole(1, 40);
    const ArticulatedBody body(random.bones(size, reach));
    HybridDynamics dynamics(body);
    const ArticulatedState state = random.state(body);
    const double parts[] = {0, 1, 0.5, random.uniform(0, 1)};
    const std::vector<uint8_t> prescribed = random.prescribed(body, parts[seed % 4]);
    const Eigen::VectorXd accelerations = random.numbers_for(body, 5),
                          torques = random.numbers_for(body, 3);
    const std::vector<Wrench> wrenches = random.wrenches(body);
    const JointCommands commands{prescribed, numbers(accelerations), numbers(torques), wrenches,
                                 5 * random.vector()};
    const DynamicsResult& result = dynamics.solve(state, commands);
    ASSERT_EQ(result.singular_bone, -1);
    reference::Dense dense(body, state);
    const double error = error_of(result, dense, body, commands);
    worst = std::max(worst, error);
    ASSERT_LT(error, 1e-11) << "seed " << seed << ", " << size << " bones";
  }
  record("greatest_relative_difference", worst);
}

// Resistance R is a torque -R a that depends on what is found: with it given, all is found again.
TEST(HybridDynamics, ResistancesAreTorquesAgainstAccelerations) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    RandomBodies random(seed);
    const ArticulatedBody body(random.bones(random.whole(1, 25), 4));
    const ArticulatedState state = random.state(body);
    const std::vector<uint8_t> prescribed = random.prescribed(body, 0.3);
    const Eigen::VectorXd accelerations = random.numbers_for(body, 5),
                          torques = random.numbers_for(body, 3);
    Eigen::VectorXd resistances = random.numbers_for(body, 2).cwiseAbs();
    const std::vector<Wrench> wrenches = random.wrenches(body);
    for (const ArticulatedBone& bone : body.bones())
      if (bone.joint == JointType::free || random.whole(0, 2) == 0)
        resistances.segment(bone.v, bone.v_count).setZero();
    HybridDynamics dynamics(body);
    const JointCommands with{prescribed, numbers(accelerations), numbers(torques),
                             wrenches,   {0, -9.81, 0},          numbers(resistances)};
    const Eigen::VectorXd found = dynamics.solve(state, with).accelerations;
    const Eigen::VectorXd left = torques - resistances.cwiseProduct(found);
    const JointCommands without{
        prescribed, numbers(accelerations), numbers(left), wrenches, {0, -9.81, 0}};
    const Eigen::VectorXd again = dynamics.solve(state, without).accelerations;
    EXPECT_LT((again - found).norm(), 1e-9 * (1 + found.norm())) << seed;
  }
}

// Commands that are left out are zeros.
TEST(HybridDynamics, TakesEmptyCommandsForZeros) {
  RandomBodies random(5);
  const ArticulatedBody body(random.bones(12, 4));
  const ArticulatedState state = random.state(body);
  const Eigen::VectorXd zeros = Eigen::VectorXd::Zero(body.velocity_numbers());
  const std::vector<uint8_t> none(body.size(), 0);
  const std::vector<Wrench> wrenches(body.size());
  HybridDynamics a(body), b(body);
  const JointCommands given{none, numbers(zeros), numbers(zeros), wrenches, {0, -9.81, 0}};
  JointCommands empty;
  empty.gravity = {0, -9.81, 0};
  EXPECT_EQ(a.solve(state, given).accelerations, b.solve(state, empty).accelerations);
}

// Prescribing what forward dynamics found gives back its torques, joint by joint.
TEST(HybridDynamics, InverseDynamicsUndoesForwardDynamics) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    RandomBodies random(seed);
    const ArticulatedBody body(random.bones(20, 3));
    const ArticulatedState state = random.state(body);
    const Eigen::VectorXd torques = random.numbers_for(body, 4);
    HybridDynamics dynamics(body);
    const Eigen::VectorXd found =
        dynamics.solve(state, {{}, {}, numbers(torques), {}, {0, -9.81, 0}}).accelerations;
    const std::vector<uint8_t> all(body.size(), 1);
    const Eigen::VectorXd back =
        dynamics.solve(state, {all, numbers(found), {}, {}, {0, -9.81, 0}}).torques;
    EXPECT_LT((back - torques).norm(), 1e-9 * torques.norm()) << seed;
  }
}

TEST(HybridDynamics, RateOfMomentumIsTheOuterWrench) {
  double worst = 0;
  for (uint32_t seed = 0; seed < 50; ++seed) {
    RandomBodies random(seed);
    std::vector<BoneDescription> bones = random.bones(25, 5);
    for (BoneDescription& bone : bones)
      if (bone.parent < 0) {
        bone.joint = JointType::free;
        random.give_mass(bone);
      }
    const ArticulatedBody body(bones);
    const ArticulatedState state = random.state(body);
    std::vector<uint8_t> prescribed = random.prescribed(body, 0.5);
    Eigen::VectorXd torques = random.numbers_for(body, 3);
    for (const ArticulatedBone& bone : body.bones())
      if (bone.joint == JointType::free) {
        prescribed[static_cast<size_t>(body.find(bone.name))] = 0;
        torques.segment<6>(bone.v).setZero();
      }
    const Eigen::VectorXd accelerations = random.numbers_for(body, 5);
    const std::vector<Wrench> wrenches = random.wrenches(body);
    const Vec3d gravity(1, -9, 2), about = random.vector();
    HybridDynamics dynamics(body);
    const DynamicsResult& result = dynamics.solve(
        state, {prescribed, numbers(accelerations), numbers(torques), wrenches, gravity});
    Wrench outside =
        wrench_of_force(body.mass() * gravity, centre_of_mass(body, dynamics.motions()), about);
    double size = outside.torque.norm() + outside.force.norm();
    for (size_t i = 0; i < body.size(); ++i) {
      const Wrench moved =
          wrench_of_force(wrenches[i].force, dynamics.motions()[i].position, about);
      outside = outside + moved + Wrench{wrenches[i].torque, Vec3d::Zero()};
      size += moved.torque.norm() + moved.force.norm() + wrenches[i].torque.norm();
    }
    const Wrench rate = momentum_rate(body, dynamics.motions(), result.bones, about);
    EXPECT_LT((rate.force - outside.force).norm(), 1e-9 * size) << seed;
    EXPECT_LT((rate.torque - outside.torque).norm(), 1e-9 * size) << seed;
    worst = std::max({worst, (rate.force - outside.force).norm() / size,
                      (rate.torque - outside.torque).norm() / size});
  }
  record("greatest_relative_difference", worst);
}

// One step of the classical Runge-Kutta method; exponential maps of the averaged slopes are of
// lower order where rotations do not commute, so quaternions are integrated as numbers.
void runge_kutta(const ArticulatedBody& body, HybridDynamics& dynamics, ArticulatedState& state,
                 const Vec3d& gravity, double h) {
  const auto slope = [&](const ArticulatedState& at) {
    JointCommands commands;
    commands.gravity = gravity;
    Eigen::VectorXd torques = Eigen::VectorXd::Zero(body.velocity_numbers());
    add_passive_torques(body, at, torques);
    commands.torques = numbers(torques);
    ArticulatedState rate{Eigen::VectorXd::Zero(body.position_numbers()),
                          dynamics.solve(at, commands).accelerations};
    for (const ArticulatedBone& bone : body.bones()) {
      int q = bone.q;
      if (bone.joint == JointType::free) {
        rate.q.segment<3>(q) = at.v.segment<3>(bone.v + 3);
        q += 3;
      }
      if (bone.joint == JointType::free || bone.joint == JointType::ball) {
        const Quatd now(Eigen::Vector4d(at.q.segment<4>(q)));
        const Vec3d w = at.v.segment<3>(bone.v);
        rate.q.segment<4>(q) = 0.5 * (now * Quatd(0, w[0], w[1], w[2])).coeffs();
      } else {
        rate.q.segment(q, bone.q_count) = at.v.segment(bone.v, bone.v_count);
      }
    }
    return rate;
  };
  const auto along = [&](const ArticulatedState& rate, double step) {
    ArticulatedState moved{state.q + step * rate.q, state.v + step * rate.v};
    for (const ArticulatedBone& bone : body.bones()) {
      if (bone.joint == JointType::free) moved.q.segment<4>(bone.q + 3).normalize();
      if (bone.joint == JointType::ball) moved.q.segment<4>(bone.q).normalize();
    }
    return moved;
  };
  const ArticulatedState a = slope(state), b = slope(along(a, h / 2)), c = slope(along(b, h / 2)),
                         d = slope(along(c, h));
  const ArticulatedState mean{(a.q + 2 * b.q + 2 * c.q + d.q) / 6,
                              (a.v + 2 * b.v + 2 * c.v + d.v) / 6};
  state = along(mean, h);
}

// A tree on a free root with joints of all types.
std::vector<BoneDescription> mixed_tree(uint32_t seed) {
  RandomBodies random(seed);
  std::vector<BoneDescription> bones = random.bones(9, 4);
  for (size_t i = 0; i < bones.size(); ++i) {
    if (i > 0) bones[i].parent = static_cast<int>(i + 1) / 2 - 1;
    bones[i].joint = static_cast<JointType>(i == 0 ? 0 : 1 + i % 5);
    random.give_mass(bones[i]);
    // Springs hold sliding bones.
    if (bones[i].joint == JointType::prismatic) bones[i].passive.stiffness = 100;
  }
  return bones;
}

TEST(HybridDynamics, PassiveTreeKeepsEnergyAndMomentum) {
  const ArticulatedBody body(mixed_tree(3));
  RandomBodies random(4);
  ArticulatedState state = random.state(body, 0.7);
  HybridDynamics dynamics(body);
  const auto energy = [&] {
    return kinetic_energy(body, bone_motions(body, state)) + passive_energy(body, state);
  };
  const double before = energy();
  const Wrench momentum = total_momentum(body, bone_motions(body, state), Vec3d::Zero());
  for (int i = 0; i < 4000; ++i) runge_kutta(body, dynamics, state, Vec3d::Zero(), 5e-4);
  record("energy", std::abs(energy() / before - 1));
  EXPECT_NEAR(energy(), before, 1e-8 * before);
  const Wrench after = total_momentum(body, bone_motions(body, state), Vec3d::Zero());
  record("momentum", (after.force - momentum.force).norm() / momentum.force.norm());
  record("angular_momentum", (after.torque - momentum.torque).norm() / momentum.torque.norm());
  EXPECT_LT((after.force - momentum.force).norm(), 1e-9 * momentum.force.norm());
  EXPECT_LT((after.torque - momentum.torque).norm(), 1e-9 * momentum.torque.norm());
}

TEST(HybridDynamics, HangingTreeKeepsEnergyInGravity) {
  std::vector<BoneDescription> bones = mixed_tree(7);
  bones[0].joint = JointType::ball;
  const ArticulatedBody body(bones);
  RandomBodies random(8);
  ArticulatedState state = random.state(body, 0.5);
  HybridDynamics dynamics(body);
  const Vec3d gravity(0, -9.81, 0);
  const auto energy = [&] {
    const std::vector<BoneMotion> motions = bone_motions(body, state);
    return kinetic_energy(body, motions) + potential_energy(body, motions, gravity) +
           passive_energy(body, state);
  };
  const double before = energy(), size = kinetic_energy(body, bone_motions(body, state));
  for (int i = 0; i < 4000; ++i) runge_kutta(body, dynamics, state, gravity, 2.5e-4);
  EXPECT_NEAR(energy(), before, 1e-8 * std::max(std::abs(before), size));
}

BoneDescription one_bone(JointType joint, double mass, const Vec3d& centre, const Vec3d& moments) {
  BoneDescription bone;
  bone.name = "only";
  bone.joint = joint;
  bone.mass = mass;
  bone.centre = centre;
  bone.inertia = moments.asDiagonal();
  return bone;
}

TEST(HybridDynamics, PendulumHasItsEquation) {
  // θ'' = -m g l sin θ / (I + m l²); the joint bears weight and centripetal force.
  const double m = 2, l = 0.7, i = 0.3, g = 9.81;
  const ArticulatedBody body({one_bone(JointType::hinge, m, {0, -l, 0}, {i, i, i})});
  HybridDynamics dynamics(body);
  for (const double angle : {0.0, 0.3, 1.5, -2.8}) {
    ArticulatedState state = rest_state(body);
    state.q[0] = angle;
    state.v[0] = 1.7;
    JointCommands commands;
    commands.gravity = {0, -g, 0};
    const DynamicsResult& result = dynamics.solve(state, commands);
    const double expected = -m * g * l * std::sin(angle) / (i + m * l * l);
    EXPECT_NEAR(result.accelerations[0], expected, 1e-12);
    const Vec3d out(std::sin(angle), -std::cos(angle), 0),
        along(std::cos(angle), std::sin(angle), 0);
    const Vec3d force = m * (l * expected * along - l * 1.7 * 1.7 * out) + Vec3d(0, m * g, 0);
    EXPECT_LT((result.reactions[0].force - force).norm(), 1e-12 * force.norm());
  }
}

TEST(HybridDynamics, FreeBodyObeysEulersEquations) {
  // I1 ω1' = (I2 - I3) ω2 ω3, and the centre of mass falls.
  const Vec3d moments(0.2, 0.5, 0.6), w(3, -2, 5);
  const ArticulatedBody body({one_bone(JointType::free, 3, Vec3d::Zero(), moments)});
  HybridDynamics dynamics(body);
  ArticulatedState state = rest_state(body);
  state.q.segment<4>(3) = rotation_of({0.3, 1, -2}).coeffs();
  state.v << w, 1, 2, 3;
  JointCommands commands;
  commands.gravity = {0, -9.81, 0};
  const DynamicsResult& result = dynamics.solve(state, commands);
  for (int k = 0; k < 3; ++k) {
    const int a = (k + 1) % 3, b = (k + 2) % 3;
    EXPECT_NEAR(result.accelerations[k], (moments[a] - moments[b]) * w[a] * w[b] / moments[k],
                1e-12);
    EXPECT_NEAR(result.accelerations[3 + k], commands.gravity[k], 1e-12);
  }
}

TEST(HybridDynamics, SymmetricTopPrecesses) {
  // A top on a ball joint, its axis level, spinning with s: steady precession at rate Ω with
  // m g l = I3 (s) Ω has no other acceleration than that of precession itself.
  const double m = 0.8, l = 0.3, i1 = 0.02, i3 = 0.01, g = 9.81, spin = 200;
  const ArticulatedBody body({one_bone(JointType::ball, m, {0, 0, l}, {i1, i1, i3})});
  const double rate = m * g * l / (i3 * spin);
  ArticulatedState state = rest_state(body);
  // The axis points along x; up is z.
  const Quatd turn = rotation_of({0, std::numbers::pi / 2, 0});
  state.q.head<4>() = turn.coeffs();
  const Vec3d w = Vec3d(spin, 0, 0) + Vec3d(0, 0, rate);
  state.v.head<3>() = turn.conjugate() * w;
  HybridDynamics dynamics(body);
  JointCommands commands;
  commands.gravity = {0, 0, -g};
  const DynamicsResult& result = dynamics.solve(state, commands);
  // ω turns with the axis: ω' = Ω × ω.
  const Vec3d expected = Vec3d(0, 0, rate).cross(w);
  EXPECT_LT((result.bones[0].angular - expected).norm(), 1e-9 * expected.norm());
}

TEST(HybridDynamics, HoldsJointsThatMoveNoMassInOnePose) {
  // Three hinges at one point; the outer two have the same axis where the middle angle is zero.
  std::vector<BoneDescription> bones(3);
  for (int i = 0; i < 3; ++i) {
    bones[static_cast<size_t>(i)].name = "ring" + std::to_string(i);
    bones[static_cast<size_t>(i)].parent = i - 1;
    bones[static_cast<size_t>(i)].joint = JointType::hinge;
    bones[static_cast<size_t>(i)].axis = i == 1 ? Vec3d::UnitX() : Vec3d::UnitZ();
  }
  bones[2].mass = 1;
  bones[2].inertia = Vec3d(0.1, 0.2, 0.3).asDiagonal();
  const ArticulatedBody body(bones);
  HybridDynamics dynamics(body);
  const Eigen::VectorXd torques = Vec3d(0.4, 0.3, 0.1);
  ArticulatedState state = rest_state(body);
  state.v << 1, 2, 3;
  // Of an earlier pose, where it is not so, nothing must be left.
  state.q[1] = 0.5;
  EXPECT_EQ(dynamics.solve(state, {{}, {}, numbers(torques), {}, {0, -9, 0}}).singular_bone, -1);
  state.q[1] = 0;
  const DynamicsResult& result = dynamics.solve(state, {{}, {}, numbers(torques), {}, {0, -9, 0}});
  EXPECT_EQ(result.singular_bone, 0);
  EXPECT_TRUE(result.accelerations.allFinite());
  EXPECT_TRUE(result.torques.allFinite());
  EXPECT_EQ(result.accelerations[0], 0);
  // What is told holds together all the same.
  reference::Dense dense(body, state);
  const reference::Vector back =
      dense.torques(result.accelerations.cast<reference::Real>(), {{}, {}, {}, {}, {0, -9, 0}});
  EXPECT_LT(static_cast<double>((back - result.torques.cast<reference::Real>()).norm()), 1e-12);
}

// Bones between others may weigh nothing where what they carry does.
TEST(HybridDynamics, TakesBonesWithoutMassBetweenOthers) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    RandomBodies random(seed);
    std::vector<BoneDescription> bones = mixed_tree(seed);
    for (size_t i : {size_t{1}, size_t{2}}) {
      bones[i].joint = JointType::hinge;
      bones[i].mass = 0;
      bones[i].inertia.setZero();
    }
    const ArticulatedBody body(bones);
    const ArticulatedState state = random.state(body);
    HybridDynamics dynamics(body);
    const JointCommands commands{{}, {}, {}, {}, {0, -9.81, 0}};
    const DynamicsResult& result = dynamics.solve(state, commands);
    reference::Dense dense(body, state);
    EXPECT_LT(error_of(result, dense, body, commands), 1e-8) << seed;
  }
}

// A chain of 200 bones as long as a street is solved as well as a short one.
TEST(HybridDynamics, LongChainsKeepTheirDigits) {
  for (const bool prescribed : {false, true}) {
    RandomBodies random(11);
    std::vector<BoneDescription> bones = random.bones(200, 1);
    for (size_t i = 0; i < bones.size(); ++i) {
      bones[i].parent = static_cast<int>(i) - 1;
      bones[i].joint = JointType::hinge;
      bones[i].position = {0.5, 0, 0};
      bones[i].orientation.setIdentity();
      if (bones[i].mass == 0) random.give_mass(bones[i]);
    }
    const ArticulatedBody body(bones);
    ArticulatedState state = rest_state(body);
    for (double& q : state.q) q = 0.05 * random.normal();
    for (double& v : state.v) v = 0.1 * random.normal();
    const std::vector<uint8_t> which(body.size(), prescribed ? 1 : 0);
    const Eigen::VectorXd accelerations = random.numbers_for(body, 1);
    HybridDynamics dynamics(body);
    const JointCommands commands{which, numbers(accelerations), {}, {}, {0, -9.81, 0}};
    const DynamicsResult& result = dynamics.solve(state, commands);
    reference::Dense dense(body, state);
    const double error = error_of(result, dense, body, commands);
    record(prescribed ? "inverse" : "forward", error);
    EXPECT_LT(error, 1e-9);
  }
}

}  // namespace
}  // namespace supple
