// Skinning of a tube of 100,000 vertices with 4 influences each: linear blend and dual quaternions
// against a plain scalar loop in the same program, and a copy of as many bytes.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "supple/core/parallel.h"
#include "supple/core/timer.h"
#include "supple/math/simd.h"
#include "supple/rig/skinning.h"

namespace {

using namespace supple;

constexpr size_t vertex_count = 100'000;
constexpr int bone_count = 64;
constexpr int influence_count = 4;

// Bytes a skinning must move per vertex: rest and posed position, 16-bit indices, float weights.
constexpr size_t bytes_per_vertex = 2 * sizeof(Vec3f) + influence_count * (2 + sizeof(float));

// A tube along x with a bone per unit of length, every bone turned a little against the one before.
struct Tube {
  std::vector<Vec3f> rest;
  SkinWeights weights;
  std::vector<Bind> binds;
  std::vector<Affine> globals;

  Tube() {
    Affine global = Affine::Identity();
    for (int b = 0; b < bone_count; ++b) {
      binds.push_back({b, Affine(Eigen::Translation3d(-b, 0, 0))});
      globals.push_back(global);
      global = global * Eigen::Translation3d(1, 0, 0) *
               Eigen::AngleAxisd(0.1, Vec3d(1, 2, 3).normalized());
    }
    for (size_t v = 0; v < vertex_count; ++v) {
      const double x = (bone_count - 1.0) * static_cast<double>(v) / vertex_count;
      const double angle = 0.7 * static_cast<double>(v);
      rest.emplace_back(static_cast<float>(x), static_cast<float>(std::cos(angle)),
                        static_cast<float>(std::sin(angle)));
      const int first = std::min(static_cast<int>(x), bone_count - influence_count);
      Influence influences[influence_count];
      for (int k = 0; k < influence_count; ++k)
        influences[k] = {first + k, static_cast<float>(1 / (0.2 + std::abs(x - first - k)))};
      weights.add_vertex(influences, 0);
    }
  }
};

// Times `body` by the wall clock and reports vertices and bytes per second.
template <class Body>
void measure(benchmark::State& state, const char* target, const Body& body) {
  const Stopwatch watch;
  for (auto _ : state) {
    body();
    benchmark::ClobberMemory();
  }
  const double rate = vertex_count * static_cast<double>(state.iterations()) / watch.seconds();
  state.counters["items_per_second"] = rate;
  state.counters["bytes_per_second"] = rate * bytes_per_vertex;
  state.counters["threads"] = thread_count();
  state.SetLabel(target);
}

void skin(benchmark::State& state, SkinningMethod method, int threads) {
  const Tube tube;
  const Skinner skinner(tube.weights, tube.binds);
  std::vector<Vec3f> out(vertex_count);
  set_thread_count(threads);
  measure(state, simd_target_name(), [&] { skinner.skin(method, tube.globals, tube.rest, out); });
  set_thread_count(0);
}

// Linear blend as one would write it without thinking about the machine.
void skin_plainly(benchmark::State& state) {
  const Tube tube;
  std::vector<Vec3f> out(vertex_count);
  set_thread_count(1);
  measure(state, "plain", [&] {
    std::vector<Eigen::Matrix<float, 3, 4>> palette;
    for (const Bind& bind : tube.binds)
      palette.push_back(
          (tube.globals[bind.joint] * bind.rest_to_joint).matrix().topRows<3>().cast<float>());
    for (size_t v = 0; v < vertex_count; ++v) {
      Vec3f sum = Vec3f::Zero();
      for (const Influence& i : tube.weights.of(v))
        sum += i.weight * (palette[i.bind] * tube.rest[v].homogeneous());
      out[v] = sum;
    }
  });
  set_thread_count(0);
}

// Copies as many bytes as skinning has to move.
void copy_same_bytes(benchmark::State& state) {
  const size_t bytes = vertex_count * bytes_per_vertex / 2;
  std::vector<char> from(bytes, 1), to(bytes, 2);
  measure(state, "memcpy", [&] {
    parallel_for(bytes, size_t{1} << 16, [&](size_t begin, size_t end) {
      std::memcpy(to.data() + begin, from.data() + begin, end - begin);
    });
  });
}

BENCHMARK_CAPTURE(skin, lbs, SkinningMethod::linear, 0)
    ->Name("skinning/lbs/100k")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(skin, dqs, SkinningMethod::dual_quaternion, 0)
    ->Name("skinning/dqs/100k")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(skin, lbs_1, SkinningMethod::linear, 1)
    ->Name("skinning/lbs_1thread/100k")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(skin, dqs_1, SkinningMethod::dual_quaternion, 1)
    ->Name("skinning/dqs_1thread/100k")
    ->Unit(benchmark::kMillisecond);
BENCHMARK(skin_plainly)->Name("skinning/lbs_scalar/100k")->Unit(benchmark::kMillisecond);
BENCHMARK(copy_same_bytes)->Name("skinning/copy/100k")->Unit(benchmark::kMillisecond);

}  // namespace
