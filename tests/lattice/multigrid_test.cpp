// The V-cycle as a preconditioner and alone, and the linear solvers against direct ones.
#include "supple/lattice/multigrid.h"

#include <gtest/gtest.h>

#include "lattice/lattice_cases.h"
#include "lattice/reference_support.h"
#include "lattice/solve_options.h"

namespace supple::testing {
namespace {

using reference::Definite;
using reference::Quadrature;

constexpr double h = 0.25;

const std::vector<std::string> cubes = {"stretch_030", "stretch_045",  "twist_030",
                                        "twist_045",   "compress_030", "compress_045"};
const std::vector<std::string> others = {"sphere_030", "sphere_045", "tube_030",
                                         "tube_045",   "springs_1",  "springs_100"};

std::vector<std::string> all_cases() {
  std::vector<std::string> result = cubes;
  result.insert(result.end(), others.begin(), others.end());
  return result;
}

// A case linearised about one of its starts, and the force there.
struct Linearised {
  LatticeCase made;
  BlockVector<double> force;

  Linearised(const std::string& name, int n, bool jump = false) : made(make_case(name, n)) {
    const BlockVector<double>& x = jump ? made.jump : made.interpolated;
    force = made.system->zero();
    made.system->force(x, force);
    made.system->linearise(x, Differential::projected);
  }

