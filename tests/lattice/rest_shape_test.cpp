// The inverse static solve: what cells are without stress, so that a given shape carries its
// weight.
#include "supple/lattice/rest_shape.h"

#include <gtest/gtest.h>

#include <random>

#include "supple/core/parallel.h"
#include "supple/solve/newton.h"

namespace supple {
namespace {

constexpr double h = 0.05;
constexpr double density = 1000;

// A bar along x; its first layer of nodes is held where `is_held`.
LatticeSystem bar(double young, bool is_held, const Vec3i& size = {12, 4, 4}) {
  std::vector<Vec3i> cells;
  for (int z = 0; z < size[2]; ++z)
    for (int y = 0; y < size[1]; ++y)
      for (int x = 0; x < size[0]; ++x) cells.emplace_back(x, y, z);
  return {SparseLattice(cells), h, [=](const Vec3i&) { return lame_moduli(young, 0.4); },
          [=](const Vec3i& n) { return is_held && n[0] == 0; }};
}

// The weight at every node, a share of each cell around it.
LatticeSystem::Positions weight_of(const LatticeSystem& system, const Vec3d& gravity) {
  LatticeSystem::Positions weight = system.zero();
  const SparseLattice& l = system.lattice();
  for (size_t b = 0; b < l.block_count(); ++b)
    for_bits(l.cells[b], [&](int32_t local) {
      for (const LatticePlace& n : l.corners(static_cast<int32_t>(b), local))
        weight.set(n, weight.at(n) + density * h * h * h / 8 * gravity);
    });
  return weight;
}

// Where nodes come to rest under `outer`, from x.
LatticeSystem::Positions settled(LatticeSystem& system, LatticeSystem::Positions x,
                                 const LatticeSystem::Positions& outer) {
  system.set_external_forces(outer);
  NewtonWork<LatticeSystem> work(system);
  NewtonOptions<LinearOptions> options;
  options.tolerance = 1e-6;
  options.least_force = 1e-7;
  options.linear.limits.tolerance = 1e-3;
  const NewtonReport report = solve_newton(system, x, work, options);
  EXPECT_TRUE(report.converged) << report.residual;
  return x;
}

double largest_distance(const LatticeSystem::Positions& a, const LatticeSystem::Positions& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

TEST(RestShape, ForcesOfStretchedCellsAreTheEnergysDerivative) {
  LatticeSystem system = bar(1e4, false, {5, 5, 5});
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 0.1 * h);
  const auto shaken = [&] {
    LatticeSystem::Positions x = system.rest();
    for (size_t i = 0; i < x.size(); ++i) x[i] += noise(random);
    return x;
  };
  LatticeSystem::Positions x = shaken(), d = shaken(), force = system.zero();
  add_scaled(-1.0, system.rest(), d);
  EXPECT_GT(system.stretch_rest(shaken(), 1.6), 0.1);
  for (const bool keeps : {false, true}) {
    if (keeps) system.keep_volume(x);
    system.force(x, force);
    constexpr double step = 1e-4;
    LatticeSystem::Positions up = x, down = x;
    add_scaled(step, d, up);
    add_scaled(-step, d, down);
    const double slope = (system.energy(up) - system.energy(down)) / (2 * step);
    EXPECT_NEAR(-dot(force, d), slope, 1e-6 * std::abs(slope)) << keeps;
  }
}

// With the nodes at rest, cells that were stretched by a motion pull as those pull that are moved.
TEST(RestShape, StretchedCellsPullAsMovedOnesDo) {
  LatticeSystem system = bar(1e4, false, {4, 4, 4});
  LatticeSystem::Positions moved = system.rest();
  const Mat3d f = (Mat3d() << 1.2, 0.1, 0, 0.1, 0.9, 0.15, 0, 0.15, 1.1).finished();
  const SparseLattice& l = system.lattice();
  for (size_t b = 0; b < l.block_count(); ++b)
    for (int32_t local = 0; local < 64; ++local) {
      const LatticePlace n{static_cast<int32_t>(b), local};
      moved.set(n, f * moved.at(n));
    }
  const double energy = system.energy(moved);
  ASSERT_GT(energy, 1);
  system.stretch_rest(moved, 2);
  EXPECT_NEAR(system.energy(system.rest()), energy, 1e-5 * energy);
}

TEST(RestShape, AHeldBarCarriesItsWeightWithoutSagging) {
  for (const double young : {4e5, 1e6}) {
    LatticeSystem system = bar(young, true);
    const LatticeSystem::Positions rest = system.rest(), weight = weight_of(system, {0, -9.81, 0});
    const double sag = largest_distance(settled(system, rest, weight), rest);
    ASSERT_GT(sag, 1e-3);
    const std::vector<float> pulls(system.lattice().block_count() * block_cells, 0);
    LatticeSystem::Positions support;
    const RestShapeReport report = find_rest_shape(system, rest, weight, pulls, {}, support);
    EXPECT_LT(report.left, 0.03) << young;
    // Under the weight alone it stays; without it, it rises by about as much as it sagged.
    EXPECT_LT(largest_distance(settled(system, rest, weight), rest), 0.02 * sag);
    const LatticeSystem::Positions free = settled(system, rest, system.zero());
    EXPECT_NEAR(largest_distance(free, rest), sag, 0.5 * sag);
    LatticePlace tip{0, 0};
    for (size_t b = 0; b < system.lattice().block_count(); ++b)
      for_bits(system.lattice().nodes[b], [&](int32_t local) {
        const LatticePlace n{static_cast<int32_t>(b), local};
        if (rest.at(n)[0] > rest.at(tip)[0]) tip = n;
      });
    EXPECT_GT(free.at(tip)[1], rest.at(tip)[1] + 0.3 * sag);
  }
}

TEST(RestShape, SpringsAreLoadedWithWhatTheyCarry) {
  LatticeSystem system = bar(5e5, false);
  const LatticeSystem::Positions rest = system.rest(), weight = weight_of(system, {0, -9.81, 0});
  std::vector<float> pulls(system.lattice().block_count() * block_cells, 1e-3f);
  for (size_t b = 0; b < system.lattice().block_count(); ++b)
    for_bits(system.lattice().nodes[b], [&](int32_t local) {
      if (system.lattice().coordinates(static_cast<int32_t>(b), local)[0] <= 2)
        pulls[b * block_cells + static_cast<size_t>(local)] = 2000;
    });
  system.set_pulls(pulls, rest);
  LatticeSystem::Positions support;
  const RestShapeReport report = find_rest_shape(system, rest, weight, pulls, {}, support);
  EXPECT_LT(report.left, 0.03);
  // Springs at one end carry all of the weight, and nothing acts at the other.
  double carried = 0, whole = 0, elsewhere = 0;
  for (size_t b = 0; b < system.lattice().block_count(); ++b)
    for_bits(system.lattice().nodes[b], [&](int32_t local) {
      const LatticePlace n{static_cast<int32_t>(b), local};
      carried += support.at(n)[1];
      whole -= weight.at(n)[1];
      if (pulls[b * block_cells + static_cast<size_t>(local)] < 1)
        elsewhere = std::max(elsewhere, support.at(n).norm());
    });
  EXPECT_NEAR(carried, whole, 1e-3 * whole);
  EXPECT_LT(elsewhere, 1e-2 * whole);
  LatticeSystem::Positions outer = weight;
  add_scaled(1.0, support, outer);
  EXPECT_LT(largest_distance(settled(system, rest, outer), rest), 1e-5);
}

TEST(RestShape, WhatIsTooSoftIsCarriedAsItIs) {
  LatticeSystem system = bar(300, true, {16, 2, 2});
  const LatticeSystem::Positions rest = system.rest(), weight = weight_of(system, {0, -9.81, 0});
  const std::vector<float> pulls(system.lattice().block_count() * block_cells, 0);
  LatticeSystem::Positions support, force = system.zero();
  const RestShapeReport report =
      find_rest_shape(system, rest, weight, pulls, {.keep_volume = true}, support);
  EXPECT_GT(report.left, 0.05);
  EXPECT_LE(report.stretch, 0.6 + 1e-5);
  LatticeSystem::Positions outer = weight;
  add_scaled(1.0, support, outer);
  system.set_external_forces(outer);
  system.force(rest, force);
  EXPECT_LT(system.norm(force), 1e-9 * system.norm(weight));
}

TEST(RestShape, SameBitsForAnyThreads) {
  LatticeSystem::Positions supports[2];
  for (const int threads : {1, 2}) {
    set_thread_count(threads);
    LatticeSystem system = bar(5e5, true);
    const std::vector<float> pulls(system.lattice().block_count() * block_cells, 0);
    find_rest_shape(system, system.rest(), weight_of(system, {0, -9.81, 0}), pulls, {},
                    supports[threads - 1]);
  }
  set_thread_count(0);
  for (size_t i = 0; i < supports[0].size(); ++i) ASSERT_EQ(supports[0][i], supports[1][i]);
}

}  // namespace
}  // namespace supple
