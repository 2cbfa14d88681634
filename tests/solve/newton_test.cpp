// Newton's method on small functions whose minima are known.
#include "supple/solve/newton.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include <functional>
#include <memory>

namespace supple {
namespace {

// A function of a few numbers as a system; linear solves are exact, projected ones clamp
// eigenvalues.
struct Function {
  using Positions = Eigen::VectorXd;
  using Step = Eigen::VectorXd;
  struct LinearOptions {};

  int size;
  std::function<double(const Eigen::VectorXd&)> value;
  std::function<Eigen::VectorXd(const Eigen::VectorXd&)> gradient;
  std::function<Eigen::MatrixXd(const Eigen::VectorXd&)> hessian;
  bool steps_anyway = false;  // by a quarter of the force, where curvature is negative
  double least_projected = 1e-6;
  Eigen::MatrixXd k = {};
  int energies = 0, forces = 0, exact = 0, projected = 0;

  Positions zero() const { return Eigen::VectorXd::Zero(size); }
  Step zero_step() const { return zero(); }
  double energy(const Positions& x) {
    ++energies;
    return value(x);
  }
  double force(const Positions& x, Positions& f) {
    ++forces;
    f = -gradient(x);
    return value(x);
  }
  void linearise(const Positions& x, Differential kind) {
    k = hessian(x);
    ++(kind == Differential::exact ? exact : projected);
    if (kind == Differential::exact) return;
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> s(k);
    k = s.eigenvectors() * s.eigenvalues().cwiseMax(least_projected).asDiagonal() *
        s.eigenvectors().transpose();
  }
  LinearReport solve(const Positions& f, Step& dx, const LinearOptions&) {
    LinearReport report;
    report.iterations = 3;
    report.products = 5;
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> s(k);
    if (s.eigenvalues().minCoeff() <= 0) {
      dx = steps_anyway ? Eigen::VectorXd(f / 4) : zero();
      report.iterations = steps_anyway ? 1 : 0;
      report.indefinite = true;
      return report;
    }
    dx = k.ldlt().solve(f);
    return report;
  }
  double largest(const Step& dx) const { return dx.cwiseAbs().maxCoeff(); }
  double slope(const Positions& f, const Step& dx) const { return f.dot(dx); }
  double norm(const Positions& f) const { return f.norm(); }
  void move(const Positions& x, double step, const Step& dx, Positions& to) const {
    to = x + step * dx;
  }
};

Function quadratic() {
  Eigen::MatrixXd k(2, 2);
  k << 3, 1, 1, 2;
  const Eigen::VectorXd b = Eigen::Vector2d(1, -4);
  return {.size = 2,
          .value = [=](const auto& x) { return 0.5 * x.dot(k * x) - b.dot(x); },
          .gradient = [=](const auto& x) { return Eigen::VectorXd(k * x - b); },
          .hessian = [=](const auto&) { return k; }};
}

// A curved valley with its minimum at (1, 1).
Function valley() {
  return {.size = 2,
          .value =
              [](const auto& x) {
                return std::pow(1 - x[0], 2) + 100 * std::pow(x[1] - x[0] * x[0], 2);
              },
          .gradient =
              [](const auto& x) {
                const double d = x[1] - x[0] * x[0];
                return Eigen::VectorXd(Eigen::Vector2d(-2 * (1 - x[0]) - 400 * x[0] * d, 200 * d));
              },
          .hessian =
              [](const auto& x) {
                Eigen::MatrixXd h(2, 2);
                h << 2 - 400 * (x[1] - 3 * x[0] * x[0]), -400 * x[0], -400 * x[0], 200;
                return h;
              }};
}

// A double well with minima at ±width and a maximum between them, where the curvature is -4.
Function wells(double width = 1) {
  const double w = width * width;
  return {
      .size = 1,
      .value = [=](const auto& x) { return std::pow(x[0] * x[0] - w, 2) / w; },
      .gradient =
          [=](const auto& x) {
            return Eigen::VectorXd(Eigen::VectorXd::Constant(1, 4 * x[0] * (x[0] * x[0] - w) / w));
          },
      .hessian =
          [=](const auto& x) {
            return Eigen::MatrixXd(Eigen::MatrixXd::Constant(1, 1, 12 * x[0] * x[0] / w - 4));
          }};
}

NewtonOptions<Function::LinearOptions> options(double tolerance, int iterations = 50,
                                               double least_force = 0) {
  NewtonOptions<Function::LinearOptions> result;
  result.tolerance = tolerance;
  result.iterations = iterations;
  result.least_force = least_force;
  return result;
}

NewtonReport run(Function& f, Eigen::VectorXd& x,
                 const NewtonOptions<Function::LinearOptions>& settings) {
  NewtonWork<Function> work(f);
  return solve_newton(f, x, work, settings);
}

TEST(Newton, OneStepSolvesAQuadratic) {
  Function f = quadratic();
  Eigen::VectorXd x = Eigen::Vector2d(10, -7);
  const NewtonReport report = run(f, x, options(1e-12));
  EXPECT_TRUE(report.converged);
  EXPECT_EQ(report.iterations, 1);
  EXPECT_EQ(report.linear_iterations, 3);
  EXPECT_EQ(report.products, 5);
  EXPECT_NEAR(x[0], 1.2, 1e-12);
  EXPECT_NEAR(x[1], -2.6, 1e-12);
}

TEST(Newton, FollowsACurvedValleyDownhill) {
  Function f = valley();
  Eigen::VectorXd x = Eigen::Vector2d(-1.2, 1);
  const double start = f.value(x);
  const NewtonReport report = run(f, x, options(1e-10, 100));
  EXPECT_TRUE(report.converged);
  EXPECT_LT((x - Eigen::Vector2d(1, 1)).norm(), 1e-8);
  EXPECT_LT(report.energy, start);
  EXPECT_NEAR(report.energy, f.value(x), 1e-15);
  EXPECT_GT(f.exact, 0);
  EXPECT_GT(f.projected, 0);
}

TEST(Newton, LeavesANegativeCurvatureForAMinimum) {
  for (const double start : {0.1, -0.3, 0.5, 3.0}) {
    Function f = wells();
    Eigen::VectorXd x = Eigen::VectorXd::Constant(1, start);
    const NewtonReport report = run(f, x, options(1e-9, 200));
    EXPECT_TRUE(report.converged) << start;
    EXPECT_NEAR(std::abs(x[0]), 1, 1e-6) << start;
  }
}

TEST(Newton, GoesFarWhereCurvatureIsNegative) {
  // Minima at ±100. Up to 58 curvature is negative, and a step by the force as it is here at most
  // doubles the way there: seven of them from 1 on.
  for (const double start : {1.0, -0.9, 40.0}) {
    Function f = wells(100);
    f.steps_anyway = true;
    Eigen::VectorXd x = Eigen::VectorXd::Constant(1, start);
    auto settings = options(1e-9);
    settings.exact_below = 1e3;
    const NewtonReport report = run(f, x, settings);
    EXPECT_TRUE(report.converged) << start;
    EXPECT_NEAR(std::abs(x[0]), 100, 1e-6) << start;
    EXPECT_EQ(report.indefinite, 1) << start;
    EXPECT_EQ(report.energy, f.value(x)) << start;
  }
}

TEST(Newton, GoesNoFurtherThanTheEnergyFalls) {
  Function f = wells(100);
  f.steps_anyway = true;
  Eigen::VectorXd x = Eigen::VectorXd::Constant(1, 40);
  auto settings = options(1e-9, 1);
  settings.exact_below = 1e3;
  // A quarter of the force is 33.6; twice as far the energy is lower, four times as far higher.
  const NewtonReport report = run(f, x, settings);
  EXPECT_NEAR(x[0], 40 + 2 * 33.6, 1e-9);
  EXPECT_NEAR(report.moved, 2 * 33.6, 1e-9);
  EXPECT_EQ(report.energy, f.value(x));
}

TEST(Newton, GoesFarAlongAProjectedStep) {
  // Where the solve finds nothing, the step of the projected stiffness is lengthened.
  Function f = wells(100);
  f.least_projected = 4;
  for (const bool exact : {true, false}) {
    Eigen::VectorXd x = Eigen::VectorXd::Constant(1, 1);
    auto settings = options(1e-9, 1);
    settings.exact_below = exact ? 1e3 : 0;
    const NewtonReport report = run(f, x, settings);
    EXPECT_EQ(report.indefinite, exact ? 1 : 0);
    EXPECT_NEAR(x[0], exact ? 65 : 2, 0.1);
  }
}

TEST(Newton, DoesNotLengthenStepsByRounding) {
  // The energy is known to its last digits only, and seems to fall the further the way.
  Function f = wells(100);
  f.steps_anyway = true;
  const auto value = f.value;
  f.value = [=](const auto& x) { return 1e12 * (1 - 1e-15 * std::abs(x[0])) + 1e-6 * value(x); };
  Eigen::VectorXd x = Eigen::VectorXd::Constant(1, 1);
  auto settings = options(1e-9, 1);
  settings.exact_below = 1e3;
  const NewtonReport report = run(f, x, settings);
  EXPECT_LT(std::abs(x[0]), 2.1);
  EXPECT_LT(report.moved, 1.1);
}

// A linearisation that serves on leads to the same place; far away it does not serve.
TEST(Newton, LinearisesLessOftenWhereThatIsEnough) {
  for (const Eigen::Vector2d& start : {Eigen::Vector2d(1.01, 1.01), Eigen::Vector2d(-1.2, 1)}) {
    Function often = valley(), seldom = valley();
    Eigen::VectorXd x = start, y = start;
    NewtonOptions<Function::LinearOptions> settings = options(1e-10, 100);
    run(often, x, settings);
    settings.reuse_below = 0.05;
    const NewtonReport report = run(seldom, y, settings);
    EXPECT_TRUE(report.converged);
    EXPECT_LT((y - Eigen::Vector2d(1, 1)).norm(), 1e-8);
    EXPECT_LT(seldom.exact + seldom.projected, report.iterations);
    EXPECT_LE(seldom.exact + seldom.projected, often.exact + often.projected);
  }
}

TEST(Newton, CountsAndStops) {
  Function f = valley();
  Eigen::VectorXd x = Eigen::Vector2d(-1.2, 1);
  const NewtonReport two = run(f, x, options(0, 2));
  EXPECT_EQ(two.iterations, 2);
  EXPECT_FALSE(two.converged);
  x = Eigen::Vector2d(-1.2, 1);
  auto budget = options(0);
  budget.products = 11;
  EXPECT_EQ(run(f, x, budget).iterations, 3);  // 5 each
  x = Eigen::Vector2d(-1.2, 1);
  const NewtonReport forced = run(f, x, options(0, 99, 1e-3));
  EXPECT_TRUE(forced.converged);
  EXPECT_LE(forced.force, 1e-3);
  EXPECT_GT(forced.residual, 0);
}

TEST(Newton, StopsByTheClockWhenAsked) {
  Function f = valley();
  Eigen::VectorXd x = Eigen::Vector2d(-1.2, 1);
  auto limited = options(0);
  limited.seconds = 0;
  const NewtonReport report = run(f, x, limited);
  EXPECT_EQ(report.iterations, 1);
  EXPECT_TRUE(report.out_of_time);
  EXPECT_FALSE(report.converged);
  x = Eigen::Vector2d(-1.2, 1);
  EXPECT_FALSE(run(f, x, options(1e-6)).out_of_time);
}

TEST(Newton, StallsWithoutMovingWhereNoStepLowersTheEnergy) {
  Function f = quadratic();
  // A gradient of the wrong sign: every direction leads uphill.
  const auto gradient = f.gradient;
  f.gradient = [gradient](const auto& x) { return Eigen::VectorXd(-gradient(x)); };
  Eigen::VectorXd x = Eigen::Vector2d(10, -7);
  const NewtonReport report = run(f, x, {});
  EXPECT_TRUE(report.stalled);
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(x, Eigen::VectorXd(Eigen::Vector2d(10, -7)));
}

// Energies are only known to some parts in 1e12, as sums over many cells are, and steps are by an
// approximate derivative: near the minimum only forces tell how far it is.
TEST(Newton, ConvergesWhereRoundingHidesTheEnergysFall) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Function f = quadratic();
    const auto value = f.value;
    f.value = [=](const Eigen::VectorXd& x) {
      // Scattered as rounding is: the same for the same place.
      const double scatter = std::sin(1e9 * (x[0] + 3 * x[1]) + seed);
      return value(x) + 50 * (1 + 2e-12 * scatter);
    };
    f.hessian = [](const auto&) {
      Eigen::MatrixXd k(2, 2);
      k << 3.3, 1, 1, 2.2;
      return k;
    };
    Eigen::VectorXd x = Eigen::Vector2d(5, -3);
    NewtonWork<Function> work(f);
    NewtonOptions<Function::LinearOptions> options;
    options.tolerance = 1e-9;
    const NewtonReport report = solve_newton(f, x, work, options);
    EXPECT_TRUE(report.converged) << seed << ": " << report.residual;
    EXPECT_LE(report.iterations, 15) << seed;
    EXPECT_LT(f.energies, 60) << seed;
  }
}

