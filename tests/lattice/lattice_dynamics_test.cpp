// Lattices over time: derivatives of a stage's energy, its matrix, orders of accuracy, factors.
#include "supple/lattice/lattice_dynamics.h"

#include <gtest/gtest.h>

#include <random>

#include "support/lattice_bars.h"

namespace supple {
namespace {

static_assert(DynamicSystem<LatticeDynamics>);

BodyVector noise(const LatticeDynamics& system, double amount, unsigned seed, bool all = true) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> part(-amount, amount);
  BodyVector v = system.zero();
  for (size_t n = 0; n < system.nodes(); ++n)
    for (int c = 0; c < 3; ++c) {
      const double r = part(random);
      if (all || system.is_free(n)) v.node(n)[c] = r;
    }
  return v;
}

// A bar with all that may act on it, in a stage of a step.
LatticeDynamics busy_bar(bool volume) {
  LatticeDynamicsModel model = test::lattice_bar({3, 6, 2}, 0.05);
  for (size_t c = 0; c < model.stiffness_damping.size(); ++c)
    model.stiffness_damping[c] *= 1 + 0.1 * static_cast<double>(c % 5);
  model.mass_damping.assign(model.masses.size(), 2);
  model.pulls.assign(model.masses.size(), 30);
  model.springs.push_back({{1.3, 4.2, 0.7}, {40, 50, 60, 0, 0, 0}});
  model.contact_points = {{0.5, 5.5, 0.5}, {2.5, 3.5, 1.5}};
  model.keep_volume = volume;
  LatticeDynamics system(model, "test");
  system.set_factors(1.7, 0.6);
  const ActiveSpring contact{{system.first_contact() + 1, {100, 200, 50, 5, 0, 3}}, {0, 0.2, 0}};
  system.set_contacts(std::vector{contact});
  system.set_outer_forces(noise(system, 5, 1));
  const BodyVector start = system.rest() + noise(system, 0.01, 2);
  system.begin_step(start);
  system.set_stage(96, start + noise(system, 0.01, 3), start + noise(system, 0.01, 4));
  return system;
}

TEST(LatticeDynamics, ForcesAreDerivativesOfTheEnergy) {
  for (const bool volume : {false, true}) {
    LatticeDynamics system = busy_bar(volume);
    const BodyVector x = system.rest() + noise(system, 0.01, 5);
    BodyVector force = system.zero();
    EXPECT_NEAR(system.force(x, force), system.energy(x), 1e-12 * std::abs(system.energy(x)));
    for (unsigned seed = 0; seed < 4; ++seed) {
      const BodyVector d = noise(system, 1, 10 + seed, false);
      const auto energy = [&](double t) { return system.energy(BodyVector(x + t * d)); };
      constexpr double e = 1e-5;
      const double slope =
          (8 * (energy(e) - energy(-e)) - (energy(2 * e) - energy(-2 * e))) / (12 * e);
      EXPECT_NEAR(-force.dot(d), slope, 1e-6 * force.norm() * d.norm());
    }
    for (const int32_t n : system.model().held)
      EXPECT_TRUE(force.node(static_cast<size_t>(n)).isZero(0));
  }
}

// About where damping is known, the matrix is the derivative of the force.
TEST(LatticeDynamics, MatricesAreDerivativesOfForces) {
  LatticeDynamics system = busy_bar(false);
  const BodyVector x = system.rest();
  system.begin_step(x);
  system.linearise(x, Differential::exact);
  const BodyVector d = noise(system, 1, 20, false);
  BodyVector y = system.zero(), ahead = y, behind = y;
  system.product(d, y);
  system.force(BodyVector(x + 1e-6 * d), ahead);
  system.force(BodyVector(x - 1e-6 * d), behind);
  const BodyVector slope = (behind - ahead) / 2e-6;
  EXPECT_LT((y - slope).norm(), 2e-6 * slope.norm());
  // The solve is its inverse.
  BodyVector back = system.zero();
  LinearOptions tight;
  tight.limits = {1e-6, 100};
  system.solve(y, back, tight);
  EXPECT_LT((back - d).norm(), 1e-4 * d.norm());
}

TEST(LatticeDynamics, FactorsScaleStiffnessAndSprings) {
  LatticeDynamicsModel model = test::lattice_bar({2, 6, 2}, 0.05, 2e5, 0);
  model.pulls.assign(model.masses.size(), 30);
  model.springs.push_back({{1.3, 4.2, 0.7}, {40, 50, 60, 0, 0, 0}});
  LatticeDynamics plain(model, "test"), scaled(model, "test");
  scaled.set_factors(4, 1);
  const BodyVector x = plain.rest() + noise(plain, 0.01, 6);
  BodyVector a = plain.zero(), b = a;
  plain.force(x, a);
  scaled.force(x, b);
  EXPECT_LT((b - 4 * a).norm(), 1e-6 * b.norm());
  plain.linearise(x, Differential::projected);
  scaled.linearise(x, Differential::projected);
  const BodyVector d = noise(plain, 1, 7, false);
  plain.product(d, a);
  scaled.product(d, b);
  EXPECT_LT((b - 4 * a).norm(), 1e-6 * b.norm());
}

// Where a bar is that is pushed, after 60 ms.
BodyVector swung(Integrator method, double damping, int steps) {
  LatticeDynamicsModel model = test::lattice_bar({2, 8, 2}, 0.05, 2e5, damping);
  LatticeDynamics system(model, "test");
  ImplicitIntegrator<LatticeDynamics> integrator(system, method);
  const BodyVector zero = system.zero();
  Moving<BodyVector> now{system.rest(), zero, zero};
  for (size_t n = 0; n < system.nodes(); ++n) {
    const double up = std::max(0.0, now.position.node(n)[1] - 0.05);
    now.velocity.node(n) = Vec3d(3 * up * up, 0, up * up);
  }
  NewtonOptions<LinearOptions> options;
  options.tolerance = 1e-12;
  options.least_move = 1e-8;  // of which a linear solve leaves little
  options.linear.limits = {1e-4, 100};
  NothingOutside<BodyVector> nothing;
  for (int s = 0; s < steps; ++s) {
    const ImplicitReport report = integrator.step(system, now, 0.06 / steps, nothing, options);
    EXPECT_TRUE(report.converged);
  }
  return now.position;
}

// Damping is that of the beginning of a step, and so of first order where the stiffness changes;
// without it backward Euler needs many more steps until its error shrinks as it should.
TEST(LatticeDynamics, IntegratorsAreOfFirstAndSecondOrder) {
  for (const Integrator method : {Integrator::backward_euler, Integrator::tr_bdf2}) {
    const bool second = method == Integrator::tr_bdf2;
    const double damping = second ? 0 : 0.004;
    const int steps = second ? 20 : 60;
    const BodyVector truth = swung(Integrator::tr_bdf2, damping, 320);
    const double coarse = (swung(method, damping, steps) - truth).norm(),
                 fine = (swung(method, damping, 2 * steps) - truth).norm();
    EXPECT_NEAR(std::log2(coarse / fine), second ? 2 : 1, 0.25);
  }
}

}  // namespace
}  // namespace supple
