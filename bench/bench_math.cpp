// Memory bandwidth of this machine as parallel loops see it, what every memory-bound kernel is
// compared with; and singular value decompositions of 3x3 matrices on one thread, wide and scalar,
// against Eigen's.
#include <benchmark/benchmark.h>

#include <Eigen/LU>
#include <Eigen/SVD>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "supple/core/parallel.h"
#include "supple/core/timer.h"
#include "supple/math/simd.h"
#include "supple/math/svd3_batch.h"

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

// Deformation gradients as a body in motion has them, a quarter of them mirrored; with the results
// they fit into the L2 cache.
constexpr size_t matrix_count = 4096;

std::vector<Eigen::Matrix3f> random_matrices() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<Eigen::Matrix3f> matrices(matrix_count);
  for (size_t i = 0; i < matrix_count; ++i) {
    for (int k = 0; k < 9; ++k) matrices[i](k / 3, k % 3) = normal(random);
    if ((matrices[i].determinant() < 0) != (i % 4 == 0)) matrices[i].col(0) *= -1;
  }
  return matrices;
}

// The same matrices and room for their decompositions, one array per number.
template <class Scalar>
struct Batch {
  std::array<std::vector<Scalar>, 9> in;
  std::array<std::vector<Scalar>, 11> out;
  supple::Matrix3Arrays<Scalar> matrices;
  supple::Svd3Arrays<Scalar> results;

  Batch() {
    const std::vector<Eigen::Matrix3f> all = random_matrices();
    for (size_t k = 0; k < 9; ++k) {
      for (const Eigen::Matrix3f& m : all)
        in[k].push_back(static_cast<Scalar>(m(static_cast<int>(k / 3), static_cast<int>(k % 3))));
      matrices.entries[k] = in[k];
    }
    for (auto& array : out) array.resize(matrix_count);
    for (size_t k = 0; k < 4; ++k) results.u[k] = out[k], results.v[k] = out[4 + k];
    for (size_t k = 0; k < 3; ++k) results.sigma[k] = out[8 + k];
  }
};

void count_items(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(matrix_count));
}

template <class Scalar>
void svd_wide(benchmark::State& state, const std::string& target) {
  supple::set_widest_target(target);
  Batch<Scalar> batch;
  for (auto _ : state) {
    supple::svd3_batch(batch.matrices, batch.results);
    benchmark::ClobberMemory();
  }
  count_items(state);
  state.SetLabel(supple::simd_target_name());
  supple::set_widest_target({});
}

void svd_scalar(benchmark::State& state) {
  Batch<float> batch;
  for (auto _ : state) {
    supple::svd3_batch_scalar(batch.matrices, batch.results);
    benchmark::ClobberMemory();
  }
  count_items(state);
}

void svd_eigen(benchmark::State& state) {
  const std::vector<Eigen::Matrix3f> matrices = random_matrices();
  std::vector<Eigen::Matrix3f> u(matrix_count), v(matrix_count);
  std::vector<Eigen::Vector3f> sigma(matrix_count);
  Eigen::JacobiSVD<Eigen::Matrix3f> svd;
  for (auto _ : state) {
    for (size_t i = 0; i < matrix_count; ++i) {
      svd.compute(matrices[i], Eigen::ComputeFullU | Eigen::ComputeFullV);
      u[i] = svd.matrixU(), v[i] = svd.matrixV(), sigma[i] = svd.singularValues();
    }
    benchmark::ClobberMemory();
  }
  count_items(state);
}

// One benchmark per instruction set this machine has.
const bool registered = [] {
  for (const std::string& target : supple::simd_targets()) {
    if (target == "AVX3") {
      benchmark::RegisterBenchmark("svd/wide_avx512", svd_wide<float>, target);
      benchmark::RegisterBenchmark("svd/wide_avx512_double", svd_wide<double>, target);
    }
    if (target == "AVX2") {
      benchmark::RegisterBenchmark("svd/wide_avx2", svd_wide<float>, target);
      benchmark::RegisterBenchmark("svd/wide_avx2_double", svd_wide<double>, target);
    }
  }
  benchmark::RegisterBenchmark("svd/scalar", svd_scalar);
  benchmark::RegisterBenchmark("svd/eigen_jacobi", svd_eigen);
  return true;
}();

}  // namespace
