#include "supple/surface/volume_kernels.h"

#define SUPPLE_KERNEL_FILE "supple/surface/volume_kernels.cpp"
#include "supple/math/for_each_target.h"

#include "supple/math/small.h"
#include "supple/math/wide.h"

SUPPLE_KERNELS_BEGIN

void fan_kernel(const uint32_t* offsets, const int32_t* items, const float* positions,
                float* gradients, size_t begin, size_t end) {
  const Quad half = Quad::all(0.5f);
  for (size_t i = begin; i < end; ++i) {
    Quad sum = Quad::all(0.0f);
    const uint32_t last = offsets[i + 1];
    uint32_t k = offsets[i];
    if (k < last) {
      const Quad centre = Quad::load(positions + 3 * i);
      Quad a = Quad::load(positions + 3 * static_cast<size_t>(items[k])) - centre;
      Quad a_turned = a.yzx();
      for (++k; k < last; ++k) {
        const Quad b = Quad::load(positions + 3 * static_cast<size_t>(items[k])) - centre;
        const Quad b_turned = b.yzx();
        // (a × b) with its components in the order z, x, y.
        sum = neg_mul_add(a_turned, b, mul_add(a, b_turned, sum));
        a = b;
        a_turned = b_turned;
      }
    }
    float out[4];
    (half * sum.yzx()).store(out);
    gradients[3 * i] = out[0];
    gradients[3 * i + 1] = out[1];
    gradients[3 * i + 2] = out[2];
  }
}

// Points [i, i + count) in lanes, zeros in the others.
HWY_INLINE Vector3<WideFloat> points_at(const float* from, size_t i, size_t count) {
  Vector3<WideFloat> p;
  if (count >= WideFloat::lanes) {
    load_points(from + 3 * i, p.x, p.y, p.z);
  } else {
    HWY_ALIGN float buffer[3 * WideFloat::lanes] = {};
    std::memcpy(buffer, from + 3 * i, 3 * count * sizeof(float));
    load_points(buffer, p.x, p.y, p.z);
  }
  return p;
}

HWY_INLINE WideFloat numbers_at(const float* from, size_t i, size_t count) {
  return count >= WideFloat::lanes ? load(from + i) : load_first(from + i, count);
}

HWY_INLINE double sum_of_lanes(WideFloat a) {
  alignas(64) float all[WideFloat::lanes];
  store(a, all);
  double sum = 0;
  for (size_t i = 0; i < WideFloat::lanes; ++i) sum += static_cast<double>(all[i]);
  return sum;
}

VolumeSums sums_kernel(const float* x, const float* gradients, const float* weights,
                       const float* centre, size_t begin, size_t end) {
  const Vector3<WideFloat> c{WideFloat(centre[0]), WideFloat(centre[1]), WideFloat(centre[2])};
  WideFloat along(0.0f), squares(0.0f);
  for (size_t i = begin; i < end; i += WideFloat::lanes) {
    const Vector3<WideFloat> n = points_at(gradients, i, end - i);
    along += dot(points_at(x, i, end - i) - c, n);
    squares = mul_add(numbers_at(weights, i, end - i), dot(n, n), squares);
  }
  return {sum_of_lanes(along), sum_of_lanes(squares)};
}

void follow_kernel(float* x, const float* gradients, const float* weights, float factor,
                   float limit, size_t begin, size_t end) {
  for (size_t i = begin; i < end; i += WideFloat::lanes) {
    const size_t count = end - i;
    const Vector3<WideFloat> n = points_at(gradients, i, count);
    Vector3<WideFloat> p = points_at(x, i, count);
    WideFloat scale = WideFloat(factor) * numbers_at(weights, i, count);
    const WideFloat length = abs(scale) * sqrt(dot(n, n));
    scale = select(length > WideFloat(limit), scale * (WideFloat(limit) / length), scale);
    p = {mul_add(scale, n.x, p.x), mul_add(scale, n.y, p.y), mul_add(scale, n.z, p.z)};
    if (count >= WideFloat::lanes) {
      store_points(p.x, p.y, p.z, x + 3 * i);
    } else {
      HWY_ALIGN float buffer[3 * WideFloat::lanes];
      store_points(p.x, p.y, p.z, buffer);
      std::memcpy(x + 3 * i, buffer, 3 * count * sizeof(float));
    }
  }
}

SUPPLE_KERNELS_END

#if SUPPLE_KERNELS_ONCE
namespace supple {

SUPPLE_KERNEL(fan_kernel);
SUPPLE_KERNEL(sums_kernel);
SUPPLE_KERNEL(follow_kernel);

void fan_gradients(const uint32_t* offsets, const int32_t* items, const float* positions,
                   float* gradients, size_t begin, size_t end) {
  SUPPLE_DISPATCH(fan_kernel)(offsets, items, positions, gradients, begin, end);
}

VolumeSums volume_sums(const float* x, const float* gradients, const float* weights,
                       const float* centre, size_t begin, size_t end) {
  return SUPPLE_DISPATCH(sums_kernel)(x, gradients, weights, centre, begin, end);
}

void follow_gradients(float* x, const float* gradients, const float* weights, float factor,
                      float limit, size_t begin, size_t end) {
  SUPPLE_DISPATCH(follow_kernel)(x, gradients, weights, factor, limit, begin, end);
}

}  // namespace supple
#endif
