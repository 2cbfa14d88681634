// Bad starts, extreme materials and odd bodies: Newton's method ends at an equilibrium, finite at
// every iterate. SUPPLE_SOAK multiplies the seeds.
#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include "lattice/reference_support.h"
#include "lattice/solve_options.h"
#include "lattice/watched_system.h"
#include "supple/math/polar.h"
#include "support/test_support.h"

namespace supple::testing {
namespace {

constexpr double h = 0.125;

enum class Damage { randomised, plane, line, point, everted };
const std::vector<std::pair<Damage, std::string>> damages = {{Damage::randomised, "randomised"},
                                                             {Damage::plane, "plane"},
                                                             {Damage::line, "line"},
                                                             {Damage::point, "point"},
                                                             {Damage::everted, "everted"}};

// Free nodes of a body damaged; seeds turn the plane, line and mirror. Nothing is put exactly on
// them for every other seed.
Eigen::VectorXd damaged(const Twins& twins, Damage damage, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> part(0, 1);
  const Eigen::VectorXd rest = twins.body.rest();
  const Eigen::Map<const Eigen::Matrix3Xd> nodes(rest.data(), 3, rest.size() / 3);
  const Vec3d centre = nodes.rowwise().mean();
  const Mat3d r = seed % 3 == 0
                      ? Mat3d(Mat3d::Identity())
                      : Quatd(normal(random), normal(random), normal(random), normal(random))
                            .normalized()
                            .toRotationMatrix();
  const double noise = seed % 2 ? 1e-3 * h : 0;
  const double keep = damage == Damage::everted ? -1 : 0;
  const Mat3d map = r *
                    Vec3d(keep, damage == Damage::line || damage == Damage::point ? 0 : 1,
                          damage == Damage::point ? 0 : 1)
                        .asDiagonal() *
                    r.transpose();
  Eigen::VectorXd x = rest;
  for (size_t n = 0; n < twins.body.nodes().size(); ++n) {
    if (!twins.body.is_free(n)) continue;
    const auto at = 3 * static_cast<Eigen::Index>(n);
    if (damage == Damage::randomised)
      x.segment<3>(at) =
          centre + Vec3d(part(random), part(random), part(random)) - Vec3d::Constant(0.5);
    else
      x.segment<3>(at) = centre + map * (rest.segment<3>(at) - centre) +
                         noise * Vec3d(normal(random), normal(random), normal(random));
  }
  return x;
}

struct Outcome {
  NewtonReport report;
  double distance = 0;  // from the rest shape, in cells
};

// The largest distance from rest, the best rigid motion taken out where nothing is fixed.
double distance_from_rest(const Twins& twins, const Eigen::VectorXd& x) {
  const Eigen::VectorXd rest = twins.body.rest();
  Eigen::Map<const Eigen::Matrix3Xd> a(rest.data(), 3, rest.size() / 3),
      b(x.data(), 3, x.size() / 3);
  bool any_fixed = false;
  for (size_t n = 0; n < twins.body.nodes().size(); ++n) any_fixed |= !twins.body.is_free(n);
  if (any_fixed) return (a - b).colwise().norm().maxCoeff() / h;
  const Vec3d from = a.rowwise().mean(), to = b.rowwise().mean();
  const Mat3d r = nearest_rotation((b.colwise() - to) * (a.colwise() - from).transpose());
  return ((b.colwise() - to) - r * (a.colwise() - from)).colwise().norm().maxCoeff() / h;
}

Outcome recover(Twins& twins, const Eigen::VectorXd& start, int iterations = 200,
                double tolerance = 0) {
  BlockVector<double> x = twins.blocks<double>(start);
  WatchedSystem watched(twins.system);
  NewtonWork<WatchedSystem> work(watched);
  // Equilibrium: forces far below what moving one node by a hundred-thousandth of a cell takes.
  const auto options = newton_options(tolerance, iterations, 1e-6 * h * h);
  Outcome result{solve_newton(watched, x, work, options), 0};
  result.distance = distance_from_rest(twins, twins.plain(x));
  return result;
}

class Damaged : public ::testing::TestWithParam<std::pair<Damage, std::string>> {};

Outcome recover_damaged(Damage damage, unsigned seed) {
  const double poisson = std::array{0.3, 0.0, 0.45, 0.49}[seed % 4];
  const CellMaterial m = lame_moduli(1, poisson);
  // A cube held at one side, or a ragged body held at a few nodes, or one held nowhere.
  const bool ragged = seed % 4 == 1;
  const auto fixed = [&](const Vec3i& n) {
    return seed % 4 == 2 ? false : ragged ? n[2] <= 0 : n[0] == 0;
  };
  const auto moduli = [&](const Vec3i&) { return reference::Moduli{m.mu, m.lambda}; };
  Twins twins(ragged ? bitten_box({8, 7, 6}, seed, 0.1) : box_cells(6, 5, 6), h, moduli, fixed, 60);
  const Outcome outcome = recover(twins, damaged(twins, damage, seed));
  EXPECT_TRUE(outcome.report.converged)
      << "seed " << seed << ": force " << outcome.report.force << " after "
      << outcome.report.iterations << (outcome.report.stalled ? ", stalled" : "");
  return outcome;
}

TEST_P(Damaged, BodiesReturnToAnEquilibrium) {
  const unsigned seeds = 4 * static_cast<unsigned>(test::soak_factor());
  int at_rest = 0, most = 0;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    const Outcome outcome = recover_damaged(GetParam().first, seed);
    at_rest += outcome.distance < 1e-3;
    most = std::max(most, outcome.report.iterations);
  }
  std::printf("%s: %d of %u at rest, at most %d iterations\n", GetParam().second.c_str(), at_rest,
              seeds, most);
}

// Free bodies that stalled: by drift, and where conjugate gradients went uphill.
TEST(DamagedOnce, BodiesReturnToAnEquilibrium) {
  recover_damaged(Damage::plane, 26);
  recover_damaged(Damage::randomised, 26);
  recover_damaged(Damage::line, 178);
}

INSTANTIATE_TEST_SUITE_P(Lattice, Damaged, ::testing::ValuesIn(damages),
                         [](const auto& info) { return info.param.second; });

// A body shaken by a tenth of a cell returns to rest.
void expect_return(const std::vector<Vec3i>& cells,
                   const std::function<reference::Moduli(const Vec3i&)>& moduli,
                   const std::function<bool(const Vec3i&)>& fixed, int iterations) {
  Twins twins(cells, h, moduli, fixed, 60);
  const Outcome outcome =
      recover(twins, twins.body.rest() + 0.1 * h * twins.random_vector(5), iterations, 1e-8);
  EXPECT_TRUE(outcome.report.converged)
      << outcome.report.force << " after " << outcome.report.iterations
      << (outcome.report.stalled ? ", stalled" : "");
  EXPECT_LT(outcome.distance, 1e-2);
  std::printf("%d iterations, %d linear, %.2g cells from rest\n", outcome.report.iterations,
              outcome.report.linear_iterations, outcome.distance);
}

bool at_left(const Vec3i& n) { return n[0] <= 0; }
bool never(const Vec3i&) { return false; }

TEST(Extreme, NearlyIncompressible) {
  const CellMaterial m = lame_moduli(1, 0.49);
  expect_return(
      box_cells(10, 8, 8),
      [&](const Vec3i&) {
        return reference::Moduli{m.mu, m.lambda};
      },
      at_left, 50);
}

TEST(Extreme, StiffnessContrastOfAMillion) {
  expect_return(
      box_cells(10, 8, 8),
      [](const Vec3i& c) {
        const double mu = (c[0] + c[1] + c[2]) % 3 == 0 ? 1e6 : 1;
        return reference::Moduli{mu, 1.5 * mu};
      },
      at_left, 100);
}

TEST(Extreme, AStiffBoneInSoftFlesh) {
  expect_return(
      box_cells(12, 8, 8),
      [](const Vec3i& c) {
        const double mu = std::abs(c[1] - 4) < 2 && std::abs(c[2] - 4) < 2 ? 1e6 : 1;
        return reference::Moduli{mu, 1.5 * mu};
      },
      at_left, 100);
}

TEST(Extreme, ASingleCell) {
  expect_return(
      {{3, -2, 5}}, even_moduli, [](const Vec3i& n) { return n[0] == 3; }, 30);
  expect_return(
      {{-1, -1, -1}}, even_moduli, [](const Vec3i& n) { return n.sum() <= -2; }, 30);
}

TEST(Extreme, NothingFixed) {
  expect_return({{3, -2, 5}}, even_moduli, never, 50);
  expect_return(box_cells(8, 6, 7), even_moduli, never, 50);
}

TEST(Extreme, StepsOfFreeBodiesHaveNoRigidPart) {
  // Forces of a body that nothing holds add up to nothing but rounding, which must not be taken for
  // a pull on the whole.
  Twins twins(box_cells(9, 8, 7), h, even_moduli, never, 60);
  for (unsigned seed = 0; seed < 5; ++seed) {
    const Eigen::VectorXd x = twins.body.rest() + 0.2 * h * twins.random_vector(seed);
    BlockVector<double> force = twins.system.zero();
    twins.system.force(twins.blocks<double>(x), force);
    twins.system.linearise(twins.blocks<double>(x), Differential::projected);
    BlockVector<float> dx = twins.system.zero_step();
    twins.system.solve(force, dx, {});
    const Eigen::VectorXd step = twins.plain(dx);
    const auto nodes = static_cast<double>(step.size() / 3);
    Vec3d shift = Vec3d::Zero(), centre = Vec3d::Zero(), turn = Vec3d::Zero();
    for (Eigen::Index n = 0; n < step.size(); n += 3) {
      shift += step.segment<3>(n) / nodes;
      centre += x.segment<3>(n) / nodes;
    }
    double arms = 0;
    for (Eigen::Index n = 0; n < step.size(); n += 3) {
      const Vec3d arm = x.segment<3>(n) - centre;
      turn += arm.cross(Vec3d(step.segment<3>(n)));
      arms += arm.squaredNorm();
    }
    EXPECT_LT(shift.norm() * std::sqrt(nodes), 0.05 * step.norm());
    EXPECT_LT(turn.norm() / std::sqrt(arms), 0.2 * step.norm());
  }
}

TEST(Extreme, PiecesThatDoNotTouch) {
  // One piece is held, the others float: far away, across tiles, and by a corner of a block.
  std::vector<Vec3i> cells = box_cells(4, 4, 4);
  for (const Vec3i& c : box_cells(5, 3, 4)) cells.push_back(c + Vec3i(40, -30, 17));
  cells.emplace_back(14, 14, 14);
  Twins twins(cells, h, even_moduli, at_left, 60);
  const Outcome outcome = recover(twins, twins.body.rest() + 0.1 * h * twins.random_vector(6), 60);
  EXPECT_TRUE(outcome.report.converged) << outcome.report.force;
  EXPECT_NEAR(outcome.report.energy, 0, 1e-10);
}

TEST(Extreme, EverythingFixed) {
  Twins twins(box_cells(5, 4, 3), h, even_moduli, [](const Vec3i&) { return true; });
  BlockVector<double> x = twins.system.rest();
  shake(twins.system.lattice(), 0.02, 1, x);
  const BlockVector<double> start = x;
  NewtonWork<LatticeSystem> work(twins.system);
  const NewtonReport report = solve_newton(twins.system, x, work, {});
  EXPECT_TRUE(report.converged);
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i], start[i]);
}

