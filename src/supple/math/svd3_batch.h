// Singular value decompositions F = U Σ Vᵀ of many 3x3 matrices at a time, by the widest
// instructions of this machine: svd3.h for arrays. For element code that goes on with the results
// in registers, use svd3.h itself.
#pragma once

#include <array>
#include <span>

namespace supple {

/// 3x3 matrices, one array per entry: entry (i, j) of matrix k is entries[3 i + j][k].
template <class Scalar>
struct Matrix3Arrays {
  std::array<std::span<const Scalar>, 9> entries;
};

/// Decompositions, one array per number: U and V as unit quaternions x y z w, and singular values
/// in descending order, the last one negative where F mirrors.
template <class Scalar>
struct Svd3Arrays {
  std::array<std::span<Scalar>, 4> u, v;
  std::array<std::span<Scalar>, 3> sigma;
};

/// Decomposes matrices on this thread. All arrays are of one length, else a usage error is thrown.
/// Relative error |F - U Σ Vᵀ| / |F| about 2e-7 for float, 4e-16 for double, for entries of any
/// size whose singular values are not subnormal. A matrix that is not finite gives anything, and
/// disturbs no other. Results depend neither on the place of a matrix nor on its neighbours.
void svd3_batch(const Matrix3Arrays<float>& matrices, const Svd3Arrays<float>& results);
void svd3_batch(const Matrix3Arrays<double>& matrices, const Svd3Arrays<double>& results);

/// The same, one matrix after the other in plain scalar code: what the wide code is compared with.
void svd3_batch_scalar(const Matrix3Arrays<float>& matrices, const Svd3Arrays<float>& results);
void svd3_batch_scalar(const Matrix3Arrays<double>& matrices, const Svd3Arrays<double>& results);

/// The rotations R = U Vᵀ of the polar decompositions F = R S, as unit quaternions x y z w; never a
/// reflection. Otherwise as svd3_batch.
void polar_batch(const Matrix3Arrays<float>& matrices,
                 const std::array<std::span<float>, 4>& rotations);
void polar_batch(const Matrix3Arrays<double>& matrices,
                 const std::array<std::span<double>, 4>& rotations);

}  // namespace supple
