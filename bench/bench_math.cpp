// Memory bandwidth of this machine as parallel loops see it: what every memory-bound kernel is
// compared with.
#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

#include "supple/core/parallel.h"
#include "supple/core/timer.h"

namespace {

// Copies `range(0)` megabytes on all threads; bytes_per_second counts bytes read and written,
// by the wall clock.
void copy(benchmark::State& state) {
  const size_t bytes = static_cast<size_t>(state.range(0)) << 20;
  std::vector<char> from(bytes, 1), to(bytes, 2);
  const supple::Stopwatch watch;
  for (auto _ : state) {
    supple::parallel_for(bytes, size_t{1} << 17, [&](size_t begin, size_t end) {
      std::memcpy(to.data() + begin, from.data() + begin, end - begin);
    });
    benchmark::ClobberMemory();
  }
  state.counters["bytes_per_second"] =
      2 * static_cast<double>(bytes) * static_cast<double>(state.iterations()) / watch.seconds();
  state.counters["threads"] = supple::thread_count();
}

BENCHMARK(copy)->Arg(1)->Arg(4)->Arg(16)->Arg(64)->Arg(256);

}  // namespace
