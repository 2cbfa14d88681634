// Characters with flesh and contact, a frame of simulation each: 30,000 and 106,000 cells of a
// dancing creature, and a hand of 117,000 that makes a fist [McAdams 2011, table 1: 3.22, 5.48 and
// 12.6 s a frame]. Counters have the seconds of every stage of a step.
#include <benchmark/benchmark.h>

#include <string>

#include "actors/cast.h"
#include "supple/core/log.h"
#include "supple/core/timer.h"
#include "supple/sim/lattice_body.h"
#include "supple/sim/session.h"

namespace {

using namespace supple;

constexpr int settled = 4;  // frames before the clock starts

// Whether flesh has inertia or every frame is an equilibrium.
enum class Kind { dynamic, quasistatic };

void frame(benchmark::State& state, size_t actor, const char* clip_name, double start, int budget,
           int vertices, Kind kind) {
  const auto character = std::make_shared<Character>(actors::cast()[actor].make(vertices));
  const Clip* clip = nullptr;
  for (const Clip& own : character->clips)
    if (own.name == clip_name) clip = &own;
  Scene scene;
  scene.body.type = "lattice";
  scene.body.budget = budget;
  scene.body.dynamic = kind == Kind::dynamic;
  scene.frames.start = start;
  scene.frames.rate = 24;
  scene.frames.last = settled + static_cast<int>(state.max_iterations);
  Session session(character, scene, clip, "bench");
  FrameRecord record;
  for (int i = 0; i < settled; ++i) session.advance(record);
  StageTimes stages;
  double iterations = 0, slowest = 0;
  for (auto _ : state) {
    const FrameReport report = session.advance(record);
    stages.add(report.stages);
    iterations += report.iterations;
    slowest = std::max(slowest, report.seconds);
  }
  const auto frames = static_cast<double>(state.iterations());
  for (const auto& [name, seconds] : stages.stages()) state.counters[name] = seconds / frames;
  state.counters["newton"] = iterations / frames;
  state.counters["slowest"] = slowest;
  for (const BodyFact& fact : session.body().facts())
    if (fact.name == "cells") state.counters["cells"] = fact.value;
}

// A dance of Pomelo; the fist of the forearm while the fingers close.
BENCHMARK_CAPTURE(frame, 30k, 0, "dance", 1.0, 30000, 35000, Kind::dynamic)
    ->Iterations(24)
    ->UseRealTime()
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(frame, 30k_quasistatic, 0, "dance", 1.0, 30000, 35000, Kind::quasistatic)
    ->Iterations(12)
    ->UseRealTime()
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(frame, 106k, 0, "dance", 1.0, 106000, 35000, Kind::dynamic)
    ->Iterations(12)
    ->UseRealTime()
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(frame, hand_117k, 1, "fist", 0.6, 117000, 24000, Kind::dynamic)
    ->Iterations(12)
    ->UseRealTime()
    ->Unit(benchmark::kSecond);

// Finding the contacts of Pomelo in a crouch with itself, for more and more contact points; linear
// growth keeps the points per second.
void find_contacts(benchmark::State& state) {
  const auto character = std::make_shared<Character>(actors::cast()[0].make(35000));
  Scene scene;
  scene.body.type = "lattice";
  scene.body.dynamic = false;
  scene.body.contact.points = static_cast<double>(state.range(0));
  for (const Clip& clip : character->clips)
    if (clip.name == "crouch") {
      scene.frames.start = 1.5;
      scene.frames.last = 1;
      Session session(character, scene, &clip, "bench");
      FrameRecord record;
      session.advance(record);
      const auto& body = dynamic_cast<const LatticeBody&>(session.body());
      FleshContact contact(*character, body.model(), scene.body, FleshContactOptions{},
                           session.range(), "bench");
      const std::vector<Vec3d> nodes = body.node_positions();
      contact.begin({{}, record.joints}, {{}, record.joints}, 0, nodes);
      std::vector<ActiveSpring> springs;
      for (auto _ : state) {
        springs.clear();
        contact.find(nodes, 0, true, springs);
      }
      state.counters["points"] = static_cast<double>(contact.points().size());
      state.counters["contacts"] = static_cast<double>(springs.size());
      state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(contact.points().size()));
    }
}
BENCHMARK(find_contacts)->Arg(1)->Arg(2)->Arg(4)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
