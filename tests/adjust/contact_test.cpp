// Contact in implicit steps: what weight presses in, what friction holds, what energy does, and
// what adjusting dynamics leaves as it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "adjust/tet_fork.h"
#include "supple/core/parallel.h"

namespace supple {
namespace {

using test::Fork;

constexpr double gravity = 9.81;

// A block on the plane y = 0, 0.2 x 0.1 x 0.2 m.
struct Block {
  explicit Block(double friction, Integrator method = Integrator::tr_bdf2, double damping = 0.004)
      : floor(PlaneShape{}, {.friction = friction}) {
    TetSystemModel model;
    model.mesh = box_of_tets(4, 2, 4, 0.05, 0);
    model.matter.law = Law::neo_hookean;
    model.masses.assign(model.mesh.positions.size(), 0);
    for (const Vec4i& tet : model.mesh.tets) {
      const double volume = six_volumes(model.mesh, tet) / 6;
      model.matter.volumes.push_back(volume);
      model.matter.materials.push_back(lame_moduli(1e5, 0.3));
      for (int c = 0; c < 4; ++c) model.masses[static_cast<size_t>(tet[c])] += 1000 * volume / 4;
    }
    if (damping > 0) model.stiffness_damping.assign(model.mesh.tets.size(), damping);
    ImplicitContactModel touch;
    for (size_t n = 0; n < model.masses.size(); ++n) {
      const Vec3d& at = model.mesh.positions[n];
      if (at.y() > 1e-9) continue;
      const auto node = static_cast<int32_t>(n);
      touch.ties.push_back({{node, node, node, node}, {1, 0, 0, 0}});
      const auto share = [](double c) { return c < 1e-9 || c > 0.2 - 1e-9 ? 0.5 : 1.0; };
      touch.stiffness.push_back(pressure * 0.0025 * share(at.x()) * share(at.z()));
    }
    touch.cap = 0.02;
    touch.masses = model.masses;
    stiffness = touch.stiffness;
    contact = std::make_unique<ImplicitContact>(touch, nullptr);
    for (const double m : model.masses) mass += m;
    AdjustedOptions options;
    options.integrator = method;
    body = std::make_unique<AdjustedTets>(model, std::vector<double>(model.masses.size(), 1),
                                          options, "test");
    drive.places = [](double, std::vector<Vec3d>& held, std::vector<Vec3d>& pulled) {
      held.clear();
      pulled.clear();
    };
    touch_by(*contact, body->system());
    drive.contact = contact_drive(
        *contact, [this](double) { return std::span<const Collider* const>(&only, 1); });
    set_gravity({0, -gravity, 0});
  }

  void set_gravity(const Vec3d& g) {
    weight = g;
    drive.forces = body->system().zero();
    for (size_t n = 0; n < body->system().nodes(); ++n)
      drive.forces.node(n) = body->system().model().masses[n] * g;
  }

  void shift(const Vec3d& by) {
    for (size_t n = 0; n < body->system().nodes(); ++n) body->now.position.node(n) += by;
  }

  Vec3d centre() const {
    Vec3d sum = Vec3d::Zero();
    for (size_t n = 0; n < body->system().nodes(); ++n)
      sum += body->system().model().masses[n] / mass * body->now.position.node(n);
    return sum;
  }

  // Of motion, elasticity, weight and contact, J.
  double energy() {
    double sum = 0;
    TetSystem& system = body->system();
    for (size_t n = 0; n < system.nodes(); ++n)
      sum += 0.5 * system.model().masses[n] * body->now.velocity.node(n).squaredNorm();
    system.set_contact(nullptr);
    system.set_outer_forces(drive.forces);
    for (size_t p = 0; p < stiffness.size(); ++p)
      sum += 0.5 * stiffness[p] * std::pow(static_cast<double>(contact->depths()[p]), 2);
    sum += system.energy(body->now.position);
    touch_by(*contact, system);
    return sum;
  }

