// Inverse square roots of lanes against the standard library, on every instruction set this machine
// has.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "supple/math/simd.h"

#define SUPPLE_KERNEL_FILE "math/rsqrt_test.cpp"
#include "supple/math/for_each_target.h"

#include "supple/math/wide.h"

SUPPLE_KERNELS_BEGIN

void invert_floats(const std::vector<float>& in, std::vector<float>& out) {
  for (size_t i = 0; i < in.size(); i += WideFloat::lanes) store(rsqrt(load(&in[i])), &out[i]);
}
void invert_doubles(const std::vector<double>& in, std::vector<double>& out) {
  for (size_t i = 0; i < in.size(); i += WideDouble::lanes) store(rsqrt(load(&in[i])), &out[i]);
}

SUPPLE_KERNELS_END

#if SUPPLE_KERNELS_ONCE
namespace supple {

SUPPLE_KERNEL(invert_floats);
SUPPLE_KERNEL(invert_doubles);

namespace {

class InverseRoot : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { set_widest_target(GetParam()); }
  void TearDown() override { set_widest_target(""); }
};

// The largest relative error, in units of the type's precision, over numbers of all sizes.
template <class Scalar, class Invert>
double largest_error(const Invert& invert, double exponents) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> exponent(-exponents, exponents);
  std::vector<Scalar> in(1 << 16), out(in.size());
  for (Scalar& a : in) a = static_cast<Scalar>(std::exp2(exponent(random)));
  invert(in, out);
  double largest = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    const long double exact = 1 / std::sqrt(static_cast<long double>(in[i]));
    largest = std::max(largest, static_cast<double>(std::abs(out[i] / exact - 1)));
  }
  return largest / static_cast<double>(std::numeric_limits<Scalar>::epsilon());
}

TEST_P(InverseRoot, IsGoodToAFewUnitsInTheLastPlace) {
  EXPECT_LT(largest_error<float>(
                [](const auto& in, auto& out) {
                  SUPPLE_DISPATCH(invert_floats)
                  (in, out);
                },
                124),
            3);
  EXPECT_LT(largest_error<double>(
                [](const auto& in, auto& out) {
                  SUPPLE_DISPATCH(invert_doubles)
                  (in, out);
                },
                1000),
            3);
}

INSTANTIATE_TEST_SUITE_P(EveryTarget, InverseRoot, ::testing::ValuesIn(simd_targets()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace supple
#endif
