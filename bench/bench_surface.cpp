// Surfaces that keep their shape and volume: steps of a cube that is thrown about [Diziol 2011,
// table 2], by sums along paths and particle by particle, wide on all threads and plain on one;
// how the time grows with the number of particles; and what the parts of a step take.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "supple/core/parallel.h"
#include "supple/math/simd.h"
#include "supple/mesh/primitives.h"
#include "supple/mesh/weld.h"
#include "supple/surface/surface_solver.h"

namespace supple {
namespace {

// A cube of side 2 m of about as many particles.
TriangleMesh cube(double particles) {
  const TriangleMesh box = box_surface({2, 2, 2}, 2 / std::sqrt(particles / 6));
  return welded_mesh(weld_by_position(box.positions), box.positions, box.triangles);
}

// Thrown, bent and spinning, so that there is something to match and a volume to restore.
SurfaceState thrown(const SurfaceModel& model) {
  SurfaceState state(model);
  for (size_t i = 0; i < model.size(); ++i) {
    Vec3f& p = state.positions[i];
    p[0] += 0.1f * std::sin(3 * p[1]);
    state.velocities[i] = Vec3f(1, 2, 3).cross(p) + Vec3f(0, 0, 0.5f * std::sin(5 * p[0]));
  }
  return state;
}

struct StepCase {
  double particles = 30000;
  int width = 3;
  RegionSums sums = RegionSums::fast;
  double damping = 0.1;
  bool scalar = false;  // plain code on one thread
};

void step(benchmark::State& state, const StepCase& how) {
  const TriangleMesh mesh = cube(how.particles);
  SurfaceObject object{mesh.positions, mesh.triangles, {}, {}};
  object.parameters.region_width = how.width;
  object.parameters.damping = how.damping;
  const SurfaceModel model(std::span(&object, 1));
  SurfaceSolver solver(model);
  solver.use(how.sums);
  if (how.scalar) {
    set_widest_target(simd_targets().back());
    set_thread_count(1);
  }
  const SurfaceState start = thrown(model);
  SurfaceState now = start;
  int steps = 0, corrections = 0;
  double worst = 0;
  for (auto _ : state) {
    if (steps++ % 20 == 0) now = start;
    const VolumeReport report = solver.step(now, 0.005, {0, -9.81, 0});
    corrections += report.iterations;
    worst = std::max(worst, report.error);
  }
  set_widest_target("");
  set_thread_count(0);
  const auto count = static_cast<double>(model.size());
  state.counters["particles"] = count;
  state.counters["intervals"] = static_cast<double>(model.regions.intervals.size()) / count;
  state.counters["corrections"] = corrections / static_cast<double>(steps);
  state.counters["volume_error"] = worst;
  state.counters["per_particle"] = benchmark::Counter(
      count, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void add(const std::string& name, const StepCase& how) {
  benchmark::RegisterBenchmark(name.c_str(), step, how)
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
}

void add_all() {
  for (int width = 1; width <= 5; ++width) {
    add(fmt::format("step/fast/30k/omega:{}", width), {.width = width});
    add(fmt::format("step/naive/30k/omega:{}", width), {.width = width, .sums = RegionSums::naive});
  }
  add("step/fast_scalar_1thread/30k/omega:3", {.scalar = true});
  add("step/fast_undamped/30k/omega:3", {.damping = 0});
  for (const auto& [name, particles] :
       {std::pair{"30k", 30000.0}, {"120k", 120000.0}, {"480k", 480000.0}})
    add(fmt::format("step/fast/{}", name), {.particles = particles});
}

const bool added = (add_all(), true);

}  // namespace
}  // namespace supple
