#include "supple/voxels/elimination_kernels.h"

#define SUPPLE_KERNEL_FILE "supple/voxels/elimination_kernels.cpp"
#include "supple/math/for_each_target.h"

#include "supple/math/wide.h"

SUPPLE_KERNELS_BEGIN

// to -= a · from, from column `begin` on.
HWY_INLINE void subtract_row(double a, const double* from, double* to, size_t begin, size_t end) {
  const WideDouble wide(a);
  for (size_t j = begin; j < end; j += WideDouble::lanes)
    store(neg_mul_add(wide, load(from + j), load(to + j)), to + j);
}

// Three rows below, of which `rows` is the first, less their parts of three pivots' rows; `factors`
// are those of the pivots for the first row, then for the second and the third.
HWY_INLINE void subtract_pivots(const double* pivots, const double* factors, double* rows,
                                size_t stride, size_t begin) {
  const WideDouble a0(factors[0]), a1(factors[1]), a2(factors[2]);
  const WideDouble b0(factors[3]), b1(factors[4]), b2(factors[5]);
  const WideDouble c0(factors[6]), c1(factors[7]), c2(factors[8]);
  for (size_t j = begin; j < stride; j += WideDouble::lanes) {
    const WideDouble x = load(pivots + j), y = load(pivots + stride + j),
                     z = load(pivots + 2 * stride + j);
    double *a = rows + j, *b = a + stride, *c = b + stride;
    store(neg_mul_add(a2, z, neg_mul_add(a1, y, neg_mul_add(a0, x, load(a)))), a);
    store(neg_mul_add(b2, z, neg_mul_add(b1, y, neg_mul_add(b0, x, load(b)))), b);
    store(neg_mul_add(c2, z, neg_mul_add(c1, y, neg_mul_add(c0, x, load(c)))), c);
  }
}

void eliminate_kernel(double* matrix, size_t stride, size_t pivots, size_t size) {
  constexpr size_t lanes = WideDouble::lanes;
  for (size_t p = 0; p < pivots; p += 3) {
    double *first = matrix + p * stride, *second = first + stride, *third = second + stride;
    const size_t begin = p / lanes * lanes;
    const double d0 = 1 / first[p];
    subtract_row(first[p + 1] * d0, first, second, begin, stride);
    const double second_of_first = first[p + 2] * d0;
    const double d1 = 1 / second[p + 1];
    subtract_row(second_of_first, first, third, begin, stride);
    subtract_row(second[p + 2] * d1, second, third, begin, stride);
    const double d2 = 1 / third[p + 2];
    for (size_t i = p + 3; i < size; i += 3) {
      double factors[9];
      for (size_t k = 0; k < 3; ++k) {
        factors[3 * k] = first[i + k] * d0;
        factors[3 * k + 1] = second[i + k] * d1;
        factors[3 * k + 2] = third[i + k] * d2;
      }
      subtract_pivots(first, factors, matrix + i * stride, stride, i / lanes * lanes);
    }
  }
}

SUPPLE_KERNELS_END

#if SUPPLE_KERNELS_ONCE
namespace supple {

SUPPLE_KERNEL(eliminate_kernel);

void eliminate(double* matrix, size_t stride, size_t pivots, size_t size) {
  SUPPLE_DISPATCH(eliminate_kernel)(matrix, stride, pivots, size);
}

}  // namespace supple
#endif
