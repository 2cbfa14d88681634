#include "supple/math/svd3_batch.h"

#include <cstring>

#include "supple/core/error.h"
#include "supple/math/flush_denormals.h"

#define SUPPLE_KERNEL_FILE "supple/math/svd3_batch.cpp"
#include "supple/math/for_each_target.h"
#include "supple/math/svd3.h"

#ifndef SUPPLE_MATH_SVD3_BATCH_TYPES
#define SUPPLE_MATH_SVD3_BATCH_TYPES
namespace supple {

// Arrays of a batch: nine numbers in, up to eleven out.
template <class Scalar>
struct Svd3Job {
  const Scalar* in[9];
  Scalar* out[11];
  size_t count;
};

}  // namespace supple
#endif

SUPPLE_KERNELS_BEGIN

// Decomposes f and hands on the eleven numbers.
template <class T, class Put>
HWY_INLINE void decompose(const Matrix3<T>& f, const Put& put) {
  const Svd3<T> s = svd3(f);
  put(0, s.u.x), put(1, s.u.y), put(2, s.u.z), put(3, s.u.w);
  put(4, s.v.x), put(5, s.v.y), put(6, s.v.z), put(7, s.v.w);
  put(8, s.sigma.x), put(9, s.sigma.y), put(10, s.sigma.z);
}

template <class Scalar>
HWY_INLINE void decompose_wide(const Svd3Job<Scalar>& all) {
  // Four in turns: slower by what is spilled from registers, faster by more than that.
  using T = Twin<Twin<Wide<Scalar>>>;
  // The rest goes by way of padded copies in a last step of the same loop, so that there is one
  // copy of the code, and matrices get the same bits wherever they stand.
  alignas(64) Scalar buffer[20][T::lanes] = {};
  const size_t rest = all.count % T::lanes, whole = all.count - rest;
  Svd3Job<Scalar> job = all;
  for (size_t at = 0; at < all.count; at += T::lanes) {
    if (at == whole) {
      for (size_t k = 0; k < 9; ++k) {
        std::memcpy(buffer[k], all.in[k] + at, rest * sizeof(Scalar));
        job.in[k] = buffer[k];
      }
      for (size_t k = 0; k < 11; ++k) job.out[k] = buffer[9 + k];
    }
    const size_t i = at == whole ? 0 : at;
    const auto from = [&](size_t k) HWY_ATTR {
      T lanes;
      load_lanes(lanes, job.in[k] + i);
      return lanes;
    };
    decompose(
        Matrix3<T>{from(0), from(1), from(2), from(3), from(4), from(5), from(6), from(7), from(8)},
        [&](size_t k, const T& value) HWY_ATTR { store(value, job.out[k] + i); });
  }
  if (rest == 0) return;
  for (size_t k = 0; k < 11; ++k)
    std::memcpy(all.out[k] + whole, buffer[9 + k], rest * sizeof(Scalar));
}

template <class Scalar>
HWY_INLINE void decompose_scalar(const Svd3Job<Scalar>& job) {
  for (size_t i = 0; i < job.count; ++i) {
    const auto& in = job.in;
    decompose(Matrix3<Scalar>{in[0][i], in[1][i], in[2][i], in[3][i], in[4][i], in[5][i], in[6][i],
                              in[7][i], in[8][i]},
              [&](size_t k, Scalar value) HWY_ATTR { job.out[k][i] = value; });
  }
}

void svd_wide_float(const Svd3Job<float>& job) { decompose_wide(job); }
void svd_wide_double(const Svd3Job<double>& job) { decompose_wide(job); }
void svd_scalar_float(const Svd3Job<float>& job) { decompose_scalar(job); }
void svd_scalar_double(const Svd3Job<double>& job) { decompose_scalar(job); }

