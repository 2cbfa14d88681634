// Heaps of soft things, contact included [Diziol 2011, figure 1 and table 1]: simulated seconds per
// second, and the largest part of its volume that any object lost.
#include <benchmark/benchmark.h>

#include <chrono>

#include "actors/toy_scenes.h"
#include "supple/sim/session.h"
#include "supple/sim/surface_body.h"

namespace supple {
namespace {

// A whole scene, over and over.
void heap(benchmark::State& timer, const char* name) {
  const actors::StagedToys staged = actors::stage_toys(name);
  double simulated = 0, lost = 0, particles = 0, steps = 0;
  double parts[3] = {};  // seconds of matching, contact and volumes
  for (auto _ : timer) {
    Session session(staged.character, staged.scene, nullptr, name);
    const auto& body = dynamic_cast<const SurfaceBody&>(session.body());
    FrameRecord record;
    session.advance(record);  // sets up, takes no time
    const auto begin = std::chrono::steady_clock::now();
    while (!session.done()) {
      const FrameReport report = session.advance(record);
      lost = std::max(lost, report.residual);
      steps += report.iterations;
      for (const auto& [stage, seconds] : report.stages.stages())
        for (int k = 0; k < 3; ++k) {
          constexpr const char* names[] = {"step/match", "step/contact", "step/volume"};
          if (stage == names[k]) parts[k] += seconds;
        }
    }
    timer.SetIterationTime(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    simulated += (session.range().count() - 1) / session.range().rate;
    particles = static_cast<double>(body.model().size());
  }
  timer.counters["realtime_factor"] = benchmark::Counter(simulated, benchmark::Counter::kIsRate);
  timer.counters["particles"] = particles;
  timer.counters["volume_loss_percent"] = 100 * lost;
  timer.counters["match_ms"] = 1e3 * parts[0] / steps;
  timer.counters["contact_ms"] = 1e3 * parts[1] / steps;
  timer.counters["volume_ms"] = 1e3 * parts[2] / steps;
}

BENCHMARK_CAPTURE(heap, creatures, "creatures")
    ->Name("heap/creatures")
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(heap, ducks, "ducks")
    ->Name("heap/ducks")
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(heap, balls, "balls")
    ->Name("heap/balls")
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace supple
