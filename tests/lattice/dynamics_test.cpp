// Backward Euler on the lattice: derivatives with inertia, conservation, and definiteness.
#include <gtest/gtest.h>

#include "lattice/reference_support.h"
#include "lattice/solve_options.h"
#include "supple/solve/newton.h"

namespace supple::testing {
namespace {

constexpr double h = 0.25;

bool never(const Vec3i&) { return false; }

// Lumped masses of a density, as blocks and by node of the reference.
struct Masses {
  std::vector<float> blocks;
  std::vector<double> nodes;

  Masses(const Twins& twins, const std::vector<Vec3i>& cells, double density, double spacing) {
    const SparseLattice& l = twins.system.lattice();
    blocks.assign(l.block_count() * block_cells, 0);
    nodes.assign(twins.body.nodes().size(), 0);
    const double part = density * spacing * spacing * spacing / 8;
    for (const Vec3i& cell : cells)
      for (int i = 0; i < 8; ++i) {
        const Vec3i node = cell + Vec3i(i & 1, i >> 1 & 1, i >> 2);
        const LatticePlace at = l.place(node);
        blocks[static_cast<size_t>(at.block) * block_cells + static_cast<size_t>(at.local)] +=
            static_cast<float>(part);
        nodes[static_cast<size_t>(twins.body.index(node))] += part;
      }
  }
};

TEST(Dynamics, EnergyAndForceHaveInertiaSpringsAndLoads) {
  const std::vector<Vec3i> cells = bitten_box({8, 7, 6}, 81, 0.1);
  Twins twins(cells, h, varied_moduli, [](const Vec3i& n) { return n[0] < -1; });
  const Masses masses(twins, cells, 3, h);
  constexpr double dt = 0.0625;
  const Eigen::VectorXd predicted = twins.body.rest() + 0.05 * twins.random_vector(82);
  const Eigen::VectorXd load = twins.random_vector(83);
  const Eigen::VectorXd x = twins.body.rest() + 0.2 * h * twins.random_vector(84);
  LatticeSystem& s = twins.system;
  const double elastic = s.energy(twins.blocks<double>(x));
  s.set_inertia(masses.blocks, dt, twins.blocks<double>(predicted));
  s.set_external_forces(twins.blocks<double>(load));
  // What is added, by hand.
  double expected = elastic;
  for (size_t n = 0; n < masses.nodes.size(); ++n) {
    if (!twins.body.is_free(n)) continue;
    const auto at = 3 * static_cast<Eigen::Index>(n);
    expected += masses.nodes[n] / (2 * dt * dt) * (x - predicted).segment<3>(at).squaredNorm() -
                load.segment<3>(at).dot(x.segment<3>(at));
  }
  EXPECT_NEAR(s.energy(twins.blocks<double>(x)), expected, 1e-7 * std::abs(expected));
  BlockVector<double> force = s.zero();
  EXPECT_NEAR(s.force(twins.blocks<double>(x), force), expected, 1e-7 * std::abs(expected));
  for (unsigned seed = 0; seed < 4; ++seed) {
    const Eigen::VectorXd d = twins.random_vector(90 + seed);
    const auto energy = [&](double t) { return s.energy(twins.blocks<double>(x + t * d)); };
    constexpr double e = 1e-4;
    const double slope =
        (8 * (energy(e) - energy(-e)) - (energy(2 * e) - energy(-2 * e))) / (12 * e);
    EXPECT_NEAR(-twins.plain(force).dot(d), slope, 1e-7 * twins.plain(force).norm() * d.norm());
  }
  // The linearisation is the derivative of the force, inertia included.
  s.linearise(twins.blocks<double>(x), Differential::exact);
  const Eigen::VectorXd d = twins.random_vector(95);
  BlockVector<double> y = s.zero(), ahead = s.zero(), behind = s.zero();
  s.apply(twins.blocks<double>(d), y);
  s.force(twins.blocks<double>(x + 1e-5 * d), ahead);
  s.force(twins.blocks<double>(x - 1e-5 * d), behind);
  const Eigen::VectorXd slope = (twins.plain(behind) - twins.plain(ahead)) / 2e-5;
  EXPECT_LT((twins.plain(y) - slope).norm(), 2e-6 * slope.norm());
  // Without masses and loads it is what it was.
  s.set_inertia({}, dt, {});
  s.set_external_forces({});
  EXPECT_EQ(s.energy(twins.blocks<double>(x)), elastic);
}

// Steps of backward Euler of a body that nothing holds.
struct FreeFlight {
  std::vector<Vec3i> cells = bitten_box({7, 6, 5}, 101, 0.05);
  Twins twins{cells, h, varied_moduli, never, 60};
  Masses masses{twins, cells, 2, h};
  Eigen::VectorXd x = twins.body.rest() + 0.1 * h * twins.random_vector(102);
  Eigen::VectorXd v = twins.random_vector(103);
  double dt = 0.05;

  // Returns the velocities before.
  Eigen::VectorXd step() {
    const Eigen::VectorXd before = v;
    const BlockVector<double> predicted = twins.blocks<double>(x + dt * v);
    twins.system.set_inertia(masses.blocks, dt, predicted);
    BlockVector<double> next = predicted;
    NewtonWork<LatticeSystem> work(twins.system);
    const NewtonReport report = solve_newton(twins.system, next, work, newton_options(1e-10));
    EXPECT_TRUE(report.converged) << report.residual;
    const Eigen::VectorXd moved = twins.plain(next);
    v = (moved - x) / dt;
    x = moved;
    return before;
  }