// Rotations in blocks, the decompositions of which stay in the L1 cache.
template <class Scalar, class Decompose>
HWY_INLINE void polar_wide(const Svd3Job<Scalar>& job, const Decompose& decompose_block) {
  using T = Wide<Scalar>;
  constexpr size_t block = 256;
  static_assert(block % T::lanes == 0);
  alignas(64) Scalar scratch[11][block] = {};
  for (size_t begin = 0; begin < job.count; begin += block) {
    Svd3Job<Scalar> part = job;
    part.count = job.count - begin < block ? job.count - begin : block;
    for (size_t k = 0; k < 9; ++k) part.in[k] = job.in[k] + begin;
    for (size_t k = 0; k < 11; ++k) part.out[k] = scratch[k];
    decompose_block(part);
    for (size_t i = 0; i < part.count; i += T::lanes) {
      const auto from = [&](size_t k) HWY_ATTR { return load(scratch[k] + i); };
      Svd3<T> svd;
      svd.u = {from(0), from(1), from(2), from(3)};
      svd.v = {from(4), from(5), from(6), from(7)};
      const Quaternion<T> q = polar_rotation(svd);
      store(q.x, scratch[0] + i), store(q.y, scratch[1] + i);
      store(q.z, scratch[2] + i), store(q.w, scratch[3] + i);
    }
    for (size_t k = 0; k < 4; ++k)
      std::memcpy(job.out[k] + begin, scratch[k], part.count * sizeof(Scalar));
  }
}

void polar_float(const Svd3Job<float>& job) { polar_wide(job, svd_wide_float); }
void polar_double(const Svd3Job<double>& job) { polar_wide(job, svd_wide_double); }

SUPPLE_KERNELS_END

#if SUPPLE_KERNELS_ONCE
namespace supple {
namespace {

SUPPLE_KERNEL(svd_wide_float);
SUPPLE_KERNEL(svd_wide_double);
SUPPLE_KERNEL(svd_scalar_float);
SUPPLE_KERNEL(svd_scalar_double);
SUPPLE_KERNEL(polar_float);
SUPPLE_KERNEL(polar_double);

// The arrays as a job; throws where their lengths differ.
template <class Scalar, size_t N>
Svd3Job<Scalar> make_job(const Matrix3Arrays<Scalar>& matrices,
                         const std::array<std::span<Scalar>, N>& results) {
  Svd3Job<Scalar> job{};
  job.count = matrices.entries[0].size();
  const auto check = [&](size_t size) {
    if (size != job.count)
      throw Error(
          ErrorKind::usage,
          fmt::format("decompositions of {} matrices: an array has length {}", job.count, size));
  };
  for (size_t k = 0; k < 9; ++k) {
    check(matrices.entries[k].size());
    job.in[k] = matrices.entries[k].data();
  }
  for (size_t k = 0; k < N; ++k) {
    check(results[k].size());
    job.out[k] = results[k].data();
  }
  return job;
}

template <class Scalar>
Svd3Job<Scalar> make_job(const Matrix3Arrays<Scalar>& matrices, const Svd3Arrays<Scalar>& r) {
  return make_job(matrices, std::array<std::span<Scalar>, 11>{r.u[0], r.u[1], r.u[2], r.u[3],
                                                              r.v[0], r.v[1], r.v[2], r.v[3],
                                                              r.sigma[0], r.sigma[1], r.sigma[2]});
}

}  // namespace

void svd3_batch(const Matrix3Arrays<float>& matrices, const Svd3Arrays<float>& results) {
  const FlushDenormals flush;
  SUPPLE_DISPATCH(svd_wide_float)(make_job(matrices, results));
}
void svd3_batch(const Matrix3Arrays<double>& matrices, const Svd3Arrays<double>& results) {
  const FlushDenormals flush;
  SUPPLE_DISPATCH(svd_wide_double)(make_job(matrices, results));
}
void svd3_batch_scalar(const Matrix3Arrays<float>& matrices, const Svd3Arrays<float>& results) {
  const FlushDenormals flush;
  SUPPLE_DISPATCH(svd_scalar_float)(make_job(matrices, results));
}
void svd3_batch_scalar(const Matrix3Arrays<double>& matrices, const Svd3Arrays<double>& results) {
  const FlushDenormals flush;
  SUPPLE_DISPATCH(svd_scalar_double)(make_job(matrices, results));
}
void polar_batch(const Matrix3Arrays<float>& matrices,
                 const std::array<std::span<float>, 4>& rotations) {
  const FlushDenormals flush;
  SUPPLE_DISPATCH(polar_float)(make_job(matrices, rotations));
}
void polar_batch(const Matrix3Arrays<double>& matrices,
                 const std::array<std::span<double>, 4>& rotations) {
  const FlushDenormals flush;
  SUPPLE_DISPATCH(polar_double)(make_job(matrices, rotations));
}

}  // namespace supple
#endif