  static constexpr double pressure = 2e7;  // over depth, Pa/m
  Collider floor;
  const Collider* only = &floor;
  std::vector<double> stiffness;  // of points, N/m
  std::unique_ptr<ImplicitContact> contact;
  std::unique_ptr<AdjustedTets> body;
  AdjustedDrive drive;
  Vec3d weight;
  double mass = 0;
};

TEST(ImplicitContact, WeightPressesInAsFarAsItMust) {
  for (const Integrator method : {Integrator::tr_bdf2, Integrator::backward_euler}) {
    Block block(0.3, method, 0.02);
    for (int s = 0; s < 300; ++s) block.body->step(block.drive, 0.01);
    // Pressure over stiffness: 0.1 m of water presses 981 Pa.
    const double expected = 1000 * gravity * 0.1 / Block::pressure;
    double force = 0, deepest = 0;
    for (const float depth : block.contact->depths())
      deepest = std::max(deepest, static_cast<double>(depth));
    for (const ContactTerm& term : block.contact->terms().terms)
      force += block.contact->terms().push(term, term.gap(block.body->now.position));
    EXPECT_NEAR(force, block.mass * gravity, 2e-3 * block.mass * gravity);
    EXPECT_NEAR(deepest, expected, 0.5 * expected);
    EXPECT_LT(block.body->now.velocity.norm(), 1e-4);
  }
}

TEST(ImplicitContact, SlopesHoldUpToTheAngleOfFriction) {
  constexpr double friction = 0.5, seconds = 0.6;
  for (const double degrees : {20.0, 35.0}) {
    Block block(friction);
    const double angle = degrees * std::numbers::pi / 180;
    block.set_gravity({gravity * std::sin(angle), -gravity * std::cos(angle), 0});
    block.shift({0, -1000 * gravity * std::cos(angle) * 0.1 / Block::pressure, 0});
    const double before = block.centre().x();
    constexpr int steps = 60;
    double half_way = 0;
    for (int s = 0; s < steps; ++s) {
      block.body->step(block.drive, seconds / steps);
      if (s == steps / 2) half_way = block.centre().x();
    }
    const double slip = gravity * (std::sin(angle) - friction * std::cos(angle));
    if (slip > 0) {
      const double way = slip * seconds * seconds / 2;
      EXPECT_NEAR(block.centre().x() - before, way, 0.03 * way);
    } else {
      EXPECT_LT(block.centre().x() - before, 2e-3);
      EXPECT_LT(std::abs(block.centre().x() - half_way), 1e-4);
    }
  }
}

TEST(ImplicitContact, DroppedBlocksGainNoEnergy) {
  for (const Integrator method : {Integrator::tr_bdf2, Integrator::backward_euler}) {
    Block block(0.3, method, 0);
    block.shift({0, 0.05, 0});
    const double floor_energy = -block.mass * gravity * 0.05;
    const double scale = block.mass * gravity * 0.05;
    double highest = block.energy();
    for (int s = 0; s < 200; ++s) {
      block.body->step(block.drive, 0.005);
      const double now = block.energy();
      EXPECT_LT(now, highest + 0.01 * scale) << "step " << s;
      highest = std::min(highest, now);
      for (const float depth : block.contact->depths()) EXPECT_LT(depth, 5e-3f);
    }
    EXPECT_GT(block.energy(), floor_energy - 10 * scale);
  }
}

// Arms that are pressed together by forces: they touch, and neither enters the other.
TEST(ImplicitContact, ArmsOfOneBodyTouch) {
  Fork fork(1);
  fork.press(15);
  for (int s = 0; s < 60; ++s) fork.step(0.01);
  const Fork::Distance distance = fork.distance();
  EXPECT_LT(distance.deepest, 0.01 * Fork::edge);
  EXPECT_LT(distance.nearest, 1e-9);
  EXPECT_GT(distance.deepest, 0);
  // Forces within the body add up to nothing.
  TetVector force = fork.body->system().zero();
  fork.contact->terms().add_forces(fork.body->now.position, force);
  Vec3d sum = Vec3d::Zero();
  for (size_t n = 0; n < fork.body->system().nodes(); ++n) sum += force.node(n);
  EXPECT_GT(force.norm(), 1);
  EXPECT_LT(sum.norm(), 1e-9 * force.norm());
  // Without contact they pass through each other.
  Fork alone(1);
  alone.drive.contact = {};
  alone.press(15);
  for (int s = 0; s < 60; ++s) alone.step(0.01);
  EXPECT_GT(alone.distance().deepest, 0.2 * Fork::edge);
}

// An arm that has got past the middle of the other within a step leaves it on the side it came
// from, though the other side is nearer.
TEST(ImplicitContact, FastPointsLeaveWhereTheyCameIn) {
  const Fork fork(1);
  TetSelfCollision self({fork.mesh, *fork.skin, fork.ties, fork.places, Fork::edge},
                        choose_contact_points(*fork.skin));
  const TetVector before = fork.body->system().rest();
  TetVector x = before;
  for (size_t n = 0; n < fork.mesh.positions.size(); ++n)
    if (fork.mesh.positions[n].x() < 0.125 && fork.mesh.positions[n].y() > 0.14)
      x.node(n) += Vec3d(0.12, -0.03, 0.001);
  std::vector<TetSelfContact> contacts;
  self.find(x, before, contacts);
  size_t checked = 0;
  for (const TetSelfContact& contact : contacts) {
    const Vec3d& rest = self.points()[static_cast<size_t>(contact.point)].rest;
    if (rest.y() < 0.25 || rest.x() > 0.125) continue;
    ++checked;
    EXPECT_LT(contact.normal.x(), -0.9) << rest.transpose();
  }
  EXPECT_GT(checked, 20u);
  // Slowly, there is no telling: those that look up leave by the nearer side.
  self.find(x, x, contacts);
  EXPECT_TRUE(std::any_of(contacts.begin(), contacts.end(), [&](const TetSelfContact& contact) {
    return self.points()[static_cast<size_t>(contact.point)].rest.x() < 0.125 &&
           contact.normal.x() > 0.9;
  }));
}

// Under adjusted dynamics, arms that clap neither enter each other further nor stay further apart:
// all keep to a hundredth of an edge, and those that clap more softly to what the plain ones do.
TEST(ImplicitContact, AdjustedArmsTouchAsOthersDo) {
  const auto clap = [](double epsilon) {
    Fork fork(epsilon);
    Fork::Distance worst;
    for (int s = 0; s < 80; ++s) {
      // Equilibria, which know of no contact, must move smoothly.
      fork.press(4 * (1 - std::cos(std::numbers::pi * std::min(1.0, s / 40.0))));
      fork.shake(s < 60 ? 0.02 * std::sin(2 * std::numbers::pi * s * 0.04) : 0);
      fork.step(0.01);
      const Fork::Distance now = fork.distance();
      worst.deepest = std::max(worst.deepest, now.deepest);
      worst.pushed_gap = std::max(worst.pushed_gap, now.pushed_gap);
    }
    return worst;
  };
  const Fork::Distance plain = clap(1);
  EXPECT_GT(plain.deepest, 0);
  EXPECT_LT(plain.deepest, 0.01 * Fork::edge);
  EXPECT_LT(plain.pushed_gap, 0.002 * Fork::edge);
  for (const double epsilon : {0.3, 0.6}) {
    const Fork::Distance adjusted = clap(epsilon);
    EXPECT_GT(adjusted.deepest, 0) << epsilon;
    EXPECT_LT(adjusted.deepest, plain.deepest + 0.001 * Fork::edge) << epsilon;
    EXPECT_LT(adjusted.pushed_gap, plain.pushed_gap + 0.001 * Fork::edge) << epsilon;
  }
}

TEST(ImplicitContact, InertiaOfOneAndThreadsChangeNothing) {
  const auto run = [](bool tracks) {
    Fork fork(1, tracks);
    fork.press(10);
    for (int s = 0; s < 30; ++s) {
      fork.shake(0.02 * std::sin(0.4 * s));
      fork.step(0.01);
    }
    return fork.body->now.position;
  };
  const TetVector plain = run(false);
  EXPECT_EQ(run(true), plain);
  for (const int threads : {1, 2, 8}) {
    set_thread_count(threads);
    EXPECT_EQ(run(false), plain) << threads;
  }
  set_thread_count(0);
}

}  // namespace
}  // namespace supple
