// Short parallel loops: two blocks that take `range(0)` microseconds each, on two threads, by our
// own threads and by oneTBB's.
#include <benchmark/benchmark.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <vector>

#include "supple/core/parallel.h"
#include "supple/core/timer.h"

namespace {

void busy_for(double seconds) {
  const supple::Stopwatch watch;
  while (watch.seconds() < seconds) {
  }
}

// The median of loops in microseconds: `range(0)` if both threads begin and end at once.
template <class Loop>
void measure(benchmark::State& state, const Loop& loop) {
  const double seconds = 1e-6 * static_cast<double>(state.range(0));
  std::vector<double> times;
  for (auto _ : state) {
    const supple::Stopwatch watch;
    loop(seconds);
    times.push_back(watch.seconds());
  }
  const auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  state.counters["median_us"] = 1e6 * *middle;
}

void loop_team(benchmark::State& state) {
  measure(state, [](double seconds) {
    supple::parallel_for(2, 1, [&](size_t, size_t) { busy_for(seconds); });
  });
}

void loop_tbb(benchmark::State& state) {
  measure(state, [](double seconds) {
    tbb::parallel_for(tbb::blocked_range<size_t>(0, 2), [&](const auto& range) {
      for (size_t i = range.begin(); i != range.end(); ++i) busy_for(seconds);
    });
  });
}

BENCHMARK(loop_team)->Name("loop/team")->Arg(1)->Arg(3)->Arg(10)->Arg(30)->UseRealTime();
BENCHMARK(loop_tbb)->Name("loop/tbb")->Arg(1)->Arg(3)->Arg(10)->Arg(30)->UseRealTime();

}  // namespace
