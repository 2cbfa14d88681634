#include "supple/rig/skinning_kernels.h"

#include <algorithm>
#include <cstring>

#define SUPPLE_KERNEL_FILE "supple/rig/skinning_kernels.cpp"
#include "supple/math/for_each_target.h"
#include "supple/math/wide.h"

SUPPLE_KERNELS_BEGIN

// A point, one component after the other.
template <class T>
struct Point {
  T x, y, z;
};

// Four values per quadruple of a blended record.
template <class T, int N>
struct Record {
  T q[N][4];
};

// x' = M x for the blended rows of M.
struct MatrixKernel {
  static constexpr int quadruples = 3;

  template <class T>
  static HWY_INLINE Point<T> apply(const Record<T, 3>& m, const Point<T>& p) {
    return {row(m.q[0], p), row(m.q[1], p), row(m.q[2], p)};
  }

  template <class T>
  static HWY_INLINE T row(const T (&r)[4], const Point<T>& p) {
    return mul_add(r[0], p.x, mul_add(r[1], p.y, mul_add(r[2], p.z, r[3])));
  }
};

template <class T>
HWY_INLINE Point<T> cross(const Point<T>& a, const Point<T>& b) {
  return {neg_mul_add(a.z, b.y, a.y * b.z), neg_mul_add(a.x, b.z, a.z * b.x),
          neg_mul_add(a.y, b.x, a.x * b.y)};
}

// Rigid motion by a blended dual quaternion of any length, real part (r, w), dual part (d, e):
// x' = x + 2/(|r|²+w²) (r × (r × x + w x) + w d - e r + r × d)   [Kavan 2008, alg. 1]
template <class T, int N>
HWY_INLINE Point<T> move_rigidly(const Record<T, N>& b, const Point<T>& p) {
  const Point<T> r{b.q[0][0], b.q[0][1], b.q[0][2]}, d{b.q[1][0], b.q[1][1], b.q[1][2]};
  const T w = b.q[0][3], e = b.q[1][3];
  const T length2 = mul_add(r.x, r.x, mul_add(r.y, r.y, mul_add(r.z, r.z, w * w)));
  const T factor = T(2.0f) / length2;
  // r × (r × x + w x) + r × d = r × (r × x + w x + d).
  const Point<T> rp = cross(r, p);
  const Point<T> turned =
      cross(r, Point<T>{mul_add(w, p.x, rp.x + d.x), mul_add(w, p.y, rp.y + d.y),
                        mul_add(w, p.z, rp.z + d.z)});
  const Point<T> sum{mul_add(w, d.x, neg_mul_add(e, r.x, turned.x)),
                     mul_add(w, d.y, neg_mul_add(e, r.y, turned.y)),
                     mul_add(w, d.z, neg_mul_add(e, r.z, turned.z))};
  return {mul_add(factor, sum.x, p.x), mul_add(factor, sum.y, p.y), mul_add(factor, sum.z, p.z)};
}

struct DualQuaternionKernel {
  static constexpr int quadruples = 2;

  template <class T>
  static HWY_INLINE Point<T> apply(const Record<T, 2>& b, const Point<T>& p) {
    return move_rigidly(b, p);
  }
};

// The blended stretch first, then the blended rigid motion.
struct StretchedQuaternionKernel {
  static constexpr int quadruples = 4;

  template <class T>
  static HWY_INLINE Point<T> apply(const Record<T, 4>& b, const Point<T>& p) {
    const T xx = b.q[2][0], xy = b.q[2][1], xz = b.q[2][2], yy = b.q[2][3];
    const T yz = b.q[3][0], zz = b.q[3][1];
    return move_rigidly(b, Point<T>{mul_add(xx, p.x, mul_add(xy, p.y, xz * p.z)),
                                    mul_add(xy, p.x, mul_add(yy, p.y, yz * p.z)),
                                    mul_add(xz, p.x, mul_add(yz, p.y, zz * p.z))});
  }
};

// Blended records of one chunk, quadruple by quadruple.
template <int N>
struct alignas(64) Scratch {
  float rows[N][4 * skinning_chunk];
};