// Forces are rounded too: once they are at their last digits it ends, soon, and what is reported is
// of the place where it ends.
TEST(Newton, EndsSoonWhereForcesAreAtTheirLastDigits) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    Function f = quadratic();
    const auto value = f.value;
    const auto gradient = f.gradient;
    const auto scatter = [=](const Eigen::VectorXd& x, double k) {
      return std::sin(1e11 * (x[0] + k * x[1]) + seed);
    };
    f.value = [=](const Eigen::VectorXd& x) { return value(x) + 50 * (1 + 2e-12 * scatter(x, 3)); };
    f.gradient = [=](const Eigen::VectorXd& x) {
      return Eigen::VectorXd(gradient(x) + 1e-7 * Eigen::Vector2d(scatter(x, 5), scatter(x, 7)));
    };
    Eigen::VectorXd x = Eigen::Vector2d(5, -3);
    NewtonWork<Function> work(f);
    NewtonOptions<Function::LinearOptions> options;
    options.tolerance = 1e-12;
    const NewtonReport report = solve_newton(f, x, work, options);
    EXPECT_LT(report.residual, 1e-7) << seed;
    EXPECT_LT(f.energies + f.forces, 400) << seed;
    EXPECT_EQ(report.energy, f.value(x)) << seed;
    EXPECT_EQ(work.force, -f.gradient(x)) << seed;
    EXPECT_EQ(report.force, work.force.norm()) << seed;
  }
}

