#include "supple/mesh/gradient_kernels.h"

#define SUPPLE_KERNEL_FILE "supple/mesh/gradient_kernels.cpp"
#include "supple/math/for_each_target.h"

#include "supple/math/wide.h"

SUPPLE_KERNELS_BEGIN

void sum_kernel(const GradientSums& sums, const double* const* fields, size_t begin, size_t end,
                size_t stride, double* out) {
  for (size_t n = begin; n < end; ++n) {
    FourDoubles rows[9];
    for (FourDoubles& row : rows) row = FourDoubles::same(0);
    for (uint32_t k = sums.offsets[n]; k < sums.offsets[n + 1]; ++k) {
      const FourDoubles g = FourDoubles::loaded(sums.gradients + 4 * static_cast<size_t>(k));
      const size_t from = 3 * static_cast<size_t>(sums.nodes[k]);
      for (size_t f = 0; f < 3; ++f)
        for (size_t i = 0; i < 3; ++i) rows[3 * f + i].add(fields[f][from + i], g);
    }
    for (size_t i = 0; i < 9; ++i) {
      double row[4];
      rows[i].store(row);
      for (size_t c = 0; c < 3; ++c) out[(3 * i + c) * stride + n - begin] = row[c];
    }
  }
}

SUPPLE_KERNELS_END

#if SUPPLE_KERNELS_ONCE
namespace supple {

SUPPLE_KERNEL(sum_kernel);

void sum_gradients(const GradientSums& sums, const double* const* fields, size_t begin, size_t end,
                   size_t stride, double* out) {
  SUPPLE_DISPATCH(sum_kernel)(sums, fields, begin, end, stride, out);
}

}  // namespace supple
#endif
