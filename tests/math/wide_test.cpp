// Wide lanes against plain double arithmetic, on every instruction set this machine has.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "supple/core/error.h"
#include "supple/math/simd.h"

#define SUPPLE_KERNEL_FILE "math/wide_test.cpp"
#include "supple/math/for_each_target.h"
#include "supple/math/wide.h"

#ifndef SUPPLE_WIDE_TEST_TYPES
#define SUPPLE_WIDE_TEST_TYPES
namespace supple {

/// Inputs and outputs of one pass over the wide operations.
struct WideTrial {
  std::vector<float> a, b, c;
  std::vector<int32_t> index;
  std::vector<std::vector<float>> out;
  std::vector<float> points, quadruples;
  bool any_less = false, all_less = false;
};

/// Operations of the trial, in the order of WideTrial::out.
inline const std::vector<std::string> wide_operations{
    "add", "sub", "mul",  "div", "neg", "mul_add", "mul_sub", "neg_mul_add", "min",
    "max", "abs", "sqrt", "lt",  "le",  "select",  "gather",  "masks",       "first"};

}  // namespace supple
#endif

SUPPLE_KERNELS_BEGIN

// Reads and writes whole registers; the arrays hold a multiple of every width.
void run_trial(WideTrial& t) {
  const size_t n = t.a.size();
  for (size_t i = 0; i < n; i += WideFloat::lanes) {
    const WideFloat a = load(&t.a[i]), b = load(&t.b[i]), c = load(&t.c[i]);
    const WideFloat zero = 0.0f, one = 1.0f;
    size_t k = 0;
    store(a + b, &t.out[k++][i]);
    store(a - b, &t.out[k++][i]);
    store(a * b, &t.out[k++][i]);
    store(a / b, &t.out[k++][i]);
    store(-a, &t.out[k++][i]);
    store(mul_add(a, b, c), &t.out[k++][i]);
    store(mul_sub(a, b, c), &t.out[k++][i]);
    store(neg_mul_add(a, b, c), &t.out[k++][i]);
    store(min(a, b), &t.out[k++][i]);
    store(max(a, b), &t.out[k++][i]);
    store(abs(a), &t.out[k++][i]);
    store(sqrt(abs(a)), &t.out[k++][i]);
    store(select(a < b, one, zero), &t.out[k++][i]);
    store(select(a <= a, one, zero), &t.out[k++][i]);
    store(select(a > c, b, c), &t.out[k++][i]);
    store(gather(t.a.data(), load_int(&t.index[i])), &t.out[k++][i]);
    store(select(((a >= b) & !(a == c)) | (c < zero), one, zero), &t.out[k++][i]);
    for (size_t first = 0; first < WideFloat::lanes; ++first) {
      // Loading and storing the first lanes leaves the others alone.
      store_first(load_first(&t.a[i], first) + one, &t.out[k][i], first);
    }
    t.any_less |= any(a < b);
    t.all_less &= all(a < b);
    WideFloat x, y, z, w;
    load_points(&t.points[3 * i], x, y, z);
    store_points(y, z, x, &t.points[3 * i]);
    load_quadruples(&t.quadruples[4 * i], x, y, z, w);
    store(x + y * 2.0f + z * 3.0f + w * 4.0f, &t.quadruples[4 * i]);
  }
}

template <int N, int K>
void check_quadruple(const std::vector<float>& records, std::vector<float>& out) {
  auto sum = Quadruples<N>::scaled(records.data(), 0.25f);
  sum.add_scaled(records.data() + 16, 2.0f);
  if constexpr (K < N) sum.template store<K>(&out[4 * K]);
}

template <int N>
void sum_records(const std::vector<float>& records, std::vector<float>& out) {
  check_quadruple<N, 0>(records, out);
  check_quadruple<N, 1>(records, out);
  check_quadruple<N, 2>(records, out);
  check_quadruple<N, 3>(records, out);
}

void run_quadruples(const std::vector<float>& records, std::vector<std::vector<float>>& out) {
  sum_records<1>(records, out[0]);
  sum_records<2>(records, out[1]);
  sum_records<3>(records, out[2]);
  sum_records<4>(records, out[3]);
}

// Element code as a template: a root of x² + p x + q by Newton, the same text for every scalar.
template <class T>
T newton_root(T p, T q) {
  T x = T(2.0f);
  for (int i = 0; i < 12; ++i) {
    const T value = mul_add(mul_add(x, T(1.0f), p), x, q);
    x -= value / max(abs(mul_add(x, T(2.0f), p)), T(1e-6f));
  }
  return x;
}

void run_newton(const std::vector<float>& p, const std::vector<float>& q, std::vector<float>& x,
                std::vector<float>& by_float, std::vector<double>& by_double) {
  for (size_t i = 0; i < p.size(); i += WideFloat::lanes)
    store(newton_root<WideFloat>(load(&p[i]), load(&q[i])), &x[i]);
  for (size_t i = 0; i < p.size(); ++i) {
    by_float[i] = newton_root<float>(p[i], q[i]);
    by_double[i] = newton_root<double>(p[i], q[i]);
  }
}

SUPPLE_KERNELS_END

