// 3x3 decompositions on every instruction set: random matrices by the million and the cases that
// break such code, held against the definition in double precision, and against Eigen's.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <Eigen/SVD>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "math/svd3_cases.h"
#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/math/flush_denormals.h"
#include "supple/math/polar.h"
#include "supple/math/simd.h"
#include "supple/math/svd3_batch.h"

namespace supple {
namespace {

using test::Decompositions;
using test::hard_cases;
using test::Quality;
using test::random_cases;

// What decompositions may be off by, relative to |F|.
template <class Scalar>
struct Limits;
template <>
struct Limits<float> {
  static constexpr double rms = 1e-6, max = 2e-5, orthogonal = 2e-6, value = 3e-6;
};
template <>
struct Limits<double> {
  static constexpr double rms = 2e-15, max = 2e-14, orthogonal = 4e-15, value = 1e-14;
};

template <class Scalar>
void expect_good(const Quality& q) {
  EXPECT_LE(q.rms(), Limits<Scalar>::rms);
  EXPECT_LE(q.max_error, Limits<Scalar>::max) << q.worst;
  EXPECT_LE(q.max_skew, Limits<Scalar>::orthogonal);
  EXPECT_EQ(q.mirrored, 0u);
  EXPECT_EQ(q.unsorted, 0u);
  EXPECT_EQ(q.wrong_sign, 0u);
}

class Svd3 : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { set_widest_target(GetParam()); }
  void TearDown() override { set_widest_target({}); }
};

TEST_P(Svd3, RandomFloats) {
  // Every block makes its own matrices, decomposes and checks them.
  constexpr size_t block = 4096;
  const size_t blocks = test::random_count / block / (simd_lanes() > 1 ? 1 : 8);
  const Quality quality = parallel_reduce(
      blocks, 1, Quality(),
      [&](size_t b, size_t) {
        Decompositions<float> d(block);
        random_cases(d, b);
        svd3_batch(d.matrices(), d.results());
        return d.quality();
      },
      [](Quality a, const Quality& b) { return a.add(b); });
  EXPECT_EQ(quality.count, blocks * block);
  expect_good<float>(quality);
}

TEST_P(Svd3, RandomDoubles) {
  Decompositions<double> d(1 << 16);
  random_cases(d, 1);
  svd3_batch(d.matrices(), d.results());
  expect_good<double>(d.quality());
}

template <class Scalar>
void check_hard_cases() {
  const std::vector<Mat3d> cases = hard_cases<Scalar>();
  Decompositions<Scalar> d(cases.size());
  for (size_t i = 0; i < cases.size(); ++i) d.set(i, cases[i]);
  svd3_batch(d.matrices(), d.results());
  expect_good<Scalar>(d.quality());
  svd3_batch_scalar(d.matrices(), d.results());
  expect_good<Scalar>(d.quality());
}

TEST_P(Svd3, HardFloats) { check_hard_cases<float>(); }
TEST_P(Svd3, HardDoubles) { check_hard_cases<double>(); }

template <class Scalar>
void check_against_eigen() {
  std::vector<Mat3d> cases = hard_cases<Scalar>();
  cases.resize(std::min<size_t>(cases.size(), 2000));
  Decompositions<Scalar> d(cases.size() + 2000);
  random_cases(d, 7);
  for (size_t i = 0; i < cases.size(); ++i) d.set(i, cases[i]);
  svd3_batch(d.matrices(), d.results());
  std::array<std::vector<Scalar>, 4> q;
  for (auto& x : q) x.resize(d.size());
  polar_batch(d.matrices(), {q[0], q[1], q[2], q[3]});
  for (size_t i = 0; i < d.size(); ++i) {
    const double scale = d.scale(i);
    const Mat3d f = d.matrix(i) / scale;
    const Vec3d expected = Eigen::JacobiSVD<Mat3d>(f).singularValues();
    const Vec3d sigma = d.sigma(i) / scale;
    const double tolerance = Limits<Scalar>::value * f.norm();
    EXPECT_LE((sigma.cwiseAbs() - expected).cwiseAbs().maxCoeff(), tolerance) << i << "\n" << f;
    // R is well defined as far as no rotation leaves F alike: σy + σz > 0.
    const double gap = sigma[1] + sigma[2];
    if (!(gap > 1e-3 * sigma[0])) continue;
    const Mat3d r = Quatd(q[3][i], q[0][i], q[1][i], q[2][i]).toRotationMatrix();
    EXPECT_LE((r - nearest_rotation(f)).norm(), 2 * tolerance / gap) << i << "\n" << f;
  }
}

TEST_P(Svd3, AgreesWithEigenFloat) { check_against_eigen<float>(); }
TEST_P(Svd3, AgreesWithEigenDouble) { check_against_eigen<double>(); }

TEST_P(Svd3, ScalarLanesAreAsGood) {
  Decompositions<float> d(1 << 15);
  random_cases(d, 3);
  svd3_batch_scalar(d.matrices(), d.results());
  expect_good<float>(d.quality());
  Decompositions<double> e(1 << 14);
  random_cases(e, 3);
  svd3_batch_scalar(e.matrices(), e.results());
  expect_good<double>(e.quality());
}

TEST_P(Svd3, ExactWhereNothingIsToBeDone) {
  Decompositions<float> d(3);
  d.set(0, Mat3d::Zero());
  d.set(1, Vec3d(3, 2, -1).asDiagonal());
  d.set(2, Mat3d::Identity());
  svd3_batch(d.matrices(), d.results());
  EXPECT_EQ(d.sigma(0), Vec3d::Zero());
  EXPECT_LE((d.sigma(1) - Vec3d(3, 2, -1)).norm(), 1e-6);
  EXPECT_LE((d.sigma(2) - Vec3d(1, 1, 1)).norm(), 1e-6);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_LE((d.u(i) * d.v(i).transpose() - Mat3d::Identity()).norm(), 1e-6) << i;
}

// The same matrix gives the same bits wherever it stands, whatever its neighbours are (even NaN),
// and nothing is written beside the arrays.
TEST_P(Svd3, PlaceAndNeighboursDoNotMatter) {
  Decompositions<float> all(150);
  random_cases(all, 5);
  svd3_batch(all.matrices(), all.results());
  for (size_t n = 0; n < 70; ++n) {
    constexpr size_t shift = 37;
    Decompositions<float> part(n + 1);
    for (size_t k = 0; k < 9; ++k) {
      for (size_t i = 0; i < n; ++i) part.in[k][i] = all.in[k][i + shift];
      if (n > 2) part.in[k][n / 2] = std::numeric_limits<float>::quiet_NaN();
    }
    for (auto& array : part.out) array.back() = -77;
    svd3_batch(part.matrices(n), part.results(n));
    for (size_t k = 0; k < 11; ++k) {
      EXPECT_EQ(part.out[k][n], -77);
      for (size_t i = 0; i < n; ++i)
        if (n <= 2 || i != n / 2) {
          ASSERT_EQ(part.out[k][i], all.out[k][i + shift]) << n << " " << i << " " << k;
        }
    }
  }
}

TEST_P(Svd3, WhatIsNotFiniteEnds) {
  const float bad[] = {std::numeric_limits<float>::quiet_NaN(),
                       std::numeric_limits<float>::infinity(),
                       -std::numeric_limits<float>::infinity()};
  Decompositions<float> d(27);
  random_cases(d, 9);
  for (size_t i = 0; i < 27; ++i) d.in[i / 3][i] = bad[i % 3];
  svd3_batch(d.matrices(), d.results());
  svd3_batch_scalar(d.matrices(), d.results());
}

TEST_P(Svd3, SameBitsOnAnyNumberOfThreads) {
  constexpr size_t n = 10000;
  Decompositions<float> once(n), again(n);
  random_cases(once, 11);
  again.in = once.in;
  // Subnormal products abound here.
  for (auto* d : {&once, &again})
    for (size_t i = 0; i < n; i += 3) d->in[i % 9][i] *= 1e-30f;
  svd3_batch(once.matrices(), once.results());
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    parallel_for(n, 333, [&](size_t begin, size_t end) {
      svd3_batch(again.matrices(end, begin), again.results(end, begin));
    });
    for (size_t k = 0; k < 11; ++k)
      EXPECT_EQ(std::memcmp(once.out[k].data(), again.out[k].data(), n * sizeof(float)), 0) << k;
  }
  set_thread_count(0);
}