TEST(Extreme, SmallAndLargeUnits) {
  // The same body in other units takes the same path.
  std::vector<int> iterations;
  for (const double unit : {1.0, 1e-3, 1e3}) {
    for (const double stiffness : {1.0, 1e9}) {
      Twins twins(
          box_cells(6, 5, 5), unit * h,
          [&](const Vec3i&) {
            return reference::Moduli{stiffness, 1.5 * stiffness};
          },
          at_left, 60);
      Eigen::VectorXd x = twins.body.rest() + 0.3 * h * unit * twins.random_vector(7);
      BlockVector<double> at = twins.blocks<double>(x);
      NewtonWork<LatticeSystem> work(twins.system);
      const NewtonReport report = solve_newton(twins.system, at, work, newton_options(1e-6));
      EXPECT_TRUE(report.converged) << unit << " " << stiffness;
      EXPECT_LT((twins.plain(at) - twins.body.rest()).lpNorm<Eigen::Infinity>(), 1e-4 * h * unit);
      iterations.push_back(report.iterations);
    }
  }
  for (const int i : iterations) EXPECT_NEAR(i, iterations.front(), 1);
}

TEST(Extreme, NumbersThatAreNotAreRefusedWithoutHarm) {
  Twins twins(box_cells(4, 4, 4), h, even_moduli, at_left);
  BlockVector<double> x = twins.system.rest();
  x.set(twins.system.lattice().place({2, 2, 2}), Vec3d(std::nan(""), 0, 0));
  NewtonWork<LatticeSystem> work(twins.system);
  const NewtonReport report = solve_newton(twins.system, x, work, {});
  EXPECT_FALSE(report.converged);
}

}  // namespace
}  // namespace supple::testing
