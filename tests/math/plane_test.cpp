// Shifts of 4x4 planes against plain loops, on every instruction set this machine has.
#include "supple/math/simd.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#define SUPPLE_KERNEL_FILE "math/plane_test.cpp"
#include "supple/math/for_each_target.h"
#include "supple/math/plane.h"

#ifndef SUPPLE_PLANE_TEST_TYPES
#define SUPPLE_PLANE_TEST_TYPES
namespace supple {

/// Two planes in, and what every operation makes of them.
template <class Scalar>
struct PlaneTrial {
  using Numbers = std::array<Scalar, 16>;
  Numbers a, b, c;
  Numbers sum, difference, shifted_x, shifted_y, added;
  Numbers pushed_x, pushed_y;
  Numbers pushed_row;              // pushed_y with b's last row alone
  std::array<Scalar, 6> last_row;  // of a, among others
  Numbers column, row, row_added;  // of the first four numbers of a
  std::array<Scalar, 64> planes;
  Numbers first_columns;  // of planes
};

}  // namespace supple
#endif

SUPPLE_KERNELS_BEGIN

template <class Scalar>
void try_planes(PlaneTrial<Scalar>& t) {
  const PlaneShifter<Scalar> shifter;
  const Plane<Scalar> a = load_plane(t.a.data()), b = load_plane(t.b.data());
  store_plane(a + b, t.sum.data());
  store_plane(a - b, t.difference.data());
  store_plane(shifter.shift_x(a, b), t.shifted_x.data());
  store_plane(shifter.shift_y(a, b), t.shifted_y.data());
  t.added = t.c;
  add_plane(a, t.added.data());
  store_plane(shifter.push_x(a, b), t.pushed_x.data());
  store_plane(shifter.push_y(a, b), t.pushed_y.data());
  store_plane(shifter.push_y(a, last_row(t.b.data() + 12)), t.pushed_row.data());
  store_last_row(a, t.last_row.data() + 1);
  const EdgeSpreader<Scalar> spreader;
  store_plane(spreader.column(t.a.data()), t.column.data());
  store_plane(spreader.row(t.a.data()), t.row.data());
  t.row_added = t.c;
  add_row(t.a.data(), t.row_added.data());
  store_first_columns(t.planes.data(), t.first_columns.data());
}

void try_floats(PlaneTrial<float>& t) { try_planes(t); }
void try_doubles(PlaneTrial<double>& t) { try_planes(t); }

SUPPLE_KERNELS_END

#if SUPPLE_KERNELS_ONCE
namespace supple {

SUPPLE_KERNEL(try_floats);
SUPPLE_KERNEL(try_doubles);

namespace {

class PlaneOn : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { set_widest_target(GetParam()); }
  void TearDown() override { set_widest_target(""); }
};

template <class Scalar>
PlaneTrial<Scalar> random_trial(unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> part(-999, 999);  // sums of two are exact
  PlaneTrial<Scalar> t;
  for (auto* numbers : {&t.a, &t.b, &t.c})
    for (Scalar& n : *numbers) n = static_cast<Scalar>(part(random));
  for (Scalar& n : t.planes) n = static_cast<Scalar>(part(random));
  t.last_row.fill(Scalar(1000));
  return t;
}

template <class Scalar>
void expect_plain_results(const PlaneTrial<Scalar>& t) {
  using Numbers = typename PlaneTrial<Scalar>::Numbers;
  const auto at = [](const Numbers& p, size_t x, size_t y) { return p[x + 4 * y]; };
  for (size_t y = 0; y < 4; ++y)
    for (size_t x = 0; x < 4; ++x) {
      const size_t i = x + 4 * y;
      EXPECT_EQ(t.sum[i], t.a[i] + t.b[i]);
      EXPECT_EQ(t.difference[i], t.a[i] - t.b[i]);
      EXPECT_EQ(t.added[i], t.a[i] + t.c[i]);
      EXPECT_EQ(t.shifted_x[i], x < 3 ? at(t.a, x + 1, y) : at(t.b, 0, y)) << x << " " << y;
      EXPECT_EQ(t.shifted_y[i], y < 3 ? at(t.a, x, y + 1) : at(t.b, x, 0)) << x << " " << y;
      EXPECT_EQ(t.pushed_x[i], x > 0 ? at(t.a, x - 1, y) : at(t.b, 3, y)) << x << " " << y;
      EXPECT_EQ(t.pushed_y[i], y > 0 ? at(t.a, x, y - 1) : at(t.b, x, 3)) << x << " " << y;
      EXPECT_EQ(t.pushed_row[i], t.pushed_y[i]) << x << " " << y;
      EXPECT_EQ(t.column[i], x == 0 ? t.a[y] : 0) << x << " " << y;
      EXPECT_EQ(t.row[i], y == 0 ? t.a[x] : 0) << x << " " << y;
      EXPECT_EQ(t.row_added[i], y == 0 ? t.a[x] + t.c[i] : t.c[i]) << x << " " << y;
      EXPECT_EQ(t.first_columns[i], t.planes[4 * i]);
    }
  for (size_t x = 0; x < 4; ++x) EXPECT_EQ(t.last_row[x + 1], at(t.a, x, 3));
  EXPECT_EQ(t.last_row.front(), Scalar(1000));
  EXPECT_EQ(t.last_row.back(), Scalar(1000));
}

TEST_P(PlaneOn, FloatsMoveAsInPlainLoops) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    PlaneTrial<float> t = random_trial<float>(seed);
    SUPPLE_DISPATCH(try_floats)(t);
    expect_plain_results(t);
  }
}

TEST_P(PlaneOn, DoublesMoveAsInPlainLoops) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    PlaneTrial<double> t = random_trial<double>(seed);
    SUPPLE_DISPATCH(try_doubles)(t);
    expect_plain_results(t);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryTarget, PlaneOn, ::testing::ValuesIn(simd_targets()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace supple
#endif