TEST(Newton, ShortensStepsByForcesWhereTheEnergyIsLevel) {
  // Rounding lets the energy rise a little at every look, and full steps overshoot.
  Function f = quadratic();
  const auto looks = std::make_shared<int>(0);
  f.value = [looks](const auto&) { return 50 + 1e-13 * ++*looks; };
  f.hessian = [](const auto&) { return Eigen::MatrixXd(Eigen::Vector2d(0.9, 0.6).asDiagonal()); };
  Eigen::VectorXd x = Eigen::Vector2d(5, -3);
  const NewtonReport report = run(f, x, options(1e-6));
  EXPECT_TRUE(report.converged) << report.residual;
  EXPECT_NEAR((x - Eigen::Vector2d(1.2, -2.6)).norm(), 0, 1e-4);
}

TEST(Newton, StallsWhereTheEnergyIsLevelAndForcesDoNotFall) {
  Function f = quadratic();
  const auto looks = std::make_shared<int>(0);
  f.value = [looks](const auto&) { return 50 + 1e-13 * ++*looks; };
  f.gradient = [](const auto&) { return Eigen::VectorXd(Eigen::Vector2d(3e-7, 4e-7)); };
  Eigen::VectorXd x = Eigen::Vector2d(10, -7);
  NewtonWork<Function> work(f);
  const NewtonReport report = solve_newton(f, x, work, {});
  EXPECT_TRUE(report.stalled);
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(x, Eigen::VectorXd(Eigen::Vector2d(10, -7)));
  EXPECT_EQ(work.force, -f.gradient(x));
  EXPECT_DOUBLE_EQ(report.force, 5e-7);
  EXPECT_LT(f.forces, 30);
}

TEST(Newton, StartThatIsNotFiniteIsReturned) {
  Function f = quadratic();
  Eigen::VectorXd x = Eigen::Vector2d(std::nan(""), 0);
  const NewtonReport report = run(f, x, {});
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(report.iterations, 0);
}

}  // namespace
}  // namespace supple
