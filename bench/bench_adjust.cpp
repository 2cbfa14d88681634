// What adjusting dynamics costs: the stomping wrestler (tetrahedra) and the dancing pomelo
// (lattice) without and with scaled inertia, frame by frame in turn, so that both see the same
// machine; and linear solvers of implicit tetrahedra side by side.
#include <benchmark/benchmark.h>

#include <ctime>

#include "actors/cast.h"
#include "actors/wrestler.h"
#include "supple/core/bytes.h"
#include "supple/io/scene_file.h"
#include "supple/sim/implicit_tet_body.h"
#include "supple/sim/session.h"
#include "support/tet_boxes.h"

namespace supple {
namespace {

constexpr int frames = 40;  // the lift of a leg, and the stomp

struct Costs {
  double plain_cpu = 0, adjusted_cpu = 0;  // processor time of all threads, seconds
  double plain = 0, adjusted = 0;          // seconds
  double equilibrium = 0, inertia = 0;     // of the adjusted one's
  double elements = 0, iterations = 0, newton = 0, adjusted_newton = 0;
};

double seconds_of(const FrameReport& report, std::string_view stage) {
  for (const auto& [name, seconds] : report.stages.stages())
    if (name == stage) return seconds;
  return 0;
}

// Both bodies, a frame of one after a frame of the other.
Costs costs_of(const actors::CastMember& member, const std::string& body, const char* cells) {
  const auto character = std::make_shared<Character>(member.make(8000));
  const auto session = [&](double inertia) {
    const std::string text = R"({"character": "x.glb", "body": )" + body + "}";
    Scene scene = parse_scene(as_bytes(text), "bench");
    scene.frames.last = frames;
    scene.frames.rate = 24;
    scene.body.adjust.inertia = inertia;
    return std::make_unique<Session>(character, scene, &character->clips[0], "bench");
  };
  auto plain = session(1), adjusted = session(0.5);
  Costs costs;
  FrameRecord record;
  plain->advance(record);
  adjusted->advance(record);
  while (!plain->done()) {
    const std::clock_t begin = std::clock();
    const FrameReport a = plain->advance(record);
    const std::clock_t middle = std::clock();
    const FrameReport b = adjusted->advance(record);
    costs.plain_cpu += static_cast<double>(middle - begin) / CLOCKS_PER_SEC;
    costs.adjusted_cpu += static_cast<double>(std::clock() - middle) / CLOCKS_PER_SEC;
    costs.plain += seconds_of(a, "step");
    costs.adjusted += seconds_of(b, "step");
    costs.equilibrium += seconds_of(b, "step/equilibrium");
    costs.inertia += seconds_of(b, "step/inertia");
    costs.newton += a.iterations;
    costs.adjusted_newton += b.iterations;
  }
  for (const BodyFact& fact : plain->body().facts())
    if (fact.name == cells) costs.elements = fact.value;
  return costs;
}

const Costs& stomp_costs() {
  static const Costs costs =
      costs_of(actors::wrestler(), actors::wrestler().scenes[0].body, "elements");
  return costs;
}

// The dance of the demo character on the lattice, with contact.
const Costs& dance_costs() {
  static const Costs costs = [] {
    for (const actors::CastMember& member : actors::cast())
      if (member.name == "pomelo")
        return costs_of(member,
                        R"({"type": "lattice", "budget": 5000, "young": 20000, "substeps": 4,
          "lattice": {"integrator": "tr_bdf2", "stiffness_damping": 0.01}})",
                        "cells");
    return Costs();
  }();
  return costs;
}

void count(benchmark::State& state, const Costs& costs) {
  state.counters["elements"] = costs.elements;
  state.counters["substeps"] = 4;
  state.counters["frames"] = frames - 1;
  state.counters["newton_per_frame"] = costs.newton / (frames - 1);
}

void plain_frame(benchmark::State& state, const Costs& (*find)()) {
  const Costs& costs = find();
  for (auto _ : state) state.SetIterationTime(costs.plain / (frames - 1));
  count(state, costs);
}

