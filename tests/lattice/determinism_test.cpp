// The same bits for any number of threads, and nearly the same numbers on every instruction set.
#include <gtest/gtest.h>

#include <cstring>

#include "lattice/lattice_cases.h"
#include "lattice/lattice_support.h"
#include "lattice/solve_options.h"
#include "supple/core/parallel.h"
#include "supple/math/simd.h"
#include "supple/solve/newton.h"

namespace supple::testing {
namespace {

// Everything a solve goes through, one after the other, by name.
using Trace = std::vector<std::pair<std::string, std::vector<double>>>;

template <class Scalar>
std::vector<double> numbers(const BlockVector<Scalar>& v) {
  return {v.data(), v.data() + v.size()};
}

std::vector<TargetSpring> random_springs(const SparseLattice& lattice, double h) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> part(0, 1);
  std::vector<TargetSpring> springs;
  for (size_t b = 0; b < lattice.block_count(); b += 3)
    for (int32_t n = 0; n < 64; n += 13)
      if (lattice.cells[b] >> n & 1) {
        const Vec3d at = lattice.coordinates(static_cast<int32_t>(b), n).cast<double>() +
                         Vec3d(part(random), part(random), part(random));
        springs.push_back({{at, {0.1f, 0.2f, 0.3f, 0.01f, 0.02f, 0.03f}}, at * h});
      }
  return springs;
}

Trace trace_solve(bool eight_points = false) {
  constexpr double h = 0.1;
  LatticeSystem s(
      SparseLattice(ragged_cells(1, eight_points ? 18 : 34, 0.45)), h,
      [](const Vec3i& c) {
        return CellMaterial{1 + 0.1 * (c[0] & 3), 1.5 + 0.1 * (c[1] & 3)};
      },
      [](const Vec3i& n) { return n[0] < 0; });
  EXPECT_GT(s.lattice().tile_count(), 20u);
  if (eight_points) s.use_eight_points();
  s.set_springs(random_springs(s.lattice(), h));
  std::vector<float> masses(s.lattice().block_count() * block_cells, 1e-5f);
  s.set_inertia(masses, 0.1, s.rest());
  BlockVector<double> x = s.rest(), force = s.zero();
  shake(s.lattice(), 0.2 * h, 2, x);
  Trace trace;
  trace.emplace_back("energy", std::vector{s.energy(x)});
  trace.emplace_back("force's energy", std::vector{s.force(x, force)});
  trace.emplace_back("force", numbers(force));
  s.linearise(x, Differential::projected);
  Hierarchy& levels = s.hierarchy();
  for (size_t l = 0; l < levels.levels(); ++l) {
    const Level& level = levels.level(l);
    trace.emplace_back("diagonal", numbers(level.inverse_diagonal));
    trace.emplace_back("eigenvalue", std::vector{level.largest_eigenvalue});
    // Element matrices by what they do: L and quaternions have no unique numbers where stretches
    // are equal.
    BlockVector<float> v(level.lattice().block_count()), y = v;
    for (size_t i = 0; i < v.size(); ++i)
      v[i] = level.inverse_diagonal[i] > 0 ? static_cast<float>(std::sin(double(i))) : 0;
    trace.emplace_back("form", std::vector{level.product(v, y)});
    trace.emplace_back("product", numbers(y));
    trace.emplace_back("norm", std::vector{level.residual(v, v, y)});
    trace.emplace_back("residual", numbers(y));
  }
  BlockVector<double> kf = s.zero();
  trace.emplace_back("form in double", std::vector{s.apply(force, kf)});
  trace.emplace_back("product in double", numbers(kf));
  LatticeBackend backend(levels);
  for (size_t i = 0; i < force.size(); ++i) levels.finest().b[i] = static_cast<float>(force[i]);
  multigrid_cycle(backend, Cycle{});
  trace.emplace_back("cycle", numbers(levels.finest().x));
  BlockVector<float> dx = s.zero_step();
  const LinearReport report = s.solve(force, dx, {});
  trace.emplace_back("conjugate gradients", numbers(dx));
  trace.emplace_back("iterations", std::vector{double(report.iterations)});
  NewtonWork<LatticeSystem> work(s);
  const NewtonReport newton = solve_newton(s, x, work, newton_options(1e-5, 4));
  trace.emplace_back("Newton", numbers(x));
  trace.emplace_back("Newton's energy", std::vector{newton.energy});
  return trace;
}

void expect_same_bits(bool eight_points) {
  set_thread_count(1);
  const Trace one = trace_solve(eight_points);
  for (const int threads : {2, 8}) {
    set_thread_count(threads);
    const Trace many = trace_solve(eight_points);
    ASSERT_EQ(one.size(), many.size());
    for (size_t i = 0; i < one.size(); ++i) {
      ASSERT_EQ(one[i].second.size(), many[i].second.size());
      EXPECT_EQ(0, std::memcmp(one[i].second.data(), many[i].second.data(),
                               one[i].second.size() * sizeof(double)))
          << one[i].first << " with " << threads << " threads";
    }
  }
  set_thread_count(0);
}

TEST(Determinism, SameBitsForAnyNumberOfThreads) { expect_same_bits(false); }

TEST(Determinism, SameBitsForAnyNumberOfThreadsWithEightPoints) { expect_same_bits(true); }

void expect_same_numbers(bool eight_points) {
  const Trace widest = trace_solve(eight_points);
  for (const std::string& target : simd_targets()) {
    set_widest_target(target);
    const Trace other = trace_solve(eight_points);
    ASSERT_EQ(widest.size(), other.size());
    for (size_t i = 0; i < widest.size(); ++i) {
      const auto &a = widest[i].second, &b = other[i].second;
      ASSERT_EQ(a.size(), b.size());
      double size = 0, error = 0;
      for (size_t k = 0; k < a.size(); ++k) {
        size = std::max(size, std::abs(a[k]));
        error = std::max(error, std::abs(a[k] - b[k]));
      }
      EXPECT_LE(error, 1e-5 * size) << widest[i].first << " on " << target;
    }
  }
  set_widest_target("");
}

TEST(Determinism, InstructionSetsAgree) { expect_same_numbers(false); }

TEST(Determinism, InstructionSetsAgreeWithEightPoints) { expect_same_numbers(true); }

// Large products are written past the cache, those of whole blocks by the sweep itself; here small
// ones are. Their sums are added up in another order then, the same one for any number of threads.
TEST(Determinism, ProductsPastTheCacheAreTheSame) {
  const LatticeCase c = make_case("sphere_030", 40);
  Hierarchy& levels = c.system->hierarchy();
  levels.linearise(c.interpolated, Differential::projected, true);
  Level& level = levels.finest();
  const SparseLattice& l = level.lattice();
  size_t whole = 0;
  for (size_t b = 0; b < l.block_count(); ++b)
    whole += is_whole(l.complete.data(), level.free.data(), b) ? 1 : 0;
  EXPECT_GT(whole, 20u);
  const auto compare = [&](auto zero, double digits) {
    auto x = zero, usual = zero, past = zero;
    double expected = 0, magnitude = 0;
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = std::sin(static_cast<float>(i)) * level.inverse_diagonal[i];
    level.streams_from = 1000000;
    const double usual_sum = level.product(x, usual);
    for (size_t i = 0; i < x.size(); ++i) {
      const double part = static_cast<double>(x[i]) * static_cast<double>(usual[i]);
      expected += part;
      magnitude += std::abs(part);
    }
    EXPECT_NEAR(usual_sum, expected, digits * magnitude);
    level.streams_from = 0;
    const double sum = level.product(x, past);
    EXPECT_NEAR(sum, expected, digits * magnitude);
    for (const int threads : {1, 2, 8}) {
      set_thread_count(threads);
      past.set_zero();
      EXPECT_EQ(level.product(x, past), sum);
      EXPECT_EQ(numbers(past), numbers(usual));
    }
    set_thread_count(0);
  };
  compare(c.system->zero(), 1e-14);
  compare(c.system->zero_step(), 1e-7);
}

// Blocks that wait for several tiles are finished by whichever comes last, again and again. In the
// last lattice a tile waits for one beside it that has more to do.
TEST(Determinism, SameBitsWhicheverTileComesLast) {
  const std::vector<Vec3i> ragged = ragged_cells(5, 22, 0.3);
  std::vector<std::pair<std::vector<Vec3i>, Vec3i>> lattices = {
      {ragged, {0, 0, 0}}, {ragged, {1, 0, 1}}, {ragged, {0, 2, 0}}, {ragged, {2, 2, 2}}};
  lattices.emplace_back(box_cells(17, 48, 16), Vec3i(2, 4, 2));
  for (const auto& [cells, shifts] : lattices) {
    LatticeSystem s(
        SparseLattice(cells, shifts), 0.1, [](const Vec3i&) { return CellMaterial{}; },
        [](const Vec3i& n) { return n[0] < -3; });
    s.linearise(s.rest(), Differential::projected);
    Level& level = s.hierarchy().finest();
    ASSERT_TRUE(level.extras.empty());
    std::array<BlockVector<float>, 8> x, y;
    BlockVector<float> sums = s.zero_step(), direction = sums;
    x.fill(sums);
    y.fill(sums);
    // Products and residuals of ever other vectors, then steps of a smoother, without a pause.
    const auto run = [&]() {
      for (size_t v = 0; v < x.size(); ++v)
        for (size_t i = 0; i < sums.size(); ++i)
          x[v][i] = std::sin(static_cast<float>(i + 7 * v)) * level.inverse_diagonal[i];
      direction.set_zero();
      const SmoothStep step{.b = y[0].data(),
                            .inverse_diagonal = level.inverse_diagonal.data(),
                            .before = direction.data(),
                            .direction = direction.data(),
                            .x = x[0].data(),
                            .momentum = 0.3f,
                            .weight = 0.7f};
      std::vector<double> all;
      for (size_t v = 0; v < x.size(); v += 2) {
        all.push_back(level.product(x[v], y[v]));
        all.push_back(level.residual(y[v], x[v + 1], y[v + 1]));
      }
      for (int i = 0; i < 5; ++i) level.smooth(step, x[0], sums);
      for (const BlockVector<float>& v : y) all.insert(all.end(), v.data(), v.data() + v.size());
      all.insert(all.end(), x[0].data(), x[0].data() + x[0].size());
      return all;
    };
    set_thread_count(1);
    const std::vector<double> one = run();
    for (const int threads : {2, 3, 8}) {
      set_thread_count(threads);
      for (int i = 0; i < 20; ++i) ASSERT_EQ(run(), one) << threads << " threads, turn " << i;
    }
    set_thread_count(0);
  }
}

}  // namespace
}  // namespace supple::testing
