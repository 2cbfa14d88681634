// Surfaces that keep their shape and volume: steps of a cube that is thrown about [Diziol 2011,
// table 2], by sums along paths and particle by particle, wide on all threads and plain on one, and
// of a lattice of as many particles; how the time grows with the number of particles; and how a bar
// bends both ways [Diziol 2011, figure 8].
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <Eigen/LU>

#include "lattice_matching.h"
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

// Steps of a lattice of 31³ particles, thrown the same way.
void lattice_step(benchmark::State& state, int width, bool fast) {
  LatticeMatching lattice({31, 31, 31}, 2.0f / 30, width, fast);
  for (size_t i = 0; i < lattice.rest.size(); ++i)
    lattice.velocities[i] = Vec3f(1, 2, 3).cross(lattice.rest[i]);
  const std::vector<Vec3f> positions = lattice.positions, velocities = lattice.velocities;
  int steps = 0;
  for (auto _ : state) {
    if (steps++ % 20 == 0) {
      lattice.positions = positions;
      lattice.velocities = velocities;
    }
    lattice.step(0.005f, {0, -9.81f, 0});
  }
  state.counters["particles"] = static_cast<double>(lattice.rest.size());
}

// A bar of 3 x 0.6 x 0.6 m that is held at one end bends under its weight: how far its other end
// goes down at most in a second, and how much its volume changes on the way.
constexpr double bar_edge = 0.1, bar_gravity = 1;

void bend_surface(benchmark::State& state, int width, bool keep_volume) {
  const TriangleMesh box = box_surface({3, 0.6, 0.6}, bar_edge);
  const TriangleMesh mesh =
      welded_mesh(weld_by_position(box.positions), box.positions, box.triangles);
  SurfaceObject object{mesh.positions, mesh.triangles, {}, {}};
  object.parameters.region_width = width;
  object.parameters.damping = 0;
  object.parameters.keep_volume = keep_volume;
  const SurfaceModel model(std::span(&object, 1));
  std::vector<float> held;
  for (const Vec3f& p : model.rest) held.push_back(p[0] < -1.45f ? 1.0f : 0.0f);
  double lowest = 0, change = 0;
  const double rest = signed_volume(model.rest, model.triangles);
  for (auto _ : state) {
    SurfaceState now(model);
    SurfaceSolver solver(model);
    solver.set_pulls({model.rest, held});
    for (int step = 0; step < 200; ++step) {
      solver.step(now, 0.005, {0, -bar_gravity, 0});
      for (size_t i = 0; i < model.size(); ++i)
        if (model.rest[i][0] > 1.45f)
          lowest = std::min(lowest, static_cast<double>(now.positions[i][1] - model.rest[i][1]));
      change = std::max(change, std::abs(signed_volume(now.positions, model.triangles) / rest - 1));
    }
  }
  state.counters["particles"] = static_cast<double>(model.size());
  state.counters["sag"] = -lowest;
  state.counters["volume_change"] = change;
}

void bend_lattice(benchmark::State& state, int width) {
  double lowest = 0, change = 0;
  size_t count = 0;
  const Vec3i size(31, 7, 7);
  for (auto _ : state) {
    LatticeMatching lattice(size, static_cast<float>(bar_edge), width, true);
    count = lattice.rest.size();
    for (size_t i = 0; i < count; ++i) lattice.held[i] = lattice.rest[i][0] < 0.05f ? 1 : 0;
    const auto at = [&](int x, int y, int z) {
      return lattice.positions[static_cast<size_t>((z * size[1] + y) * size[0] + x)].cast<double>();
    };
    for (int step = 0; step < 200; ++step) {
      lattice.step(0.005f, {0, -static_cast<float>(bar_gravity), 0});
      double volume = 0;
      // Cells as parallelepipeds of their mean edges.
      for (int z = 0; z + 1 < size[2]; ++z)
        for (int y = 0; y + 1 < size[1]; ++y)
          for (int x = 0; x + 1 < size[0]; ++x) {
            Mat3d edges = Mat3d::Zero();
            for (int c = 0; c < 4; ++c) {
              const int a = c & 1, b = c >> 1;
              edges.col(0) += (at(x + 1, y + a, z + b) - at(x, y + a, z + b)) / 4;
              edges.col(1) += (at(x + a, y + 1, z + b) - at(x + a, y, z + b)) / 4;
              edges.col(2) += (at(x + a, y + b, z + 1) - at(x + a, y + b, z)) / 4;
            }
            volume += edges.determinant();
          }
      change = std::max(change, std::abs(volume / (3 * 0.6 * 0.6) - 1));
      for (size_t i = 0; i < count; ++i)
        if (lattice.rest[i][0] > 2.95f)
          lowest =
              std::min(lowest, static_cast<double>(lattice.positions[i][1] - lattice.rest[i][1]));
    }
  }
  state.counters["particles"] = static_cast<double>(count);
  state.counters["sag"] = -lowest;
  state.counters["volume_change"] = change;
}

void add_all() {
  const auto ms = benchmark::kMillisecond;
  for (int width = 1; width <= 5; ++width) {
    add(fmt::format("step/fast/30k/omega:{}", width), {.width = width});
    add(fmt::format("step/naive/30k/omega:{}", width), {.width = width, .sums = RegionSums::naive});
    for (const bool fast : {true, false})
      benchmark::RegisterBenchmark(
          fmt::format("lattice/{}/30k/omega:{}", fast ? "fast" : "naive", width).c_str(),
          lattice_step, width, fast)
          ->Unit(ms)
          ->UseRealTime();
  }
  add("step/fast_scalar_1thread/30k/omega:3", {.scalar = true});
  add("step/fast_undamped/30k/omega:3", {.damping = 0});
  for (const auto& [name, particles] :
       {std::pair{"30k", 30000.0}, {"120k", 120000.0}, {"480k", 480000.0}})
    add(fmt::format("step/fast/{}", name), {.particles = particles});
  for (int width = 1; width <= 4; ++width) {
    const auto name = [&](const char* what) {
      return fmt::format("bend/{}/omega:{}", what, width);
    };
    benchmark::RegisterBenchmark(name("surface").c_str(), bend_surface, width, true)
        ->Unit(ms)
        ->Iterations(1);
    benchmark::RegisterBenchmark(name("surface_no_volume").c_str(), bend_surface, width, false)
        ->Unit(ms)
        ->Iterations(1);
    benchmark::RegisterBenchmark(name("lattice").c_str(), bend_lattice, width)
        ->Unit(ms)
        ->Iterations(1);
  }
}

const bool added = (add_all(), true);

}  // namespace
}  // namespace supple