#if SUPPLE_KERNELS_ONCE
namespace supple {

SUPPLE_KERNEL(run_trial);
SUPPLE_KERNEL(run_quadruples);
SUPPLE_KERNEL(run_newton);

namespace {

class Wide : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { set_widest_target(GetParam()); }
  void TearDown() override { set_widest_target({}); }
};

std::vector<float> random_floats(size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(-10, 10);
  std::vector<float> result(n);
  for (float& x : result) x = value(random);
  return result;
}

// What every operation should give, in double.
double expected(const std::string& name, const WideTrial& t, size_t i) {
  const double a = t.a[i], b = t.b[i], c = t.c[i];
  if (name == "add") return a + b;
  if (name == "sub") return a - b;
  if (name == "mul") return a * b;
  if (name == "div") return a / b;
  if (name == "neg") return -a;
  if (name == "mul_add") return a * b + c;
  if (name == "mul_sub") return a * b - c;
  if (name == "neg_mul_add") return c - a * b;
  if (name == "min") return std::min(a, b);
  if (name == "max") return std::max(a, b);
  if (name == "abs") return std::abs(a);
  if (name == "sqrt") return std::sqrt(std::abs(a));
  if (name == "lt") return a < b;
  if (name == "le") return 1;
  if (name == "select") return a > c ? b : c;
  if (name == "gather") return t.a[t.index[i]];
  if (name == "masks") return ((a >= b && a != c) || c < 0) ? 1 : 0;
  return i % simd_lanes() + 1 < simd_lanes() ? t.a[i] + 1.0f : -77;
}

TEST_P(Wide, OperationsMatchDouble) {
  constexpr size_t n = 256;
  WideTrial t;
  t.a = random_floats(n, 1), t.b = random_floats(n, 2), t.c = random_floats(n, 3);
  t.c[5] = t.a[5];
  for (size_t i = 0; i < n; ++i) t.index.push_back(static_cast<int32_t>((i * 37 + 11) % n));
  t.out.assign(wide_operations.size(), std::vector<float>(n, -77));
  t.points = random_floats(3 * n, 4);
  t.quadruples = random_floats(4 * n, 5);
  t.all_less = true;
  const WideTrial before = t;
  SUPPLE_DISPATCH(run_trial)(t);
  for (size_t k = 0; k < wide_operations.size(); ++k)
    for (size_t i = 0; i < n; ++i) {
      const double e = expected(wide_operations[k], t, i);
      EXPECT_NEAR(t.out[k][i], e, 2e-5 + 2e-7 * std::abs(e)) << wide_operations[k] << " " << i;
    }
  EXPECT_TRUE(t.any_less);
  EXPECT_FALSE(t.all_less);
  for (size_t i = 0; i < n; ++i) {
    for (size_t c = 0; c < 3; ++c)
      EXPECT_EQ(t.points[3 * i + c], before.points[3 * i + (c + 1) % 3]) << i;
    const size_t lane = i % simd_lanes(), group = i - lane;
    const float* q = &before.quadruples[4 * i];
    EXPECT_NEAR(t.quadruples[4 * group + lane], q[0] + 2 * q[1] + 3 * q[2] + 4 * q[3], 1e-4) << i;
  }
}

TEST_P(Wide, WeightedSumsOfRecords) {
  const std::vector<float> records = random_floats(32, 6);
  std::vector<std::vector<float>> out(4, std::vector<float>(16, -77));
  SUPPLE_DISPATCH(run_quadruples)(records, out);
  for (size_t n = 1; n <= 4; ++n)
    for (size_t i = 0; i < 16; ++i) {
      const double e = i < 4 * n ? 0.25 * records[i] + 2.0 * records[16 + i] : -77;
      EXPECT_NEAR(out[n - 1][i], e, 1e-5) << n << " " << i;
    }
}

TEST_P(Wide, OneTemplateServesEveryScalar) {
  constexpr size_t n = 64;
  std::vector<float> p = random_floats(n, 7), q = random_floats(n, 8), x(n), by_float(n);
  for (size_t i = 0; i < n; ++i) p[i] = -4 - std::abs(p[i]), q[i] = 1 + std::abs(q[i]) / 10;
  std::vector<double> by_double(n);
  SUPPLE_DISPATCH(run_newton)(p, q, x, by_float, by_double);
  for (size_t i = 0; i < n; ++i) {
    EXPECT_NEAR(x[i], by_double[i], 1e-4 * std::max(1.0, std::abs(by_double[i]))) << i;
    EXPECT_NEAR(by_float[i], by_double[i], 1e-4 * std::max(1.0, std::abs(by_double[i]))) << i;
  }
}

TEST_P(Wide, TargetIsTheOneForced) { EXPECT_EQ(simd_target_name(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(EveryTarget, Wide, ::testing::ValuesIn(simd_targets()),
                         [](const auto& info) { return info.param; });

TEST(Simd, ScalarIsLastAndLanesNarrow) {
  const std::vector<std::string> names = simd_targets();
  ASSERT_FALSE(names.empty());
  size_t wider = std::numeric_limits<size_t>::max();
  for (const std::string& name : names) {
    set_widest_target(name);
    EXPECT_LE(simd_lanes(), wider) << name;
    wider = simd_lanes();
  }
  set_widest_target({});
  EXPECT_EQ(simd_target_name(), names.front());
}

TEST(Simd, UnknownTargetIsRefused) {
  try {
    set_widest_target("AVX9000");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("AVX9000"), std::string::npos);
  }
}

}  // namespace
}  // namespace supple
#endif
