// The lattice's kernels and solvers: products against copying memory, V-cycles, linear solves
// against Jacobi-preconditioned conjugate gradients on the same operator, and Newton's method.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>

#include "lattice/lattice_cases.h"
#include "supple/core/parallel.h"
#include "supple/core/timer.h"
#include "supple/solve/newton.h"

namespace supple {
namespace {

using testing::LatticeCase;
using testing::make_case;

// The case of the last benchmark: building one takes longer than running it.
LatticeCase& shared_case(const std::string& name, int n) {
  static std::string key;
  static LatticeCase current;
  const std::string wanted = name + "/" + std::to_string(n);
  if (key != wanted) {
    current = {};
    current = make_case(name, n);
    key = wanted;
  }
  return current;
}

double cells_of(const LatticeCase& c) {
  return static_cast<double>(c.system->lattice().cell_count());
}

// Copies `bytes` / 2 bytes from one place to another, by all threads.
class Copy {
 public:
  explicit Copy(size_t bytes) : m_from(bytes / 2, 1), m_to(bytes / 2, 2) {}

  // Read and write counted.
  double bytes() const { return static_cast<double>(2 * m_from.size()); }

  void run() {
    parallel_for(m_from.size(), size_t{1} << 17, [&](size_t begin, size_t end) {
      std::memcpy(m_to.data() + begin, m_from.data() + begin, end - begin);
    });
  }

