// Dials: modes against a dense solver, measuring swings, and bars that do as they are told.
#include "supple/adjust/dials.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include <cmath>
#include <numbers>

#include "adjust/tet_bars.h"
#include "supple/adjust/modes.h"
#include "supple/adjust/swing_record.h"
#include "supple/core/error.h"

namespace supple {
namespace {

TEST(Modes, AgreeWithADenseSolver) {
  for (const int tall : {2, 3, 6}) {
    TetSystem system(bar_model(Law::stvk, 0, tall), "test");
    Eigen::SparseMatrix<double> k, m;
    system.matrices_at_rest(k, m);
    const Modes modes = lowest_modes(k, m, 5);
    const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> dense{Eigen::MatrixXd(k),
                                                                          Eigen::MatrixXd(m)};
    ASSERT_EQ(modes.omegas.size(), 5U);
    for (int i = 0; i < 5; ++i) {
      const double truth = std::sqrt(dense.eigenvalues()[i]);
      EXPECT_NEAR(modes.omegas[static_cast<size_t>(i)], truth, 1e-6 * truth);
      const Eigen::VectorXd shape = modes.shapes.col(i);
      EXPECT_NEAR(shape.dot(m * shape), 1, 1e-9);
      EXPECT_LT((k * shape - truth * truth * (m * shape)).norm(), 1e-5 * (k * shape).norm());
    }
  }
}

TEST(Modes, OfALooseBodyAreZero) {
  TetSystemModel model = bar_model(Law::stvk, 0, 4);
  model.held.clear();
  TetSystem system(model, "test");
  Eigen::SparseMatrix<double> k, m;
  system.matrices_at_rest(k, m);
  const Modes modes = lowest_modes(k, m, 7);
  ASSERT_EQ(modes.omegas.size(), 7U);
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(modes.omegas[i], 0);
  EXPECT_GT(modes.omegas[6], 1);
}

TEST(Swing, IsMeasuredAsItIs) {
  for (const double rest : {0.0, 0.3}) {
    std::vector<double> samples;
    const double h = 1.0 / 96, frequency = 2.3, half_life = 0.6;
    for (int i = 0; i < 300; ++i)
      samples.push_back(rest + std::exp2(-i * h / half_life) *
                                   std::sin(2 * std::numbers::pi * frequency * i * h + 0.4));
    const Swing swing = measure_swing(samples, h);
    EXPECT_NEAR(swing.frequency, frequency, 1e-3 * frequency);
    EXPECT_NEAR(swing.half_life, half_life, 3e-3 * half_life);
    EXPECT_NEAR(swing.rest, rest, 1e-3);
  }
  EXPECT_EQ(measure_swing(std::vector<double>(50, 0.0), 0.01).frequency, 0);
}

// The first swing of a nonlinear body is larger than those after it and to one side, and noise may
// cross its rest before: neither shifts where it comes to rest, nor how fast and how long it
// swings.
TEST(Swing, AViolentBeginningDoesNotCount) {
  const double h = 1.0 / 48, frequency = 1.5, half_life = 0.4;
  for (const double first : {1.0, 3.0, 6.0})
    for (const double rest : {0.0, 0.05}) {
      std::vector<double> samples{rest + 1e-4, rest - 1e-4};
      for (int i = 0; i < 200; ++i) {
        const double s = std::exp2(-i * h / half_life) *
                         std::sin(2 * std::numbers::pi * frequency * i * h + 0.4);
        const bool beginning = 2 * frequency * i * h + 0.4 / std::numbers::pi < 1;
        samples.push_back(rest + (beginning ? first : 1) * s);
      }
      const Swing swing = measure_swing(samples, h);
      EXPECT_NEAR(swing.frequency, frequency, 5e-3 * frequency) << first << " " << rest;
      EXPECT_NEAR(swing.half_life, half_life, 0.02 * half_life) << first << " " << rest;
      EXPECT_NEAR(swing.rest, rest, 1e-3) << first;
    }
}

TEST(Dials, RefuseWhatIsNotPossible) {
  DialBody body{.omega = 10, .stiffness_damping = 0.01, .sag = 0.1, .amplitude = 1, .step = 0.01};
  const auto why = [](const DialRatios& asked, const DialBody& of) -> std::string {
    try {
      find_factors(asked, of);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(why({}, body), "");
  EXPECT_EQ(why({.amplitude = 0}, body), "");
  EXPECT_NE(why({.frequency = 0}, body).find("frequency: a ratio of 0"), std::string::npos);
  EXPECT_NE(why({.frequency = -2}, body).find("greater than 0"), std::string::npos);
  EXPECT_NE(why({.half_life = 0}, body).find("half-life"), std::string::npos);
  DialBody still = body, loose = body, light = body;
  still.amplitude = 0;
  EXPECT_NE(why({.amplitude = 2}, still).find("does not move"), std::string::npos);
  EXPECT_EQ(why({.frequency = 2}, still), "");
  loose.omega = 0;
  EXPECT_NE(why({}, loose).find("nothing holds"), std::string::npos);
  light.sag = 0;
  EXPECT_NE(why({.sag = 2}, light).find("does not sag"), std::string::npos);
  // Backward Euler damps much by itself.
  DialBody euler = body;
  euler.method = Integrator::backward_euler;
  EXPECT_NE(why({.frequency = 2, .half_life = 4}, euler).find("substeps"), std::string::npos);
}

TEST(Dials, RatiosAreRead) {
  EXPECT_EQ(parse_ratio("0.5x", "--sag"), 0.5);
  EXPECT_EQ(parse_ratio("2", "--sag"), 2);
  EXPECT_EQ(parse_ratio("150%", "--sag"), 1.5);
  for (const char* bad : {"", "x", "2y", "nan", "1x2"})
    EXPECT_THROW(parse_ratio(bad, "--sag"), Error) << bad;
}

// Bars on a jerked base, measured on their trajectories: the dial that is turned moves as asked,
// the others stay.
struct Measured {
  Swing swing;
  double sag = 0, amplitude = 0;
};

Measured run(const TetSystemModel& from, const DialFactors& factors, Integrator method, double h) {
  TetSystemModel model = from;
  AdjustedOptions options;
  options.integrator = method;
  options.always_track = true;
  const auto jerk = [](const Vec3d& r, double t) -> Vec3d {
    return r + Vec3d(0.8 * std::min(t, 0.25), 0, 0);
  };
  Driven driven(model, factors.inertia, options, jerk, Vec3d(0, -6, -6) * factors.gravity);
  driven.body.set_factors(factors.stiffness, factors.damping);
  driven.body.start(driven.drive);
  Eigen::SparseMatrix<double> k, m;
  driven.body.system().matrices_at_rest(k, m);
  const Modes modes = lowest_modes(k, m, 2);
  TetVector shape = driven.body.system().expand(modes.shapes.col(0)),
            other = driven.body.system().expand(modes.shapes.col(1));
  std::vector<double> first, second;
  std::vector<TetVector> trajectory;
  const TetVector rest = driven.body.system().rest();
  Measured result;
  for (int s = 0; s < static_cast<int>(3.0 / h); ++s) {
    driven.step(h);
    result.amplitude +=
        h * mean_square(model.masses, driven.body.now.position, driven.body.equilibrium.position);
    if (driven.time <= 0.26) continue;
    TetVector q = driven.body.now.position - driven.body.equilibrium.position;
    for (size_t n = 0; n < model.masses.size(); ++n) q.node(n) *= model.masses[n];
    first.push_back(q.dot(shape));
    second.push_back(q.dot(other));
    TetVector u = driven.body.now.position - rest;
    for (size_t n = 0; n < model.masses.size(); ++n) u.node(n)[0] -= 0.2;
    trajectory.push_back(u);
  }
  const auto size = [](const std::vector<double>& of) {
    double sum = 0;
    for (const double v : of) sum += v * v;
    return sum;
  };
  result.swing = measure_swing(size(first) > size(second) ? first : second, h);
  const TetVector sagged =
      rest_of(std::span(trajectory).subspan(trajectory.size() / 2), h, result.swing);
  double mass = 0;
  for (size_t n = 0; n < model.masses.size(); ++n) {
    result.sag += model.masses[n] * sagged.node(n).squaredNorm();
    mass += model.masses[n];
  }
  result.sag = std::sqrt(result.sag / mass);
  result.amplitude = std::sqrt(result.amplitude);
  return result;
}

TEST(Dials, BarsDoAsTheyAreTold) {
  const TetSystemModel model = bar_model(Law::linear, 0.006, 8);
  const double h = 1.0 / 192;
  const Integrator method = Integrator::tr_bdf2;
  const Measured base = run(model, {}, method, h);
  TetSystem system(model, "test");
  Eigen::SparseMatrix<double> k, m;
  system.matrices_at_rest(k, m);
  DialBody body{.omega = lowest_modes(k, m, 1).omegas[0],
                .stiffness_damping = 0.006,
                .sag = base.sag,
                .amplitude = base.amplitude,
                .method = method,
                .step = h};
  EXPECT_NEAR(base.swing.frequency, body.omega / (2 * std::numbers::pi),
              0.01 * base.swing.frequency);
  for (const DialRatios asked : {DialRatios{.frequency = 0.5}, DialRatios{.amplitude = 1.5},
                                 DialRatios{.sag = 0.5}, DialRatios{.half_life = 2}}) {
    DialFactors factors = find_factors(asked, body);
    Measured out = run(model, factors, method, h);
    factors.inertia *= asked.amplitude * base.amplitude / out.amplitude;
    out = run(model, factors, method, h);
    EXPECT_NEAR(out.swing.frequency / base.swing.frequency, asked.frequency,
                0.02 * asked.frequency);
    EXPECT_NEAR(out.swing.half_life / base.swing.half_life, asked.half_life,
                0.02 * asked.half_life);
    EXPECT_NEAR(out.sag / base.sag, asked.sag, 0.02 * asked.sag);
    EXPECT_NEAR(out.amplitude / base.amplitude, asked.amplitude, 0.02 * asked.amplitude);
  }
}

}  // namespace
}  // namespace supple