void adjusted_frame(benchmark::State& state, const Costs& (*find)()) {
  const Costs& costs = find();
  for (auto _ : state) state.SetIterationTime(costs.adjusted / (frames - 1));
  count(state, costs);
  // Processor time is the one to trust on a machine that others use as well.
  state.counters["cpu_overhead_percent"] = 100 * (costs.adjusted_cpu / costs.plain_cpu - 1);
  state.counters["overhead_percent"] = 100 * (costs.adjusted / costs.plain - 1);
  state.counters["equilibrium_percent"] = 100 * costs.equilibrium / costs.plain;
  state.counters["adjusted_newton_per_frame"] = costs.adjusted_newton / (frames - 1);
  state.counters["inertia_percent"] = 100 * costs.inertia / costs.plain;
}

// A bent bar of soft matter: one linear solve to 1e-3 in equilibrium (rate 0) and in a step.
void linear_solve(benchmark::State& state, TetPreconditioner kind, double rate) {
  TetSystemModel model;
  model.mesh = box_of_tets(8, 24, 8, 0.02, 0.1);
  model.matter.law = Law::stvk_volume;
  model.masses.assign(model.mesh.positions.size(), 0);
  for (const Vec4i& tet : model.mesh.tets) {
    const double volume = six_volumes(model.mesh, tet) / 6;
    model.matter.volumes.push_back(volume);
    model.matter.materials.push_back(lame_moduli(3e4, 0.4));
    for (int c = 0; c < 4; ++c) model.masses[static_cast<size_t>(tet[c])] += 1000 * volume / 4;
  }
  for (size_t n = 0; n < model.mesh.positions.size(); ++n)
    if (model.mesh.positions[n].y() < 0.01) {
      const auto node = static_cast<int32_t>(n);
      model.held.push_back({{node, node, node, node}, {1, 0, 0, 0}});
    }
  TetSystem system(model, "bench");
  TetVector x = system.rest(), force = system.zero(), dx = force;
  for (size_t n = 0; n < system.nodes(); ++n) {
    // Rolled up to a quarter of a circle.
    const double angle = x.node(n)[1] / 0.3, out = 0.3 + x.node(n)[0];
    x.node(n)[0] = out * std::cos(angle) - 0.3;
    x.node(n)[1] = out * std::sin(angle);
    if (!system.holds().is_dependent(n)) force.node(n)[1] = -9.81 * model.masses[n];
  }
  if (rate > 0) system.set_stage(rate, x, x);
  int iterations = 0;
  for (auto _ : state) {
    system.linearise(x, Differential::projected);
    iterations = system.solve(force, dx, {{1e-3, 2000}, kind}).iterations;
  }
  state.counters["iterations"] = iterations;
  state.counters["elements"] = static_cast<double>(model.mesh.tets.size());
}

#define SUPPLE_FRAMES(name, find)               \
  BENCHMARK_CAPTURE(plain_frame, name, find)    \
      ->Name(#name "/plain")                    \
      ->UseManualTime()                         \
      ->Iterations(1)                           \
      ->Unit(benchmark::kMillisecond);          \
  BENCHMARK_CAPTURE(adjusted_frame, name, find) \
      ->Name(#name "/adjusted")                 \
      ->UseManualTime()                         \
      ->Iterations(1)                           \
      ->Unit(benchmark::kMillisecond)
SUPPLE_FRAMES(sumo, stomp_costs);
SUPPLE_FRAMES(lattice, dance_costs);
#define SUPPLE_SOLVER(kind)                                                       \
  BENCHMARK_CAPTURE(linear_solve, equilibrium_##kind, TetPreconditioner::kind, 0) \
      ->Unit(benchmark::kMillisecond);                                            \
  BENCHMARK_CAPTURE(linear_solve, step_##kind, TetPreconditioner::kind, 328)      \
      ->Unit(benchmark::kMillisecond)
SUPPLE_SOLVER(turned_factor);
SUPPLE_SOLVER(fresh_factor);
SUPPLE_SOLVER(diagonal);

}  // namespace
}  // namespace supple