  LinearReport solve(double tolerance, LinearMethod method = LinearMethod::multigrid_cg,
                     int iterations = 60) {
    LinearSolver<double> solver(made.system->hierarchy());
    BlockVector<double> b = force, x = made.system->zero();
    LinearOptions options = linear_options(method, tolerance, iterations);
    options.keep_residuals = true;
    const LinearReport report = solver.solve(b, x, options);
    // What the iteration believes is so.
    BlockVector<double> r = made.system->zero();
    made.system->hierarchy().finest().residual(force, x, r);
    EXPECT_NEAR(std::sqrt(dot(r, r) / dot(force, force)), report.residual,
                1e-2 * report.residual + 1e-12);
    return report;
  }
};

int iterations_to(const LinearReport& report, double tolerance) {
  for (size_t i = 0; i < report.residuals.size(); ++i)
    if (report.residuals[i] <= tolerance) return static_cast<int>(i) + 1;
  return 1000;
}

class Case : public ::testing::TestWithParam<std::string> {};

TEST_P(Case, ConjugateGradientsNeedFewIterationsAtAnyResolution) {
  const bool cube = std::find(cubes.begin(), cubes.end(), GetParam()) != cubes.end();
  std::array<std::array<int, 2>, 2> counts;
  for (const int k : {0, 1}) {
    const LinearReport report = Linearised(GetParam(), 16 << k).solve(1e-6);
    const auto i = static_cast<size_t>(k);
    counts[i] = {iterations_to(report, 1e-3), iterations_to(report, 1e-6)};
    EXPECT_LE(counts[i][0], cube ? 5 : 7) << (16 << k);
    EXPECT_LE(counts[i][1], cube ? 9 : 12) << (16 << k);
  }
  // Counts are within one of each other at any resolution, or, where springs of one point each meet
  // in few cells, within one of a number between.
  const int apart = GetParam() == "springs_100" ? 2 : 1;
  for (const size_t i : {0u, 1u}) EXPECT_NEAR(counts[1][i], counts[0][i], apart);
  std::printf("%-13s 16: %d / %d   32: %d / %d\n", GetParam().c_str(), counts[0][0], counts[0][1],
              counts[1][0], counts[1][1]);
}

TEST_P(Case, TheCycleAloneConverges) {
  for (const bool jump : {false, true}) {
    Linearised about(GetParam(), 16, jump);
    const LinearReport report = about.solve(1e-3, LinearMethod::v_cycle, 40);
    EXPECT_LE(report.residual, 1e-3) << (jump ? "jump" : "interpolated");
    // From the second cycle on every one makes it better.
    for (size_t i = 2; i < report.residuals.size(); ++i)
      EXPECT_LT(report.residuals[i], report.residuals[i - 1]) << jump << " " << i;
    std::printf("%-13s %-12s cycles %d, rate %.2f\n", GetParam().c_str(),
                jump ? "jump" : "interpolated", report.iterations,
                std::pow(report.residual, 1.0 / report.iterations));
  }
}

TEST_P(Case, TheCycleIsSymmetricAndPositive) {
  Linearised about(GetParam(), 12, true);
  Hierarchy& levels = about.made.system->hierarchy();
  Level& finest = levels.finest();
  LatticeBackend backend(levels);
  const auto cycle = [&](const BlockVector<float>& b) {
    finest.b = b;
    multigrid_cycle(backend, Cycle{});
    return finest.x;
  };
  const auto random_vector = [&](unsigned seed) {
    BlockVector<double> shaken = about.made.system->zero();
    shake(finest.lattice(), 1, seed, shaken);
    BlockVector<float> v = about.made.system->zero_step();
    for_nodes(finest.lattice(), [&](LatticePlace at, const Vec3i&) {
      if (finest.free[static_cast<size_t>(at.block)] >> at.local & 1)
        v.set(at, shaken.at(at).cast<float>());
    });
    return v;
  };
  for (unsigned seed = 0; seed < 4; ++seed) {
    const BlockVector<float> u = random_vector(seed), v = random_vector(100 + seed);
    const BlockVector<float> mu = cycle(u), mv = cycle(v);
    EXPECT_GT(dot(u, mu), 0);
    EXPECT_GT(dot(v, mv), 0);
    EXPECT_NEAR(dot(u, mv), dot(v, mu), 2e-5 * std::sqrt(dot(u, mu) * dot(v, mv)));
    // Fixed nodes stay where they are.
    for_nodes(finest.lattice(), [&](LatticePlace at, const Vec3i&) {
      if (!(finest.free[static_cast<size_t>(at.block)] >> at.local & 1)) {
        EXPECT_EQ(mu.at(at), Vec3f::Zero());
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Lattice, Case, ::testing::ValuesIn(all_cases()),
                         [](const auto& info) { return info.param; });

// A bitten box with everything at once: fixed nodes, springs inside, masses.
class Everything : public ::testing::TestWithParam<LinearMethod> {
 protected:
  Everything()
      : twins(
            bitten_box({13, 10, 9}, 61, 0.05), h, varied_moduli,
            [](const Vec3i& n) { return n[0] < 0; }, 60) {
    x = twins.body.rest() + 0.1 * h * twins.random_vector(62);
    std::mt19937 random(63);
    std::uniform_real_distribution<double> part(0, 1);
    k = twins.body.matrix(x, Quadrature::stabilised, Definite::yes);
    // Springs with stiffness B Bᵀ at random points of random cells.
    std::vector<Eigen::Triplet<double>> entries;
    const SparseLattice& l = twins.system.lattice();
    while (springs.size() < 40) {
      const Vec3d at(12 * part(random) - 2, 9 * part(random) - 3, 8 * part(random) - 1);
      const Vec3i cell = at.array().floor().cast<int32_t>();
      if (!l.has_cell(cell)) continue;
      Mat3d b;
      for (int i = 0; i < 9; ++i) b(i / 3, i % 3) = part(random) - 0.5;
      const Eigen::Matrix3f s = (b * b.transpose()).cast<float>();
      springs.push_back({{at, {s(0, 0), s(1, 1), s(2, 2), s(1, 2), s(0, 2), s(0, 1)}},
                         at * h + Vec3d(part(random), part(random), part(random))});
      std::array<double, 8> w;
      for (int i = 0; i < 8; ++i) {
        w[static_cast<size_t>(i)] = 1;
        for (int a = 0; a < 3; ++a)
          w[static_cast<size_t>(i)] *= i >> a & 1 ? at[a] - cell[a] : 1 - at[a] + cell[a];
      }
      for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) {
          const int p = twins.body.index(cell + Vec3i(i & 1, i >> 1 & 1, i >> 2));
          const int q = twins.body.index(cell + Vec3i(j & 1, j >> 1 & 1, j >> 2));
          if (!twins.body.is_free(static_cast<size_t>(p)) ||
              !twins.body.is_free(static_cast<size_t>(q)))
            continue;
          for (int c = 0; c < 3; ++c)
            for (int d = 0; d < 3; ++d)
              entries.emplace_back(3 * p + c, 3 * q + d,
                                   w[static_cast<size_t>(i)] * w[static_cast<size_t>(j)] *
                                       static_cast<double>(s(c, d)));
        }
    }
    // Masses over dt², one per node.
    masses.resize(l.block_count() * block_cells, 0);
    for (size_t n = 0; n < twins.body.nodes().size(); ++n) {
      const LatticePlace at = l.place(twins.body.nodes()[n]);
      const auto m = static_cast<float>(0.05 * part(random));
      masses[static_cast<size_t>(at.block) * block_cells + static_cast<size_t>(at.local)] = m;
      for (int c = 0; c < 3 && twins.body.is_free(n); ++c)
        entries.emplace_back(3 * static_cast<int>(n) + c, 3 * static_cast<int>(n) + c,
                             static_cast<double>(m));
    }
    reference::Sparse extra(k.rows(), k.cols());
    extra.setFromTriplets(entries.begin(), entries.end());
    k += extra;
    twins.system.set_springs(springs);
    twins.system.set_inertia(masses, 1, twins.system.rest());
    twins.system.linearise(twins.blocks<double>(x), Differential::projected);
  }

  Twins twins;
  Eigen::VectorXd x;
  std::vector<TargetSpring> springs;
  std::vector<float> masses;
  reference::Sparse k;
};

TEST_P(Everything, SolutionIsThatOfADirectSolver) {
  const Eigen::VectorXd b = twins.random_vector(64);
  const Eigen::VectorXd expected = reference::solve_directly(k, b);
  LinearSolver<double> solver(twins.system.hierarchy());
  BlockVector<double> right = twins.blocks<double>(b), solution = twins.system.zero();
  LinearOptions options = linear_options(GetParam(), 1e-9, 2000);
  const LinearReport report = solver.solve(right, solution, options);
  EXPECT_LE(report.residual, 1e-9) << report.iterations;
  EXPECT_FALSE(report.indefinite);
  EXPECT_LT((twins.plain(solution) - expected).norm(), 1e-5 * expected.norm());
  // In single precision as well.
  LinearSolver<float> single(twins.system.hierarchy());
  BlockVector<float> right_single = twins.blocks<float>(b), x_single = twins.system.zero_step();
  options.limits.tolerance = 1e-6;
  single.solve(right_single, x_single, options);
  EXPECT_LT((twins.plain(x_single) - expected).norm(), 3e-5 * expected.norm());
}

TEST_P(Everything, ProductHasSpringsAndMasses) {
  const Eigen::VectorXd v = twins.random_vector(65), expected = k * v;
  BlockVector<double> y = twins.system.zero();
  twins.system.apply(twins.blocks<double>(v), y);
  EXPECT_LT((twins.plain(y) - expected).norm(), 2e-6 * expected.norm());
  const Eigen::VectorXd inverse = twins.plain(twins.system.hierarchy().finest().inverse_diagonal);
  for (Eigen::Index i = 0; i < k.rows(); ++i)
    if (twins.body.is_free(static_cast<size_t>(i / 3))) {
      EXPECT_NEAR(1 / inverse[i], k.coeff(i, i), 1e-5 * k.coeff(i, i));
    }
}

INSTANTIATE_TEST_SUITE_P(Methods, Everything,
                         ::testing::Values(LinearMethod::multigrid_cg, LinearMethod::v_cycle,
                                           LinearMethod::jacobi_cg, LinearMethod::plain_cg));

TEST(Multigrid, DampedJacobiIsHeldBackWhereItWouldDiverge) {
  // 0.8 is too much for the twist at a Poisson's ratio of 0.45.
  Linearised about("twist_045", 16);
  Hierarchy& levels = about.made.system->hierarchy();
  EXPECT_GT(levels.finest().largest_eigenvalue, 2.5);
  LinearSolver<double> solver(levels);
  BlockVector<double> b = about.force, x = about.made.system->zero();
  LinearOptions options = linear_options(LinearMethod::v_cycle, 1e-3, 60);
  options.cycle.smoother.kind = Smoother::Kind::jacobi;
  options.cycle.smoother.steps = 5;
  EXPECT_LE(solver.solve(b, x, options).residual, 1e-3);
}

TEST(Multigrid, EigenvalueEstimatesAreNearTheTruth) {
  for (const std::string name : {"twist_045", "stretch_030", "tube_045"}) {
    Linearised about(name, 12, true);
    ASSERT_GT(about.made.system->hierarchy().levels(), 1u);
    const Level& finest = about.made.system->hierarchy().finest();
    // Power iteration on D⁻¹ A, long enough.
    BlockVector<float> v = about.made.system->zero_step(), av = v;
    BlockVector<double> shaken = about.made.system->zero();
    shake(finest.lattice(), 1, 3, shaken);
    for (size_t i = 0; i < v.size(); ++i)
      v[i] = finest.inverse_diagonal[i] > 0 ? static_cast<float>(shaken[i]) : 0;
    double largest = 0;
    for (int i = 0; i < 400; ++i) {
      finest.product(v, av);
      multiply(finest.inverse_diagonal, av, v);
      largest = std::sqrt(dot(v, v));
      for (size_t n = 0; n < v.size(); ++n) v[n] /= static_cast<float>(largest);
    }
    EXPECT_GT(finest.largest_eigenvalue, 0.85 * largest) << name;
    EXPECT_LT(finest.largest_eigenvalue, 1.5 * largest) << name;
    std::printf("%s: estimate %.3f, power iteration %.3f\n", name.c_str(),
                finest.largest_eigenvalue, largest);
  }
}

TEST(Multigrid, RareHardCellsDoNotUpsetTheSmoother) {
  // The largest eigenvalue belongs to one cell among thousands: nearly incompressible, or crushed.
  for (const bool crushed : {false, true}) {
    const Vec3i odd(9, 11, 13);
    Twins twins(
        box_cells(24, 24, 24), h,
        [&](const Vec3i& c) {
          return reference::Moduli{1, !crushed && c == odd ? 100.0 : 0.25};
        },
        [](const Vec3i& n) { return n[0] == 0; });
    Eigen::VectorXd x = twins.body.rest();
    if (crushed)  // stretched far along one axis, flat along the others
      for (int i = 0; i < 8; ++i) {
        const Vec3i corner(i & 1, i >> 1 & 1, i >> 2);
        x.segment<3>(3 * twins.body.index(odd + corner)) =
            h * (odd.cast<double>() + Vec3d(40 * corner[0], 0.01 * corner[1], 0.01 * corner[2]));
      }
    twins.system.linearise(twins.blocks<double>(x), Differential::projected);
    LinearSolver<double> solver(twins.system.hierarchy());
    BlockVector<double> b = twins.blocks<double>(twins.random_vector(1)), y = twins.system.zero();
    LinearOptions options = linear_options(LinearMethod::v_cycle, 1e-6, 60);
    options.keep_residuals = true;
    const LinearReport report = solver.solve(b, y, options);
    std::printf("eigenvalue %.2f, %d cycles, residual %.2g\n",
                twins.system.hierarchy().finest().largest_eigenvalue, report.iterations,
                report.residual);
    EXPECT_LE(report.residual, 1e-6) << (crushed ? "crushed" : "incompressible");
  }
}

}  // namespace
}  // namespace supple::testing