// The weighted sum of `count` palette records per vertex; a Count of 0 takes any `count`.
template <int N, size_t Count, class Index>
HWY_INLINE void blend_records(const float* palette, const Index* index, const float* weight,
                              size_t count, Scratch<N>& out) {
  if (Count != 0) count = Count;
  constexpr size_t record = Quadruples<N>::record;
  for (size_t v = 0; v < skinning_chunk; ++v, index += count, weight += count) {
    auto sum = Quadruples<N>::scaled(palette + record * index[0], weight[0]);
    for (size_t k = 1; k < count; ++k) sum.add_scaled(palette + record * index[k], weight[k]);
    sum.template store<0>(out.rows[0] + 4 * v);
    if constexpr (N > 1) sum.template store<1>(out.rows[1] + 4 * v);
    if constexpr (N > 2) sum.template store<2>(out.rows[2] + 4 * v);
    if constexpr (N > 3) sum.template store<3>(out.rows[3] + 4 * v);
  }
}

template <int N, class Index>
HWY_INLINE void blend_chunk(const SkinningJob& job, const SkinningChunk& chunk,
                            const Index* indices, Scratch<N>& out) {
  const Index* index = indices + chunk.first;
  const float* weight = job.weights + chunk.first;
  switch (chunk.per_vertex) {
    case 1:
      return blend_records<N, 1>(job.palette, index, weight, 1, out);
    case 2:
      return blend_records<N, 2>(job.palette, index, weight, 2, out);
    case 3:
      return blend_records<N, 3>(job.palette, index, weight, 3, out);
    case 4:
      return blend_records<N, 4>(job.palette, index, weight, 4, out);
    default:
      return blend_records<N, 0>(job.palette, index, weight, chunk.per_vertex, out);
  }
}

// Moves the points of one whole chunk; `rest` and `out` may be the same.
template <class Kernel>
HWY_INLINE void move_points(const Scratch<Kernel::quadruples>& blended, const float* rest,
                            float* out) {
  constexpr int N = Kernel::quadruples;
  for (size_t v = 0; v < skinning_chunk; v += WideFloat::lanes) {
    Record<WideFloat, N> record;
    for (int r = 0; r < N; ++r) {
      auto& q = record.q[r];
      load_quadruples(blended.rows[r] + 4 * v, q[0], q[1], q[2], q[3]);
    }
    Point<WideFloat> p;
    load_points(rest + 3 * v, p.x, p.y, p.z);
    p = Kernel::apply(record, p);
    store_points(p.x, p.y, p.z, out + 3 * v);
  }
}

template <class Kernel>
void skin_range(const SkinningJob& job, size_t begin, size_t end) {
  Scratch<Kernel::quadruples> blended;
  for (size_t c = begin; c < end; ++c) {
    if (job.short_indices)
      blend_chunk(job, job.chunks[c], job.short_indices, blended);
    else
      blend_chunk(job, job.chunks[c], job.long_indices, blended);
    const size_t first = c * skinning_chunk;
    const float* rest = job.rest + 3 * first;
    float* out = job.out + 3 * first;
    if (first + skinning_chunk <= job.vertices) {
      move_points<Kernel>(blended, rest, out);
    } else {
      // The last chunk goes through a padded copy: nothing past the arrays is touched.
      float points[3 * skinning_chunk] = {};
      const size_t bytes = 3 * (job.vertices - first) * sizeof(float);
      std::memcpy(points, rest, bytes);
      move_points<Kernel>(blended, points, points);
      std::memcpy(out, points, bytes);
    }
  }
}

void skin_matrices(const SkinningJob& job, size_t begin, size_t end) {
  skin_range<MatrixKernel>(job, begin, end);
}

void skin_dual_quaternions(const SkinningJob& job, size_t begin, size_t end) {
  skin_range<DualQuaternionKernel>(job, begin, end);
}

void skin_stretched_quaternions(const SkinningJob& job, size_t begin, size_t end) {
  skin_range<StretchedQuaternionKernel>(job, begin, end);
}

SUPPLE_KERNELS_END

#if SUPPLE_KERNELS_ONCE
namespace supple {

SUPPLE_KERNEL(skin_matrices);
SUPPLE_KERNEL(skin_dual_quaternions);
SUPPLE_KERNEL(skin_stretched_quaternions);

void skin_chunks(SkinningKernel kernel, const SkinningJob& job, size_t begin, size_t end) {
  switch (kernel) {
    case SkinningKernel::matrix:
      return SUPPLE_DISPATCH(skin_matrices)(job, begin, end);
    case SkinningKernel::dual_quaternion:
      return SUPPLE_DISPATCH(skin_dual_quaternions)(job, begin, end);
    case SkinningKernel::stretched_quaternion:
      return SUPPLE_DISPATCH(skin_stretched_quaternions)(job, begin, end);
  }
}

}  // namespace supple
#endif
