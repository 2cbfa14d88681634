// Integrators on oscillators whose motion is known.
#include "supple/solve/implicit.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <cmath>
#include <numbers>

namespace supple {
namespace {

// Masses on springs between walls, the first of which moves; f(x) = -(k x + cubic x³).
struct Chain {
  using Positions = Eigen::VectorXd;
  using Step = Eigen::VectorXd;
  struct LinearOptions {};

  Eigen::MatrixXd k;
  Eigen::VectorXd m;
  double damping = 0, cubic = 0;  // of stiffness, s; N/m³
  double wall = 0;                // where number 0 is held; not a number for nowhere
  double rate = 0;
  Positions inertia_goal = {}, damping_goal = {};
  Eigen::MatrixXd matrix = {};

  bool holds() const { return std::isfinite(wall); }
  Positions zero() const { return Eigen::VectorXd::Zero(m.size()); }
  Step zero_step() const { return zero(); }
  double energy(const Positions& x) {
    Positions f;
    return force(x, f);
  }
  double force(const Positions& x, Positions& f) {
    f = -k * x - cubic * x.cwiseProduct(x).cwiseProduct(x);
    double e = 0.5 * x.dot(k * x) + 0.25 * cubic * x.array().pow(4).sum();
    if (rate > 0) {
      const Positions a = x - inertia_goal, b = x - damping_goal;
      f -= rate * rate * m.cwiseProduct(a) + rate * damping * (k * b);
      e += 0.5 * rate * rate * a.dot(m.cwiseProduct(a)) + 0.5 * rate * damping * b.dot(k * b);
    }
    if (holds()) f[0] = 0;
    return e;
  }
  void linearise(const Positions& x, Differential) {
    matrix = (1 + rate * damping) * k;
    matrix.diagonal() += 3 * cubic * x.cwiseProduct(x) + rate * rate * m;
    if (!holds()) return;
    matrix.row(0).setZero();
    matrix.col(0).setZero();
    matrix(0, 0) = 1;
  }
  LinearReport solve(const Positions& f, Step& dx, const LinearOptions&) {
    dx = matrix.ldlt().solve(f);
    LinearReport report;
    report.iterations = 1;
    return report;
  }
  double slope(const Positions& f, const Step& dx) const { return f.dot(dx); }
  double norm(const Positions& f) const { return f.norm(); }
  double largest(const Step& dx) const { return dx.cwiseAbs().maxCoeff(); }
  void move(const Positions& x, double s, const Step& dx, Positions& to) const { to = x + s * dx; }
  void begin_step(const Positions&) {}
  void set_stage(double r, const Positions& a, const Positions& b) {
    rate = r;
    inertia_goal = a;
    damping_goal = b;
  }
  void clear_stage() { rate = 0; }
  void project(Positions& x) const {
    if (holds()) x[0] = wall;
  }
  void combine(double a, const Positions& x, double b, const Positions& y, Positions& out) const {
    out = a * x + b * y;
  }
};
static_assert(DynamicSystem<Chain>);

const double none = std::numeric_limits<double>::quiet_NaN();

NewtonOptions<Chain::LinearOptions> exact() {
  NewtonOptions<Chain::LinearOptions> options;
  options.tolerance = 1e-12;
  options.least_force = 1e-6;
  return options;
}

Chain one_mass(double omega, double damping) {
  return {.k = Eigen::MatrixXd::Constant(1, 1, omega * omega),
          .m = Eigen::VectorXd::Ones(1),
          .damping = damping / (omega * omega),
          .wall = none};
}

// Position after one second, from 1 at rest.
double after_a_second(Integrator method, Chain chain, int steps) {
  Moving<Eigen::VectorXd> now{chain.zero(), chain.zero(), chain.zero()};
  now.position[0] = 1;
  Eigen::VectorXd f;
  chain.force(now.position, f);
  now.acceleration = f;
  ImplicitIntegrator<Chain> integrator(chain, method);
  NothingOutside<Eigen::VectorXd> nothing;
  for (int s = 0; s < steps; ++s)
    EXPECT_TRUE(integrator.step(chain, now, 1.0 / steps, nothing, exact()).converged);
  return now.position[0];
}

double order_of(Integrator method, const Chain& chain, double truth, int steps = 200) {
  const double coarse = std::abs(after_a_second(method, chain, steps) - truth);
  const double fine = std::abs(after_a_second(method, chain, 2 * steps) - truth);
  return std::log2(coarse / fine);
}

TEST(Implicit, OrdersAreOneAndTwoOnADampedOscillator) {
  const double omega = 7, damping = 1.2, swing = std::sqrt(omega * omega - damping * damping / 4);
  const double truth =
      std::exp(-damping / 2) * (std::cos(swing) + damping / (2 * swing) * std::sin(swing));
  const Chain chain = one_mass(omega, damping);
  EXPECT_NEAR(order_of(Integrator::backward_euler, chain, truth), 1, 0.1);
  EXPECT_NEAR(order_of(Integrator::tr_bdf2, chain, truth), 2, 0.05);
}

TEST(Implicit, OrdersHoldForAStiffeningSpring) {
  Chain chain = one_mass(5, 0.5);
  chain.cubic = 40;
  const double truth = after_a_second(Integrator::tr_bdf2, chain, 12800);
  EXPECT_NEAR(order_of(Integrator::backward_euler, chain, truth, 1600), 1, 0.15);
  EXPECT_NEAR(order_of(Integrator::tr_bdf2, chain, truth), 2, 0.1);
}

// A wall that moves as sin: the mass on it answers as the equation of forced motion says.
struct MovingWall {
  Chain& chain;
  double time = 0, h = 0;
  void begin(double part) { chain.wall = std::sin(3 * (time + part * h)); }
  bool refresh(const StageStart<Eigen::VectorXd>&, const Eigen::VectorXd&, Eigen::VectorXd&) {
    return false;
  }
};

TEST(Implicit, FollowsAWallThatMoves) {
  Chain chain;
  chain.k = 25 * Eigen::MatrixXd::Identity(2, 2);
  chain.k(0, 1) = chain.k(1, 0) = -25;
  chain.m = Eigen::Vector2d(3, 1);
  double errors[2];
  for (int fine = 0; fine < 2; ++fine) {
    const int steps = fine ? 400 : 200;
    Moving<Eigen::VectorXd> now{chain.zero(), chain.zero(), chain.zero()};
    now.velocity[0] = 3;
    ImplicitIntegrator<Chain> integrator(chain, Integrator::tr_bdf2);
    MovingWall wall{chain, 0, 1.0 / steps};
    for (int s = 0; s < steps; ++s, wall.time += wall.h)
      EXPECT_TRUE(integrator.step(chain, now, wall.h, wall, exact()).converged);
    EXPECT_EQ(now.position[0], chain.wall);  // exactly where it is held
    // x'' = 25 (sin 3t - x), x(0) = x'(0) = 0.
    const double truth = 25.0 / 16 * (std::sin(3.0) - 3.0 / 5 * std::sin(5.0));
    errors[fine] = std::abs(now.position[1] - truth);
  }
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2, 0.1);
}

// The velocity that damping is relative to: a mass in honey that flows goes along with it.
struct Flow {
  double speed;
  bool refresh(const StageStart<Eigen::VectorXd>&, const Eigen::VectorXd&, Eigen::VectorXd& to) {
    const bool news = to[0] != speed;
    to[0] = speed;
    return news;
  }
  void begin(double) {}
};

TEST(Implicit, DampingIsRelativeToTheReference) {
  Chain chain{.k = Eigen::MatrixXd::Constant(1, 1, 1e-6),
              .m = Eigen::VectorXd::Ones(1),
              .damping = 1e8,  // 100 N s/m
              .wall = none};
  Moving<Eigen::VectorXd> now{chain.zero(), chain.zero(), chain.zero()};
  ImplicitIntegrator<Chain> integrator(chain, Integrator::backward_euler);
  Flow flow{2.5};
  for (int s = 0; s < 100; ++s) integrator.step(chain, now, 0.01, flow, exact());
  EXPECT_NEAR(now.velocity[0], 2.5, 1e-6);
}

TEST(Implicit, DiscreteOscillatorIsWhatStepsDo) {
  for (const Integrator method : {Integrator::backward_euler, Integrator::tr_bdf2}) {
    const double omega = 11, damping = 0.8, h = 1.0 / 96;
    Chain chain = one_mass(omega, damping);
    Moving<Eigen::VectorXd> now{chain.zero(), chain.zero(), chain.zero()};
    now.position[0] = 1;
    now.acceleration[0] = -omega * omega;
    ImplicitIntegrator<Chain> integrator(chain, method);
    NothingOutside<Eigen::VectorXd> nothing;
    // Zero crossings and the fall of the energy over whole periods.
    double last = 1, first_zero = -1, last_zero = -1, first_size = 0, last_size = 0;
    int crossings = 0;
    for (int s = 1; s <= 400; ++s) {
      integrator.step(chain, now, h, nothing, exact());
      const double x = now.position[0], v = now.velocity[0];
      if (last * x < 0) {
        const double at = (s - 1 + last / (last - x)) * h;
        const double size = std::abs(v);
        if (first_zero < 0) {
          first_zero = at;
          first_size = size;
        } else {
          ++crossings;
        }
        last_zero = at;
        last_size = size;
      }
      last = x;
    }
    const DiscreteOscillator said = discrete_oscillator(method, omega, damping, h);
    EXPECT_NEAR(crossings / (2 * (last_zero - first_zero)), said.frequency, 2e-3 * said.frequency);
    const double decay = std::log(first_size / last_size) / (last_zero - first_zero);
    EXPECT_NEAR(decay, said.decay, 0.05 * said.decay);
  }
  // With short steps it is the oscillator itself.
  const DiscreteOscillator fine = discrete_oscillator(Integrator::tr_bdf2, 10, 1, 1e-4);
  EXPECT_NEAR(fine.decay, 0.5, 1e-6);
  EXPECT_NEAR(fine.frequency, std::sqrt(100 - 0.25) / (2 * std::numbers::pi), 1e-5);
}

}  // namespace
}  // namespace supple