 private:
  std::vector<char> m_from, m_to;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// y = K x. Algorithmic bytes per cell: 12 numbers of its linearisation, 3 read and 3 written.
void apply(benchmark::State& state, int n) {
  LatticeCase& c = shared_case("twist_030", n);
  c.system->hierarchy().linearise(c.interpolated, Differential::projected, true);
  const Level& level = c.system->hierarchy().finest();
  BlockVector<float> x = level.inverse_diagonal, y = c.system->zero_step();
  for (auto _ : state) benchmark::DoNotOptimize(level.product(x, y));
  // How fast memory is changes from second to second on shared machines: products and copies take
  // turns, and the median of what a turn's product reaches of its copy is reported, beside the
  // medians of both. A turn is one product of 128³ cells, or as many small ones.
  const double bytes = cells_of(c) * 72;
  const int repeats = std::max(1, static_cast<int>((1 << 21) / cells_of(c)));
  Copy copy(static_cast<size_t>(bytes));
  std::vector<double> products, copies, ratios;
  for (int i = 0; i < 201; ++i) {
    level.product(x, y);
    const Stopwatch watch;
    for (int r = 0; r < repeats; ++r) level.product(x, y);
    products.push_back(repeats * bytes / watch.seconds());
    copy.run();
    const Stopwatch copying;
    for (int r = 0; r < repeats; ++r) copy.run();
    copies.push_back(repeats * copy.bytes() / copying.seconds());
    ratios.push_back(products.back() / copies.back());
  }
  state.counters["bytes_per_second"] = median(products);
  state.counters["copy_bytes_per_second"] = median(copies);
  state.counters["percent_of_copy"] = 100 * median(ratios);
  state.counters["percent_of_medians"] = 100 * median(products) / median(copies);
  state.counters["ns_per_cell"] = 1e9 * bytes / median(products) / cells_of(c);
  state.counters["threads"] = thread_count();
}

// y = K x at all sizes in turns, as machines change from second to second: nanoseconds per cell,
// medians and the least, and the median of what a size takes of 128³ in the same turn.
void apply_in_turns(benchmark::State& state) {
  const std::vector<int> sizes = {16, 32, 64, 128, 256};
  struct Size {
    LatticeCase lattice;
    BlockVector<float> x, y;
    std::vector<double> times = {};  // of a cell, in nanoseconds
  };
  std::vector<Size> all;
  for (const int n : sizes) {
    LatticeCase c = testing::make_case("twist_030", n);
    c.system->hierarchy().linearise(c.interpolated, Differential::projected, true);
    const BlockVector<float> x = c.system->hierarchy().finest().inverse_diagonal;
    all.push_back({std::move(c), x, x});
  }
  for (auto _ : state)
    for (Size& size : all) {
      const Level& level = size.lattice.system->hierarchy().finest();
      const double cells = cells_of(size.lattice);
      const int repeats = std::max(1, static_cast<int>((1 << 21) / cells));
      level.product(size.x, size.y);
      const Stopwatch watch;
      for (int r = 0; r < repeats; ++r) level.product(size.x, size.y);
      size.times.push_back(1e9 * watch.seconds() / (repeats * cells));
    }
  for (size_t i = 0; i < sizes.size(); ++i) {
    const std::vector<double>& times = all[i].times;
    std::vector<double> of_128;
    for (size_t turn = 0; turn < times.size(); ++turn)
      of_128.push_back(times[turn] / all[3].times[turn]);
    const std::string n = std::to_string(sizes[i]);
    state.counters["ns_" + n] = median(times);
    state.counters["least_" + n] = *std::min_element(times.begin(), times.end());
    state.counters["of_128_" + n] = median(of_128);
  }
}

// One V-cycle with ten damped Jacobi sweeps before and ten after each coarse correction.
void vcycle(benchmark::State& state, int n) {
  LatticeCase& c = shared_case("twist_030", n);
  Hierarchy& hierarchy = c.system->hierarchy();
  hierarchy.linearise(c.interpolated, Differential::projected);
  LatticeBackend backend(hierarchy);
  const Cycle cycle{.smoother = {.kind = Smoother::Kind::jacobi, .steps = 10}, .twice = 0};
  hierarchy.finest().b = hierarchy.finest().inverse_diagonal;
  for (auto _ : state) multigrid_cycle(backend, cycle);
  state.counters["levels"] = static_cast<double>(hierarchy.levels());
}

// Iterations to a relative residual, with vectors in double precision.
void count_iterations(benchmark::State& state, LatticeCase& c, LinearMethod method) {
  LinearSolver<double> solver(c.system->hierarchy());
  BlockVector<double> b = c.system->zero(), x = c.system->zero();
  c.system->force(c.interpolated, b);
  const LinearReport report = solver.solve(b, x,
                                           {.method = method,
                                            .limits = {.tolerance = 1e-6, .iterations = 3000},
                                            .keep_residuals = true});
  const auto first = std::find_if(report.residuals.begin(), report.residuals.end(),
                                  [](double r) { return r <= 1e-3; });
  state.counters["iterations_1e3"] = static_cast<double>(first - report.residuals.begin() + 1);
  state.counters["iterations_1e6"] = report.residual <= 1e-6 ? report.iterations : -1;
}

// Linearisation and solve to 1e-3.
void linear(benchmark::State& state, const std::string& name, int n, LinearMethod method) {
  LatticeCase& c = shared_case(name, n);
  LatticeSystem& system = *c.system;
  BlockVector<double> force = system.zero();
  BlockVector<float> dx = system.zero_step();
  system.force(c.interpolated, force);
  LinearOptions options;
  options.method = method;
  options.limits = {.tolerance = 1e-3, .iterations = 3000};
  const bool finest_only = method != LinearMethod::multigrid_cg;
  for (auto _ : state) {
    system.hierarchy().linearise(c.interpolated, Differential::projected, finest_only);
    system.solve(force, dx, options);
  }
  count_iterations(state, c, method);
  state.counters["cells"] = cells_of(c);
}

// How many times as long Jacobi-preconditioned conjugate gradients take as multigrid, both with
// linearisation, in turns.
void against_jacobi(benchmark::State& state, const std::string& name, int n) {
  LatticeCase& c = shared_case(name, n);
  LatticeSystem& system = *c.system;
  BlockVector<double> force = system.zero();
  BlockVector<float> dx = system.zero_step();
  system.force(c.interpolated, force);
  const auto seconds = [&](LinearMethod method) {
    LinearOptions options;
    options.method = method;
    options.limits = {.tolerance = 1e-3, .iterations = 3000};
    const Stopwatch watch;
    system.hierarchy().linearise(c.interpolated, Differential::projected,
                                 method != LinearMethod::multigrid_cg);
    system.solve(force, dx, options);
    return watch.seconds();
  };
  std::vector<double> ours, ratios;
  for (auto _ : state) {
    // Twice before and twice after, as the speed of shared machines changes while Jacobi runs.
    const auto twice = [&] {
      return seconds(LinearMethod::multigrid_cg) + seconds(LinearMethod::multigrid_cg);
    };
    const double before = twice(), theirs = seconds(LinearMethod::jacobi_cg), after = twice();
    ours.push_back((before + after) / 4);
    ratios.push_back(theirs / ours.back());
  }
  state.counters["multigrid_ms"] = 1e3 * median(ours);
  state.counters["times_faster"] = median(ratios);
  state.counters["least"] = *std::min_element(ratios.begin(), ratios.end());
  state.counters["most"] = *std::max_element(ratios.begin(), ratios.end());
}

void newton(benchmark::State& state, const std::string& name, int n, bool jump) {
  LatticeCase& c = shared_case(name, n);
  NewtonWork<LatticeSystem> work(*c.system);
  NewtonOptions<LinearOptions> options;
  options.iterations = 100;
  options.linear.limits.tolerance = 1e-2;
  NewtonReport report;
  for (auto _ : state) {
    BlockVector<double> x = jump ? c.jump : c.interpolated;
    report = solve_newton(*c.system, x, work, options);
  }
  state.counters["iterations_1e3"] = report.iterations;
  state.counters["linear_iterations"] = report.linear_iterations;
  state.counters["converged"] = report.converged;
}

void register_all() {
  using benchmark::RegisterBenchmark;
  const auto timed = [](benchmark::internal::Benchmark* b) {
    return b->Unit(benchmark::kMillisecond);
  };
  const auto named = [](const std::string& a, const std::string& name, int n) {
    return a + "/" + name + "/" + std::to_string(n);
  };
  for (const int n : {16, 32, 64, 128, 256})
    timed(RegisterBenchmark(("apply/" + std::to_string(n)).c_str(),
                            [n](benchmark::State& s) { apply(s, n); }));
  timed(RegisterBenchmark("apply_in_turns", apply_in_turns))->Iterations(61);
  for (const int n : {32, 64})
    timed(RegisterBenchmark(("vcycle_jacobi10/" + std::to_string(n)).c_str(),
                            [n](benchmark::State& s) { vcycle(s, n); }));
  const std::vector<std::string> cases = {"stretch_030", "twist_030",   "stretch_045", "twist_045",
                                          "sphere_030",  "sphere_045",  "tube_030",    "tube_045",
                                          "springs_1",   "springs_100", "compress_045"};
  for (const std::string& name : cases)
    for (const int n : {16, 32, 64, 128}) {
      timed(RegisterBenchmark(named("mgcg", name, n).c_str(), [=](benchmark::State& s) {
        linear(s, name, n, LinearMethod::multigrid_cg);
      }));
      timed(RegisterBenchmark(named("pcg", name, n).c_str(), [=](benchmark::State& s) {
        linear(s, name, n, LinearMethod::jacobi_cg);
      }));
    }
  timed(RegisterBenchmark("mgcg/twist_030/256", [](benchmark::State& s) {
    linear(s, "twist_030", 256, LinearMethod::multigrid_cg);
  }));
  for (const int n : {64, 128})
    timed(RegisterBenchmark(named("mgcg_against_pcg", "twist_030", n).c_str(),
                            [=](benchmark::State& s) { against_jacobi(s, "twist_030", n); }))
        ->Iterations(n > 64 ? 5 : 21);
  for (const std::string& name : cases)
    for (const int n : {16, 32, 64})
      for (const bool jump : {false, true})
        timed(RegisterBenchmark(named("newton", name + (jump ? "_jump" : ""), n).c_str(),
                                [=](benchmark::State& s) { newton(s, name, n, jump); }));
}

const bool registered = (register_all(), true);

}  // namespace
}  // namespace supple
