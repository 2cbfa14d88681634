// Pressure that answers to volume: forces stay the energy's derivative, and flesh that is stretched
// one way swells back.
#include <gtest/gtest.h>

#include <random>

#include "supple/core/parallel.h"
#include "supple/lattice/lattice_system.h"

namespace supple {
namespace {

constexpr double h = 0.1;

LatticeSystem cube(int n) {
  std::vector<Vec3i> cells;
  for (int i = 0; i < n * n * n; ++i) cells.emplace_back(i % n, i / n % n, i / n / n);
  return {SparseLattice(cells), h, [](const Vec3i&) { return lame_moduli(1e4, 0.45); },
          [](const Vec3i&) { return false; }};
}

// Nodes at rest stretched along the axes.
LatticeSystem::Positions stretched(const LatticeSystem& system, const Vec3d& by) {
  LatticeSystem::Positions x = system.rest();
  for (size_t i = 0; i < x.size(); ++i)
    x[i] *= by[static_cast<int>(i % vector_block / block_cells)];
  return x;
}

TEST(KeepVolume, ForcesAreTheEnergysDerivative) {
  LatticeSystem system = cube(5);
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 0.15 * h);
  LatticeSystem::Positions x = system.rest(), d = system.zero(), force = system.zero();
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] += noise(random);
    d[i] = noise(random);
  }
  EXPECT_GT(system.keep_volume(x), 0.1);
  EXPECT_EQ(system.keep_volume(x), 0);
  system.force(x, force);
  constexpr double step = 1e-4;
  LatticeSystem::Positions up = x, down = x;
  add_scaled(step, d, up);
  add_scaled(-step, d, down);
  const double slope = (system.energy(up) - system.energy(down)) / (2 * step);
  EXPECT_NEAR(-dot(force, d), slope, 1e-6 * std::abs(slope));
}

TEST(KeepVolume, StretchedFleshSwellsBack) {
  LatticeSystem system = cube(4);
  const Vec3d thin(1.4, 0.8, 0.8), full(1.4, 0.845, 0.845);  // volumes 0.896 and 1.000
  const auto gain = [&] {
    return system.energy(stretched(system, thin)) - system.energy(stretched(system, full));
  };
  const double plain = gain();
  system.keep_volume(stretched(system, thin));
  EXPECT_GT(gain(), plain + 1);
}

// Rounds of pressure and equilibrium, in which all stretches of a cube but those given follow one
// number: that number in the end, and by how much rests still changed.
template <class Shape>
std::pair<double, double> settle(const Shape& shape) {
  LatticeSystem system = cube(2);
  double free = 1, change = 1;
  for (int round = 0; round < 30; ++round) {
    change = system.keep_volume(stretched(system, shape(free)), VolumeAnswer::gentle);
    double low = 0.05, high = 1.5;
    while (high - low > 1e-6) {
      const double third = (high - low) / 3;
      const bool falls = system.energy(stretched(system, shape(low + third))) >
                         system.energy(stretched(system, shape(high - third)));
      (falls ? low : high) += falls ? third : -third;
    }
    free = low;
  }
  return {free, change};
}

// A cube drawn to three times its length keeps about its volume; one that is broad settles.
TEST(KeepVolume, FleshStretchedFarKeepsItsVolume) {
  const auto [side, change] = settle([](double t) { return Vec3d(3, t, t); });
  EXPECT_LT(change, 1e-3);
  EXPECT_NEAR(3 * side * side, 1, 0.2);
  EXPECT_LT(settle([](double t) { return Vec3d(1.6, 1.6, t); }).second, 1e-3);
}

TEST(KeepVolume, SameBitsForAnyThreads) {
  LatticeSystem::Positions forces[2];
  for (const int threads : {1, 2}) {
    set_thread_count(threads);
    LatticeSystem system = cube(9);
    const LatticeSystem::Positions x = stretched(system, {1.3, 0.7, 0.9});
    system.keep_volume(x);
    forces[threads - 1] = system.zero();
    system.force(x, forces[threads - 1]);
  }
  set_thread_count(0);
  for (size_t i = 0; i < forces[0].size(); ++i) ASSERT_EQ(forces[0][i], forces[1][i]);
}

}  // namespace
}  // namespace supple
