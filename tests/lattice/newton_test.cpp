// Newton's method on the cases of the benchmarks, from both starts.
#include "supple/solve/newton.h"

#include <gtest/gtest.h>

#include "lattice/lattice_cases.h"
#include "lattice/reference_support.h"
#include "lattice/solve_options.h"
#include "lattice/watched_system.h"

namespace supple::testing {
namespace {

struct Start {
  std::string name;
  bool jump = false;
  int most = 10;  // iterations
};

std::vector<Start> all_starts() {
  std::vector<Start> result;
  for (const char* name :
       {"stretch_030", "stretch_045", "twist_030", "twist_045", "compress_030", "compress_045",
        "sphere_030", "sphere_045", "tube_030", "tube_045", "springs_1", "springs_100"})
    for (const bool jump : {false, true}) {
      const std::string n = name;
      result.push_back({n, jump, n == "compress_045" || n.starts_with("tube") ? 45 : 10});
    }
  return result;
}

class NewtonCase : public ::testing::TestWithParam<Start> {};

TEST_P(NewtonCase, Converges) {
  LatticeCase made = make_case(GetParam().name, 16);
  BlockVector<double> x = GetParam().jump ? made.jump : made.interpolated;
  const BlockVector<double> start = x;
  WatchedSystem watched(*made.system);
  NewtonWork<WatchedSystem> work(watched);
  auto options = newton_options(1e-3, 100);
  const NewtonReport report = solve_newton(watched, x, work, options);
  EXPECT_TRUE(report.converged) << report.residual;
  EXPECT_LE(report.iterations, GetParam().most);
  EXPECT_EQ(report.residuals.size(), static_cast<size_t>(report.iterations));
  // The report says what is so.
  BlockVector<double> force = made.system->zero(), before = made.system->zero();
  EXPECT_EQ(made.system->force(x, force), report.energy);
  made.system->force(start, before);
  EXPECT_NEAR(std::sqrt(dot(force, force) / dot(before, before)), report.residual,
              1e-9 * report.residual);
  // Fixed nodes are where they were.
  const Level& finest = made.system->hierarchy().finest();
  for_nodes(finest.lattice(), [&](LatticePlace at, const Vec3i&) {
    if (!(finest.free[static_cast<size_t>(at.block)] >> at.local & 1)) {
      EXPECT_EQ(x.at(at), start.at(at));
    }
  });
  std::printf("%-13s %-12s %d iterations, %d linear\n", GetParam().name.c_str(),
              GetParam().jump ? "jump" : "interpolated", report.iterations,
              report.linear_iterations);
}

INSTANTIATE_TEST_SUITE_P(Lattice, NewtonCase, ::testing::ValuesIn(all_starts()),
                         [](const auto& info) {
                           return info.param.name + (info.param.jump ? "_jump" : "_interpolated");
                         });

TEST(NewtonOnLattice, FindsTheEquilibriumOfTheReference) {
  // Bent at one end, with materials that differ; both ends are held.
  Twins twins(
      bitten_box({10, 6, 6}, 71, 0.03), 0.25, varied_moduli,
      [](const Vec3i& n) { return n[0] <= -2 || n[0] >= 7; }, 60);
  Eigen::VectorXd x = twins.body.rest();
  for (Eigen::Index n = 0; n < x.size(); n += 3)
    if (x[n] > 1.5) {
      const double c = std::cos(0.7), s = std::sin(0.7), dx = x[n] - 1.75, dy = x[n + 1];
      x[n] = 1.75 + c * dx - s * dy + 0.3;
      x[n + 1] = s * dx + c * dy + 0.4;
    }
  BlockVector<double> ours = twins.blocks<double>(x);
  NewtonWork<LatticeSystem> work(twins.system);
  const NewtonReport report = solve_newton(twins.system, ours, work, newton_options(1e-9));
  EXPECT_TRUE(report.converged) << report.residual;
  Eigen::VectorXd expected = twins.plain(ours) + 0.02 * twins.random_vector(72);
  ASSERT_LT(reference::equilibrium(twins.body, reference::Quadrature::stabilised, 1e-11, expected),
            1e-11);
  EXPECT_LT((twins.plain(ours) - expected).lpNorm<Eigen::Infinity>(), 1e-7);
}

TEST(NewtonOnLattice, ConvergesFastNearTheSolution) {
  // With the true derivative the residual falls by far more than a projection's constant rate.
  LatticeCase made = make_case("twist_030", 12);
  BlockVector<double> x = made.interpolated;
  NewtonWork<LatticeSystem> work(*made.system);
  auto options = newton_options(1e-9);
  options.linear.limits.tolerance = 1e-5;
  const NewtonReport report = solve_newton(*made.system, x, work, options);
  EXPECT_TRUE(report.converged) << report.residual;
  EXPECT_LE(report.iterations, 10);
  ASSERT_GE(report.residuals.size(), 2u);
  const auto& r = report.residuals;
  EXPECT_LT(r.back(), 1e-3 * r[r.size() - 2]);
}

TEST(NewtonOnLattice, StopsAtItsBudgets) {
  LatticeCase made = make_case("compress_045", 8);
  NewtonWork<LatticeSystem> work(*made.system);
  BlockVector<double> x = made.jump;
  const NewtonReport few = solve_newton(*made.system, x, work, newton_options(1e-12, 2));
  EXPECT_EQ(few.iterations, 2);
  EXPECT_FALSE(few.converged);
  x = made.jump;
  auto budget = newton_options(1e-12);
  budget.products = 7;
  const NewtonReport products = solve_newton(*made.system, x, work, budget);
  EXPECT_FALSE(products.converged);
  EXPECT_GE(products.products, 7);
  EXPECT_LE(products.products, 7 + 60);
}

TEST(NewtonOnLattice, AnEquilibriumIsLeftAlone) {
  LatticeCase made = make_case("stretch_030", 8);
  BlockVector<double> x = made.system->rest();
  const BlockVector<double> rest = x;
  NewtonWork<LatticeSystem> work(*made.system);
  const NewtonReport report = solve_newton(*made.system, x, work, newton_options(1e-3, 50, 1e-12));
  EXPECT_TRUE(report.converged);
  EXPECT_EQ(report.iterations, 0);
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i], rest[i]);
}

}  // namespace
}  // namespace supple::testing