  Vec3d momentum(const Eigen::VectorXd& of) const {
    Vec3d sum = Vec3d::Zero();
    for (size_t n = 0; n < masses.nodes.size(); ++n)
      sum += masses.nodes[n] * of.segment<3>(3 * static_cast<Eigen::Index>(n));
    return sum;
  }

  // Sum of m x × of.
  Vec3d turning(const Eigen::VectorXd& of) const {
    Vec3d sum = Vec3d::Zero();
    for (size_t n = 0; n < masses.nodes.size(); ++n) {
      const auto at = 3 * static_cast<Eigen::Index>(n);
      sum += masses.nodes[n] * Vec3d(x.segment<3>(at)).cross(Vec3d(of.segment<3>(at)));
    }
    return sum;
  }
};

TEST(Dynamics, AFreeBodyKeepsItsMomentum) {
  FreeFlight flight;
  flight.v += Eigen::VectorXd::Constant(flight.v.size(), 0.5);
  const Vec3d start = flight.momentum(flight.v);
  double scale = 0;
  for (const double m : flight.masses.nodes) scale += m;
  for (int i = 0; i < 8; ++i) {
    const Eigen::VectorXd before = flight.step();
    EXPECT_LT((flight.momentum(flight.v) - start).norm(), 1e-7 * scale) << i;
    // Elastic forces have no torque: what they change about the new positions adds up to nothing.
    EXPECT_LT(flight.turning(flight.v - before).norm(), 1e-7 * scale) << i;
  }
}

TEST(Dynamics, FallsAsInVacuum) {
  FreeFlight flight;
  flight.x = flight.twins.body.rest();
  flight.v.setZero();
  const Vec3d gravity(0, -9.81, 0);
  Eigen::VectorXd load(flight.x.size());
  for (size_t n = 0; n < flight.masses.nodes.size(); ++n)
    load.segment<3>(3 * static_cast<Eigen::Index>(n)) = flight.masses.nodes[n] * gravity;
  flight.twins.system.set_external_forces(flight.twins.blocks<double>(load));
  for (int i = 0; i < 4; ++i) flight.step();
  // Backward Euler falls by g dt² (1 + 2 + ... + n).
  const Eigen::VectorXd fallen = flight.x - flight.twins.body.rest();
  for (Eigen::Index n = 0; n < fallen.size(); n += 3)
    EXPECT_LT((Vec3d(fallen.segment<3>(n)) - gravity * flight.dt * flight.dt * 10).norm(), 1e-6);
}

// The least and the largest eigenvalue of the linearised system by Lanczos' method with full
// reorthogonalisation.
std::pair<double, double> extreme_eigenvalues(const Twins& twins, int steps) {
  std::vector<Eigen::VectorXd> q = {twins.random_vector(7).normalized()};
  Eigen::VectorXd diagonal(steps), beside(steps);
  int n = 0;
  for (; n < steps; ++n) {
    BlockVector<double> y = twins.system.zero();
    twins.system.apply(twins.blocks<double>(q.back()), y);
    Eigen::VectorXd w = twins.plain(y);
    diagonal[n] = w.dot(q.back());
    for (int twice = 0; twice < 2; ++twice)
      for (const Eigen::VectorXd& other : q) w -= w.dot(other) * other;
    beside[n] = w.norm();
    if (beside[n] < 1e-10) {
      ++n;
      break;
    }
    q.push_back(w / beside[n]);
  }
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
  solver.computeFromTridiagonal(diagonal.head(n), beside.head(n - 1), Eigen::EigenvaluesOnly);
  return {solver.eigenvalues().minCoeff(), solver.eigenvalues().maxCoeff()};
}

// [McAdams 2011, fig. 4]: masses shrink with h³, stiffness with h, so that the true matrix of
// backward Euler of a squeezed bar is indefinite at high resolution; the projected one never is.
TEST(Dynamics, OnlyTheProjectedMatrixStaysDefiniteUnderRefinement) {
  std::vector<double> exact, projected;
  for (const int n : {1, 2, 4, 6}) {
    const std::vector<Vec3i> cells = box_cells(n, n, 4 * n);
    const double spacing = 1.0 / n;
    Twins twins(cells, spacing, even_moduli,
                [n](const Vec3i& p) { return p[2] == 0 || p[2] == 4 * n; });
    const Masses masses(twins, cells, 1, spacing);
    Eigen::VectorXd x = twins.body.rest();
    for (Eigen::Index i = 0; i < x.size(); i += 3) x[i + 2] *= 0.75;
    twins.system.set_inertia(masses.blocks, 0.7, twins.system.rest());
    for (const Differential kind : {Differential::exact, Differential::projected}) {
      twins.system.linearise(twins.blocks<double>(x), kind);
      const auto [least, largest] = extreme_eigenvalues(twins, 120);
      (kind == Differential::exact ? exact : projected).push_back(least / largest);
    }
    std::printf("%d x %d x %d: least over largest eigenvalue %.3g exact, %.3g projected\n", n, n,
                4 * n, exact.back(), projected.back());
  }
  EXPECT_GT(exact.front(), 0);
  EXPECT_LT(exact.back(), 0);
  for (const double ratio : projected) EXPECT_GT(ratio, 0);
}

}  // namespace
}  // namespace supple::testing
