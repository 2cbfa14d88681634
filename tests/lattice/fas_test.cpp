// The nonlinear V-cycle finds the equilibria Newton's method finds.
#include <gtest/gtest.h>

#include "lattice/lattice_cases.h"
#include "supple/lattice/fas.h"

namespace supple::testing {
namespace {

class FasCases : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Cases, FasCases,
                         ::testing::Values("stretch_030", "twist_045", "sphere_045", "tube_030",
                                           "springs_1"));

TEST_P(FasCases, ConvergesToTheEquilibriumOfNewton) {
  LatticeCase c = make_case(GetParam(), 16);
  BlockVector<double> by_newton = c.interpolated, by_fas = c.interpolated;
  NewtonWork<LatticeSystem> work(*c.system);
  NewtonOptions<LinearOptions> options;
  options.tolerance = 1e-6;
  options.linear.limits.tolerance = 1e-2;
  ASSERT_TRUE(solve_newton(*c.system, by_newton, work, options).converged);
  FasSolver fas(*c.system);
  const NewtonReport report = fas.solve(by_fas, {.tolerance = 1e-5, .cycles = 60});
  EXPECT_TRUE(report.converged) << report.residual;
  double apart = 0;
  for (size_t i = 0; i < by_fas.size(); ++i)
    apart = std::max(apart, std::abs(by_fas[i] - by_newton[i]));
  EXPECT_LT(apart, 2e-3 / 16);
}

TEST_P(FasCases, EveryCycleGoesDownhillFromAJump) {
  LatticeCase c = make_case(GetParam(), 16);
  BlockVector<double> x = c.jump;
  FasSolver fas(*c.system);
  double energy = c.system->energy(x);
  for (int cycle = 0; cycle < 4; ++cycle) {
    const NewtonReport report = fas.solve(x, {.tolerance = 1e-12, .cycles = 1});
    EXPECT_LT(report.energy, energy);
    energy = report.energy;
  }
}

}  // namespace
}  // namespace supple::testing