INSTANTIATE_TEST_SUITE_P(EveryTarget, Svd3, ::testing::ValuesIn(simd_targets()),
                         [](const auto& info) { return info.param; });

TEST(Svd3Batch, ArraysOfOtherLengthsAreRefused) {
  Decompositions<float> d(10);
  Matrix3Arrays<float> matrices = d.matrices();
  matrices.entries[4] = matrices.entries[4].first(9);
  EXPECT_THROW(svd3_batch(matrices, d.results()), Error);
  Svd3Arrays<float> results = d.results();
  results.v[3] = results.v[3].first(9);
  EXPECT_THROW(svd3_batch(d.matrices(), results), Error);
}

TEST(FlushDenormals, FlushesAndRestores) {
  volatile float small = 1e-30f, factor = 1e-10f, subnormal = 1e-40f;
  const auto product = [&] { return small * factor; };
  EXPECT_GT(product(), 0.0f);
#if defined(__x86_64__)
  {
    const FlushDenormals outer;
    EXPECT_EQ(product(), 0.0f);
    { const FlushDenormals inner; }
    EXPECT_EQ(product(), 0.0f);
    const float sum = subnormal + 0.0f;
    uint32_t bits;
    std::memcpy(&bits, &sum, sizeof bits);
    EXPECT_EQ(bits, 0u);
  }
#endif
  EXPECT_GT(product(), 0.0f);
  EXPECT_GT(subnormal, 0.0f);
}

}  // namespace
}  // namespace supple
