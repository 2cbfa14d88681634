// Flesh and skeleton together: what they do to each other adds up to nothing, flight follows the
// parabola, masses and steps are what they should be, contact carries and holds.
#include "supple/tets/tet_character.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include <numbers>
#include <random>

#include "supple/core/parallel.h"
#include "supple/mesh/primitives.h"
#include "supple/mesh/tet_cage.h"
#include "support/tet_boxes.h"

namespace supple {
namespace {

// A soft bar along x with a chain of three bones in it: free, then a hinge, then a ball.
struct Bar {
  TetFleshModel flesh;
  std::vector<BoneDescription> bones;
};

Bar soft_bar(JointType second = JointType::hinge, JointType third = JointType::ball) {
  Bar bar;
  TetFleshModel& flesh = bar.flesh;
  flesh.mesh = box_of_tets(9, 2, 2, 0.05, 0.1);
  flesh.matter.limits.lower = std::max(0.7, least_lower_limit(0.3));
  std::vector<Eigen::Vector4d> shares;
  for (const Vec4i& tet : flesh.mesh.tets) {
    const double volume = six_volumes(flesh.mesh, tet) / 6;
    flesh.matter.volumes.push_back(volume);
    flesh.matter.materials.push_back(lame_moduli(2e4, 0.3));
    shares.push_back(Eigen::Vector4d::Constant(volume / 4));
  }
  const std::vector<double> densities(shares.size(), 1000);
  flesh.masses = lumped_masses(flesh.mesh, shares, densities);
  flesh.damping = 3;
  bar.bones.resize(3);
  const Vec3d origins[] = {{0, 0.05, 0.05}, {0.15, 0.05, 0.05}, {0.3, 0.05, 0.05}};
  for (int b = 0; b < 3; ++b) {
    BoneDescription& bone = bar.bones[static_cast<size_t>(b)];
    bone.name = "bone" + std::to_string(b);
    bone.parent = b - 1;
    bone.joint = b == 0 ? JointType::free : b == 1 ? second : third;
    bone.position = b == 0 ? origins[0] : Vec3d(origins[b] - origins[b - 1]);
    bone.mass = 0.05;
    bone.centre = {0.075, 0, 0};
    bone.inertia = Vec3d(1e-5, 1e-4, 1e-4).asDiagonal();
  }
  for (const Vec3d& p : flesh.mesh.positions) {
    const int near = std::clamp(static_cast<int>(p[0] / 0.15), 0, 2);
    const bool inner = std::abs(p[1] - 0.05) < 0.02 && std::abs(p[2] - 0.05) < 0.02;
    flesh.bone_of_node.push_back(inner ? near : -1);
    flesh.place_on_bone.emplace_back(p - origins[near]);
    flesh.reference.push_back(near);
  }
  merge_fixed_masses(flesh, bar.bones);
  return bar;
}

// Joint accelerations of a lively animal.
void wriggle(const TetCharacter& body, double time, JointOrders& orders, double acceleration = 80) {
  const int numbers = body.skeleton().velocity_numbers();
  orders.prescribed.assign(body.skeleton().size(), 1);
  orders.prescribed[0] = 0;
  orders.torques.setZero(numbers);
  orders.accelerations.setZero(numbers);
  for (int i = 6; i < numbers; ++i)
    orders.accelerations[i] = acceleration * std::sin(25 * time + i);
}

// The sum of all forces and moments that flesh and bones exert on each other, and their sizes.
struct Balance {
  Wrench sum;
  double force = 0, moment = 0;
};

Balance inner_balance(TetCharacter& body) {
  Balance balance;
  const auto add = [&](const Vec3d& at, const Vec3d& force, const Vec3d& torque) {
    const Vec3d moment = at.cross(force) + torque;
    balance.sum.force += force;
    balance.sum.torque += moment;
    balance.force += force.norm();
    balance.moment += at.cross(force).norm() + torque.norm();
  };
  for (size_t n = 0; n < body.flesh.positions.size(); ++n)
    if (body.flesh.model().bone_of_node[n] < 0)
      add(body.flesh.positions[n], body.flesh.forces[n], Vec3d::Zero());
  for (size_t b = 0; b < body.skeleton().size(); ++b)
    add(body.dynamics().motions()[b].position, body.wrenches()[b].force, body.wrenches()[b].torque);
  return balance;
}

TEST(TetCharacter, InnerForcesAddUpToNothingInEveryStep) {
  const Bar bar = soft_bar();
  TetCharacter body(ArticulatedBody(bar.bones), bar.flesh, {}, TetPrecision::twice, "test");
  JointOrders orders;
  const double h = 5e-4;
  for (int step = 0; step < 1000; ++step) {
    body.update();
    body.find_forces({}, h);
    const Balance balance = inner_balance(body);
    if (step > 1) {
      ASSERT_LT(balance.sum.force.norm(), 1e-10 * balance.force) << step;
      ASSERT_LT(balance.sum.torque.norm(), 1e-10 * balance.moment) << step;
    }
    wriggle(body, step * h, orders);
    body.advance(orders, Vec3d(0, -9.81, 0), h);
  }
  EXPECT_TRUE(body.is_sound(100));
}

struct Flight {
  double drop = 0;      // error of the centre's height, m
  double aside = 0;     // and beside it
  double turning = 0;   // change of the angular momentum about the centre of mass
  double height = 0;    // of the parabola
  double momentum = 0;  // scale of angular momentum
};

// In flight, whatever the joints do, the common centre of mass is on the parabola of the stepper.
Flight fly(double h, double acceleration) {
  const Bar bar = soft_bar();
  TetCharacter body(ArticulatedBody(bar.bones), bar.flesh, {}, TetPrecision::twice, "test");
  const Vec3d gravity(0, -9.81, 0), throw_up(0.4, 3, 0.1), spin(0.5, 1, 2);
  body.update();
  const Vec3d start = body.centre_of_mass();
  for (size_t n = 0; n < body.flesh.positions.size(); ++n)
    body.flesh.velocities[n] = throw_up + spin.cross(body.flesh.positions[n] - start);
  body.joints.v.head<3>() = spin;
  body.joints.v.segment<3>(3) =
      throw_up + spin.cross(body.dynamics().motions()[0].position - start);
  body.update();
  const Wrench before = body.momentum(start);
  const double mass = body.mass();
  JointOrders orders;
  const int steps = static_cast<int>(std::lround(0.6 / h));
  Flight flight;
  for (int step = 0; step < steps; ++step) {
    body.update();
    body.find_forces({}, h);
    wriggle(body, step * h, orders, acceleration);
    body.advance(orders, gravity, h);
    body.update();
    const double n = step + 1;
    // Of symplectic Euler: v falls by g h, then x moves with it.
    const Vec3d expected = start + n * h * before.force / mass + h * h * n * (n + 1) / 2 * gravity;
    const Vec3d error = body.centre_of_mass() - expected;
    flight.drop = std::max(flight.drop, std::abs(error[1]));
    flight.aside = std::max(flight.aside, std::hypot(error[0], error[2]));
    flight.height = std::max(flight.height, expected[1] - start[1]);
    const Vec3d centre = body.centre_of_mass();
    const Vec3d turning = body.momentum(centre).torque;
    flight.turning = std::max(flight.turning, (turning - before.torque).norm());
  }
  flight.momentum = before.torque.norm();
  return flight;
}

TEST(TetCharacter, FlightFollowsTheParabola) {
  const Flight coarse = fly(1e-3, 80), fine = fly(5e-4, 80);
  EXPECT_GT(coarse.height, 0.4);
  // Far within what is asked for, a thousandth of the height: momenta are kept by construction.
  for (const Flight& flight : {coarse, fine}) {
    EXPECT_LT(flight.drop, 1e-9 * flight.height);
    EXPECT_LT(flight.aside, 1e-9 * flight.height);
    EXPECT_LT(flight.turning, 1e-9 * flight.momentum);
  }
  // However fast the joints are.
  const Flight wild = fly(1e-3, 2000);
  EXPECT_LT(wild.drop, 1e-9 * wild.height);
  EXPECT_LT(wild.turning, 1e-9 * wild.momentum);
}

// A soft bar between two bones that are held keeps what a dense sum of its forces says.
TEST(TetFlesh, DampersLeaveRigidMotionsAlone) {
  const Bar bar = soft_bar(JointType::fixed, JointType::fixed);
  TetCharacter body(ArticulatedBody(bar.bones), bar.flesh, {}, TetPrecision::twice, "test");
  const Vec3d spin(1, -2, 0.5), speed(0.3, 0.2, 0.1);
  body.update();
  for (size_t n = 0; n < body.flesh.positions.size(); ++n)
    body.flesh.velocities[n] =
        speed + spin.cross(body.flesh.positions[n] - body.dynamics().motions()[0].position);
  body.joints.v.head<3>() = spin;
  body.joints.v.segment<3>(3) = speed;
  body.update();
  std::fill(body.flesh.forces.begin(), body.flesh.forces.end(), Vec3d::Zero());
  std::vector<Wrench> wrenches(body.skeleton().size());
  body.flesh.add_damping(body.dynamics().motions(), {}, wrenches);
  for (const Vec3d& force : body.flesh.forces) EXPECT_LT(force.norm(), 1e-12);
  for (const Wrench& wrench : wrenches)
    EXPECT_LT(wrench.torque.norm() + wrench.force.norm(), 1e-12);
}

TEST(TetFlesh, LightNodesGetAFloorAndTheTotalStays) {
  const TetMesh mesh = box_of_tets(3, 2, 2, 0.1, 0.1);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> number(0, 1);
  std::vector<Eigen::Vector4d> shares;
  double total = 0;
  for (size_t e = 0; e < mesh.tets.size(); ++e) {
    Eigen::Vector4d share(number(random), number(random), number(random), number(random));
    share = share.array().pow(6).matrix() * 1e-4;  // matter in one corner, mostly
    shares.push_back(share);
    total += 800 * share.sum();
  }
  const std::vector<double> masses =
      lumped_masses(mesh, shares, std::vector<double>(shares.size(), 800), 0.5);
  double sum = 0;
  std::vector<double> even(masses.size(), 0);
  for (size_t e = 0; e < mesh.tets.size(); ++e)
    for (int c = 0; c < 4; ++c)
      even[static_cast<size_t>(mesh.tets[e][c])] += 800 * shares[e].sum() / 4;
  for (size_t n = 0; n < masses.size(); ++n) {
    sum += masses[n];
    EXPECT_GE(masses[n], 0.5 * even[n] * (1 - 1e-12));
  }
  EXPECT_NEAR(sum, total, 1e-12 * total);
}

// One mass on springs: the power method against the frequency of the stiffest mode of K.
TEST(TetFlesh, HighestFrequencyIsThatOfTheStiffnessMatrix) {
  TetFleshModel flesh;
  flesh.mesh = box_of_tets(2, 1, 1, 0.1, 0.1);
  std::vector<Eigen::Vector4d> shares;
  for (const Vec4i& tet : flesh.mesh.tets) {
    const double volume = six_volumes(flesh.mesh, tet) / 6;
    flesh.matter.volumes.push_back(volume);
    flesh.matter.materials.push_back(lame_moduli(1e4, 0.3));
    shares.push_back(Eigen::Vector4d::Constant(volume / 4));
  }
  flesh.masses = lumped_masses(flesh.mesh, shares, std::vector<double>(shares.size(), 1000));
  const size_t nodes = flesh.mesh.positions.size();
  flesh.bone_of_node.assign(nodes, -1);
  flesh.place_on_bone.assign(nodes, Vec3d::Zero());
  flesh.reference.assign(nodes, -1);
  TetFlesh body(flesh, TetPrecision::twice, "test");
  // The matrix by differences of forces.
  const auto size = static_cast<Eigen::Index>(3 * nodes);
  Eigen::MatrixXd matrix(size, size);
  for (Eigen::Index i = 0; i < size; ++i) {
    const auto n = static_cast<size_t>(i / 3);
    const double step = 1e-6;
    body.positions[n][i % 3] += step;
    body.find_elastic_forces();
    std::vector<Vec3d> up = body.forces;
    body.positions[n][i % 3] -= 2 * step;
    body.find_elastic_forces();
    body.positions[n][i % 3] += step;
    for (Eigen::Index j = 0; j < size; ++j) {
      const auto m = static_cast<size_t>(j / 3);
      matrix(j, i) = -(up[m][j % 3] - body.forces[m][j % 3]) / (2 * step) /
                     std::sqrt(flesh.masses[m] * flesh.masses[n]);
    }
  }
  const double expected =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>((matrix + matrix.transpose()) / 2)
          .eigenvalues()[size - 1];
  EXPECT_NEAR(body.highest_frequency(200), expected, 0.01 * expected);
}

// Explicit steps as long as the estimate says are stable, and longer ones are not.
TEST(TetFlesh, StepsAreStableUpToTheEstimate) {
  Bar bar = soft_bar(JointType::fixed, JointType::fixed);
  bar.flesh.damping = 0;
  for (const double factor : {0.9, 1.15}) {
    TetFlesh body(bar.flesh, TetPrecision::twice, "test");
    std::vector<BoneMotion> bones(3);
    const Vec3d origins[] = {{0, 0.05, 0.05}, {0.15, 0.05, 0.05}, {0.3, 0.05, 0.05}};
    for (size_t b = 0; b < 3; ++b) bones[b].position = origins[b];
    const double h = factor * 2 / std::sqrt(body.highest_frequency(300));
    std::mt19937 random(1);
    std::normal_distribution<double> number(0, 1e-6);
    for (size_t n = 0; n < body.positions.size(); ++n)
      body.velocities[n] = Vec3d(number(random), number(random), number(random));
    double most = 0;
    for (int step = 0; step < 400; ++step) {
      body.place_fixed(bones);
      body.find_elastic_forces();
      body.integrate(h, Vec3d::Zero());
      for (const Vec3d& v : body.velocities) most = std::max(most, v.norm());
    }
    if (factor < 1) {
      EXPECT_LT(most, 1e-4);
    } else {
      EXPECT_GT(most, 1e-2);
    }
  }
}

// [Kim 2011, section 4.3]: elements that are filled in part, with their stiffness scaled alike,
// need no shorter steps than full ones.
TEST(TetFlesh, PartlyFilledCagesKeepTheirStep) {
  const TriangleMesh skin = sphere_surface(0.5, 0.06);
  for (const int elements : {150, 600}) {
    TetCageOptions options;
    options.elements = elements;
    TetFleshModel model;
    model.mesh = make_tet_cage(skin, {}, options).mesh;
    const TetFilling filling = fill_tets(model.mesh, skin);
    double steps[2];
    for (const bool full : {false, true}) {
      TetFleshModel flesh = model;
      std::vector<Eigen::Vector4d> shares = filling.shares;
      for (size_t e = 0; e < flesh.mesh.tets.size(); ++e) {
        const double volume = six_volumes(flesh.mesh, flesh.mesh.tets[e]) / 6;
        if (full) shares[e].setConstant(volume / 4);
        flesh.matter.volumes.push_back(full ? volume : std::max(filling.filled[e], 0.01) * volume);
        if (shares[e].sum() < 0.01 * volume) shares[e].setConstant(0.01 * volume / 4);
        flesh.matter.materials.push_back(lame_moduli(2e4, 0.3));
      }
      flesh.masses = lumped_masses(flesh.mesh, shares, std::vector<double>(shares.size(), 1000));
      const size_t nodes = flesh.mesh.positions.size();
      flesh.bone_of_node.assign(nodes, -1);
      flesh.place_on_bone.assign(nodes, Vec3d::Zero());
      flesh.reference.assign(nodes, -1);
      if (!full) {
        EXPECT_NEAR(flesh.mass(), 1000 * 4.18879 * 0.125, 0.01 * 1000 * 4.18879 * 0.125);
      }
      TetFlesh body(flesh, TetPrecision::twice, "test");
      steps[full ? 1 : 0] = 2 / std::sqrt(body.highest_frequency(300));
    }
    EXPECT_GT(steps[0], steps[1] / 2) << elements;
    RecordProperty("step_" + std::to_string(elements), std::to_string(steps[0] / steps[1]));
  }
}

// A bar dropped on the ground comes to rest on it, carried by its contacts, and stays where it is
// on a slope that friction can hold; without friction it slides off.
TEST(SkinContact, GroundCarriesAndFrictionHolds) {
  for (const double friction : {0.8, 0.0}) {
    const Bar bar = soft_bar(JointType::fixed, JointType::fixed);
    SkinContactModel contact;
    for (size_t n = 0; n < bar.flesh.mesh.positions.size(); ++n) {
      TetTie tie;
      tie.nodes = {static_cast<int32_t>(n), static_cast<int32_t>(n), static_cast<int32_t>(n),
                   static_cast<int32_t>(n)};
      tie.weights = {1, 0, 0, 0};
      contact.ties.push_back(tie);
      contact.stiffness.push_back(400);
    }
    TetCharacter body(ArticulatedBody(bar.bones), bar.flesh, contact, TetPrecision::twice, "test");
    const double slope = 20 * std::numbers::pi / 180;
    const Vec3d up(std::sin(slope), std::cos(slope), 0);
    const Collider ground(PlaneShape{Vec3d::UnitY(), -0.02}, {.friction = friction});
    const Collider* colliders[] = {&ground};
    JointOrders orders;
    orders.prescribed.assign(3, 0);
    orders.accelerations.setZero(6);
    orders.torques.setZero(6);
    const double h = std::min(5e-4, body.stable_step(50, 0.6));
    Vec3d early = Vec3d::Zero();
    const int steps = static_cast<int>(6 / h);
    for (int step = 0; step < steps; ++step) {
      body.update();
      body.find_forces(colliders, h);
      body.advance(orders, -9.81 * up, h);
      if (step == steps * 2 / 3) early = body.centre_of_mass();
    }
    body.update();
    const Vec3d moved = body.centre_of_mass() - early;
    EXPECT_GT(body.contact.touching(), 0u);
    EXPECT_GT(body.centre_of_mass()[1], 0);
    if (friction > 0) {
      EXPECT_LT(moved.norm(), 2e-3);
    } else {
      EXPECT_GT(moved.norm(), 0.5);
    }
    // At rest the contacts carry the weight.
    if (friction > 0) {
      Vec3d carried = Vec3d::Zero();
      body.find_forces(colliders, h);
      for (const Vec3d& force : body.flesh.forces) carried += force;
      EXPECT_NEAR(carried[1], 9.81 * std::cos(slope) * body.mass(), 0.1 * 9.81 * body.mass());
    }
  }
}

// A free box pushed by the ground alone comes to rest flat on it; momentum passes on in collisions.
TEST(RigidBody, FallsAndComesToRest) {
  TriangleMesh box;
  for (int i = 0; i < 8; ++i)
    box.positions.emplace_back(i & 1 ? 0.1f : -0.1f, i & 2 ? 0.05f : -0.05f, i & 4 ? 0.1f : -0.1f);
  box.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                   {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  RigidBodyModel model = solid_body(box, 500, "test");
  EXPECT_NEAR(model.mass, 500 * 0.2 * 0.1 * 0.2, 1e-6);
  EXPECT_LT(model.centre.norm(), 1e-9);
  EXPECT_NEAR(model.inertia(0, 0), model.mass * (0.1 * 0.1 + 0.2 * 0.2) / 12, 1e-6);
  for (const Vec3f& p : box.positions) model.points.push_back(p.cast<double>());
  model.stiffness = 2000;
  RigidBody body(model);
  body.position = {0, 0.3, 0};
  body.orientation = Quatd(Eigen::AngleAxisd(0.4, Vec3d(1, 0.2, 0.3).normalized()));
  const Collider ground(PlaneShape{}, {.friction = 0.5});
  const Collider* colliders[] = {&ground};
  for (int step = 0; step < 5000; ++step)
    body.integrate(1e-3, body.contacts(colliders), Vec3d(0, -9.81, 0));
  EXPECT_NEAR(body.position[1], 0.05, 0.005);
  EXPECT_LT(body.velocity.norm() + body.spin.norm(), 1e-3);
}

// Without torques a body keeps its angular momentum, however it tumbles.
TEST(RigidBody, KeepsItsAngularMomentum) {
  RigidBodyModel model;
  model.inertia = Vec3d(1, 2, 3).asDiagonal();
  RigidBody body(model);
  body.spin = {0.3, 2, 0.4};
  const Vec3d before = model.inertia * body.spin;
  const double energy = body.spin.dot(before);
  for (int step = 0; step < 5000; ++step) body.integrate(1e-3, Wrench(), Vec3d::Zero());
  const Mat3d r = body.orientation.toRotationMatrix();
  const Vec3d after = r * model.inertia * r.transpose() * body.spin;
  EXPECT_LT((after - before).norm(), 1e-9 * before.norm());
  EXPECT_NEAR(body.spin.dot(after), energy, 0.01 * energy);
}

TEST(TetCharacter, SameBitsForAnyNumberOfThreads) {
  std::vector<Vec3d> expected;
  for (const int threads : {1, 2, 8}) {
    set_thread_count(threads);
    const Bar bar = soft_bar();
    TetCharacter body(ArticulatedBody(bar.bones), bar.flesh, {}, TetPrecision::single, "test");
    JointOrders orders;
    for (int step = 0; step < 200; ++step) {
      body.update();
      body.find_forces({}, 5e-4);
      wriggle(body, step * 5e-4, orders);
      body.advance(orders, Vec3d(0, -9.81, 0), 5e-4);
    }
    if (expected.empty()) expected = body.flesh.positions;
    EXPECT_EQ(body.flesh.positions, expected) << threads;
  }
  set_thread_count(0);
}

}  // namespace
}  // namespace supple
