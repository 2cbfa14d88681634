// Reciprocal roots, signs and powers of two of the lane types, on every instruction set this
// machine has.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "supple/math/simd.h"

#define SUPPLE_KERNEL_FILE "math/roots_test.cpp"
#include "supple/math/for_each_target.h"
#include "supple/math/twin.h"

#ifndef SUPPLE_ROOTS_TEST_TYPES
#define SUPPLE_ROOTS_TEST_TYPES
namespace supple {

/// Inputs, and what the functions make of them: rsqrt |a|, half_rsqrt |a|, copy_sign(a, b),
/// flip_sign(a, b), the power of two below |a|, its inverse, and a mixture of all else twins can.
template <class Scalar>
struct RootTrial {
  std::vector<Scalar> a, b;
  std::vector<Scalar> out[7];
};

}  // namespace supple
#endif

SUPPLE_KERNELS_BEGIN

template <class T, class Scalar>
HWY_INLINE void try_one(T a, T b, RootTrial<Scalar>& trial, size_t i) {
  const auto put = [&](int k, const T& value) HWY_ATTR {
    if constexpr (std::is_arithmetic_v<T>)
      trial.out[k][i] = value;
    else
      store(value, &trial.out[k][i]);
  };
  put(0, rsqrt(abs(a)));
  put(1, half_rsqrt(abs(a)));
  put(2, copy_sign(a, b));
  put(3, flip_sign(a, b));
  const auto power = power_of_two_below(abs(a));
  put(4, power.value);
  put(5, power.inverse);
  const T least = min(a, b), most = max(a, b);
  put(6, select(a < b, mul_add(least, most, -a), neg_mul_add(least, most, b - a) + a));
}

// Lanes: 0 scalar, 1 wide, 2 twin, 4 twin of twins.
template <class Scalar>
HWY_INLINE void try_lanes(RootTrial<Scalar>& trial, int kind) {
  const auto run = [&](auto lanes) HWY_ATTR {
    using T = decltype(lanes);
    for (size_t i = 0; i < trial.a.size(); i += T::lanes) {
      T a, b;
      load_lanes(a, &trial.a[i]);
      load_lanes(b, &trial.b[i]);
      try_one(a, b, trial, i);
    }
  };
  if (kind == 0)
    for (size_t i = 0; i < trial.a.size(); ++i) try_one(trial.a[i], trial.b[i], trial, i);
  if (kind == 1) run(Wide<Scalar>());
  if (kind == 2) run(Twin<Wide<Scalar>>());
  if (kind == 4) run(Twin<Twin<Wide<Scalar>>>());
}

void try_float(RootTrial<float>& trial, int kind) { try_lanes(trial, kind); }
void try_double(RootTrial<double>& trial, int kind) { try_lanes(trial, kind); }

SUPPLE_KERNELS_END

#if SUPPLE_KERNELS_ONCE
namespace supple {

SUPPLE_KERNEL(try_float);
SUPPLE_KERNEL(try_double);

namespace {

class Roots : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { set_widest_target(GetParam()); }
  void TearDown() override { set_widest_target({}); }
};

void try_target(RootTrial<float>& trial, int kind) { SUPPLE_DISPATCH(try_float)(trial, kind); }
void try_target(RootTrial<double>& trial, int kind) { SUPPLE_DISPATCH(try_double)(trial, kind); }

template <class Scalar>
void check(int kind) {
  using Limits = std::numeric_limits<Scalar>;
  constexpr size_t n = 1 << 14;
  RootTrial<Scalar> t;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> even(-1, 1);
  for (size_t i = 0; i < n; ++i) {
    const double exponent = (Limits::max_exponent10 - 1) * even(random);
    t.a.push_back(static_cast<Scalar>(std::copysign(std::pow(10, exponent), even(random))));
    t.b.push_back(static_cast<Scalar>(even(random) * (i % 5 == 0 ? 0 : 1)));
  }
  t.a[0] = 1, t.a[1] = 4, t.a[2] = Limits::max(), t.a[3] = Limits::min(), t.a[4] = Scalar(-0.5);
  for (auto& out : t.out) out.resize(n);
  try_target(t, kind);
  const double ulp = Limits::epsilon();
  for (size_t i = 0; i < n; ++i) {
    const double a = t.a[i], b = t.b[i], root = 1 / std::sqrt(std::abs(a));
    ASSERT_NEAR(t.out[0][i] / root, 1, 2 * ulp) << a;
    ASSERT_NEAR(t.out[1][i] / root, 0.5, sizeof(Scalar) == 4 ? 3 * ulp : ulp) << a;
    ASSERT_EQ(t.out[2][i], std::copysign(a, b));
    ASSERT_EQ(t.out[3][i], std::signbit(b) ? -a : a);
    const int power = std::min(std::ilogb(a), Limits::max_exponent - 2);
    ASSERT_EQ(t.out[4][i], std::ldexp(1.0, power)) << a;
    ASSERT_EQ(t.out[5][i], std::ldexp(1.0, -power)) << a;
    if (std::abs(a) > Limits::max() / 4) continue;  // overflows
    const double mixture = a < b ? a * b - a : b - a * b;
    ASSERT_NEAR(t.out[6][i], mixture, 4 * ulp * (std::abs(a) + std::abs(a * b) + std::abs(b))) << a;
  }
  t.a.assign(64, 0), t.b.assign(64, 1);
  try_target(t, kind);
  EXPECT_EQ(t.out[4][0] * t.out[5][0], 1);
}

TEST_P(Roots, AgreeWithTheLibrary) {
  for (const int kind : {0, 1, 2, 4}) {
    SCOPED_TRACE(kind);
    check<float>(kind);
    check<double>(kind);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryTarget, Roots, ::testing::ValuesIn(simd_targets()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace supple
#endif
