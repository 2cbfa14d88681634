#include "supple/mesh/gradient_kernels.h"

#define SUPPLE_KERNEL_FILE "supple/mesh/gradient_kernels.cpp"
#include "supple/math/for_each_target.h"

#include "supple/math/wide.h"

SUPPLE_KERNELS_BEGIN

void sum_kernel(const GradientSums& sums, const double* fields, size_t begin, size_t end,
                size_t stride, double* out) {
  constexpr size_t lanes = WideDouble::lanes, parts = (9 + lanes - 1) / lanes;
  alignas(64) double columns[3][parts * lanes];
  for (size_t n = begin; n < end; ++n) {
    WideDouble x[parts], y[parts], z[parts];
    for (size_t p = 0; p < parts; ++p) x[p] = y[p] = z[p] = WideDouble(0.0);
    for (uint32_t k = sums.offsets[n]; k < sums.offsets[n + 1]; ++k) {
      const double* from = fields + fields_stride * static_cast<size_t>(sums.nodes[k]);
      const double* g = sums.gradients + 3 * static_cast<size_t>(k);
      const WideDouble gx(g[0]), gy(g[1]), gz(g[2]);
      for (size_t p = 0; p < parts; ++p) {
        const WideDouble value = load(from + p * lanes);
        x[p] = mul_add(value, gx, x[p]);
        y[p] = mul_add(value, gy, y[p]);
        z[p] = mul_add(value, gz, z[p]);
      }
    }
    for (size_t p = 0; p < parts; ++p) {
      store(x[p], columns[0] + p * lanes);
      store(y[p], columns[1] + p * lanes);
      store(z[p], columns[2] + p * lanes);
    }
    for (size_t i = 0; i < 9; ++i)
      for (size_t c = 0; c < 3; ++c) out[(3 * i + c) * stride + n - begin] = columns[c][i];
  }
}

SUPPLE_KERNELS_END

#if SUPPLE_KERNELS_ONCE
namespace supple {

SUPPLE_KERNEL(sum_kernel);

void sum_gradients(const GradientSums& sums, const double* fields, size_t begin, size_t end,
                   size_t stride, double* out) {
  SUPPLE_DISPATCH(sum_kernel)(sums, fields, begin, end, stride, out);
}

}  // namespace supple
#endif
