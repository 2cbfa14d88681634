// Matrices to decompose, and how good decompositions are by their definition.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "supple/math/svd3_batch.h"
#include "supple/math/types.h"

namespace supple::test {

/// Random matrices per instruction set.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
inline constexpr size_t random_count = 1 << 16;
#else
inline constexpr size_t random_count = 10'002'432;  // 10⁷ in whole blocks of 4,096
#endif

/// Errors of decompositions F = U Σ Vᵀ, relative to |F|.
struct Quality {
  size_t count = 0;
  double sum2 = 0;
  double max_error = 0;
  /// Largest |RᵀR - 1| of U and V.
  double max_skew = 0;
  /// U or V with determinants other than 1, singular values out of order, last ones whose sign is
  /// not that of det F.
  size_t mirrored = 0, unsorted = 0, wrong_sign = 0;
  /// The matrix of the largest error.
  Mat3d worst = Mat3d::Zero();

  double rms() const { return std::sqrt(sum2 / static_cast<double>(std::max<size_t>(count, 1))); }

  Quality& add(const Quality& b) {
    count += b.count;
    sum2 += b.sum2;
    if (b.max_error > max_error) worst = b.worst, max_error = b.max_error;
    max_skew = std::max(max_skew, b.max_skew);
    mirrored += b.mirrored, unsorted += b.unsorted, wrong_sign += b.wrong_sign;
    return *this;
  }
};

/// Three by three numbers, plain: this is the inner loop of the tests.
using Nine = std::array<double, 9>;

inline double determinant(const Nine& m) {
  return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
         m[2] * (m[3] * m[7] - m[4] * m[6]);
}

/// Largest entry of |RᵀR - 1|; not a number gives infinity.
inline double skew(const Nine& r) {
  const auto dot = [&](int i, int j) {
    return r[i] * r[j] + r[3 + i] * r[3 + j] + r[6 + i] * r[6 + j];
  };
  const double off[] = {dot(0, 0) - 1, dot(1, 1) - 1, dot(2, 2) - 1,
                        dot(0, 1),     dot(0, 2),     dot(1, 2)};
  double worst = 0;
  for (const double x : off)
    if (!(std::abs(x) <= worst)) worst = std::isnan(x) ? INFINITY : std::abs(x);
  return worst;
}

/// Matrices and room for their decompositions.
template <class Scalar>
class Decompositions {
 public:
  std::array<std::vector<Scalar>, 9> in;
  std::array<std::vector<Scalar>, 11> out;

  explicit Decompositions(size_t count) {
    for (auto& array : in) array.resize(count);
    for (auto& array : out) array.resize(count);
  }

  size_t size() const { return in[0].size(); }

  void set(size_t i, const Mat3d& m) {
    for (int k = 0; k < 9; ++k) in[k][i] = static_cast<Scalar>(m(k / 3, k % 3));
  }
  Mat3d matrix(size_t i) const {
    Mat3d m;
    for (int k = 0; k < 9; ++k) m(k / 3, k % 3) = in[k][i];
    return m;
  }
  Vec3d sigma(size_t i) const { return {out[8][i], out[9][i], out[10][i]}; }
  Mat3d u(size_t i) const { return as_matrix(rotation(0, i)); }
  Mat3d v(size_t i) const { return as_matrix(rotation(4, i)); }

  /// A power of two near the largest entry, 1 where all are zero.
  double scale(size_t i) const {
    Scalar largest = 0;
    for (const auto& array : in) largest = std::max(largest, std::abs(array[i]));
    return largest > 0 ? std::ldexp(1, std::ilogb(largest)) : 1;
  }

  /// All matrices, or those from `begin` to before `end`.
  Matrix3Arrays<Scalar> matrices(size_t end = SIZE_MAX, size_t begin = 0) const {
    const size_t n = std::min(end, size()) - begin;
    Matrix3Arrays<Scalar> result;
    for (size_t k = 0; k < 9; ++k) result.entries[k] = {in[k].data() + begin, n};
    return result;
  }
  Svd3Arrays<Scalar> results(size_t end = SIZE_MAX, size_t begin = 0) {
    const size_t n = std::min(end, size()) - begin;
    Svd3Arrays<Scalar> result;
    for (size_t k = 0; k < 4; ++k) result.u[k] = {out[k].data() + begin, n};
    for (size_t k = 0; k < 4; ++k) result.v[k] = {out[4 + k].data() + begin, n};
    for (size_t k = 0; k < 3; ++k) result.sigma[k] = {out[8 + k].data() + begin, n};
    return result;
  }

  /// How good all decompositions are.
  Quality quality() const {
    Quality total;
    size_t worst = 0;
    for (size_t i = 0; i < size(); ++i) {
      const double before = total.max_error;
      judge(i, total);
      if (total.max_error > before) worst = i;
    }
    if (size() > 0) total.worst = matrix(worst);
    return total;
  }

 private:
  Nine rotation(size_t first, size_t i) const {
    const double x = out[first][i], y = out[first + 1][i], z = out[first + 2][i],
                 w = out[first + 3][i];
    return {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
            2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
            2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  }

  static Mat3d as_matrix(const Nine& m) {
    return Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(m.data());
  }

  void judge(size_t i, Quality& q) const {
    const double inverse = 1 / scale(i);
    const Nine u = rotation(0, i), v = rotation(4, i);
    const double s[3] = {out[8][i] * inverse, out[9][i] * inverse, out[10][i] * inverse};
    Nine f;
    double norm2 = 0, error2 = 0;
    for (int r = 0; r < 3; ++r) {
      const double us[3] = {u[3 * r] * s[0], u[3 * r + 1] * s[1], u[3 * r + 2] * s[2]};
      for (int c = 0; c < 3; ++c) {
        const int k = 3 * r + c;
        f[k] = in[k][i] * inverse;
        const double off = us[0] * v[3 * c] + us[1] * v[3 * c + 1] + us[2] * v[3 * c + 2] - f[k];
        norm2 += f[k] * f[k];
        error2 += off * off;
      }
    }
    const double relative2 = norm2 > 0 ? error2 / norm2 : error2;
    ++q.count;
    q.sum2 += relative2;
    q.max_error = std::max(q.max_error, std::isnan(relative2) ? INFINITY : std::sqrt(relative2));
    q.max_skew = std::max({q.max_skew, skew(u), skew(v)});
    q.mirrored += !(determinant(u) > 0.9) || !(determinant(v) > 0.9);
    q.unsorted += !(s[0] >= s[1] && s[1] >= std::abs(s[2]));
    const double det = determinant(f);
    if (std::abs(det) > 1e-5 * norm2 * std::sqrt(norm2)) q.wrong_sign += (det < 0) != (s[2] < 0);
  }
};

/// Entries at random: even in -1 .. 1 for most matrices; near the identity, near rank one, and of
/// very different sizes for the others.
template <class Scalar>
void random_cases(Decompositions<Scalar>& d, uint64_t seed) {
  uint64_t state = seed * 0x9e3779b97f4a7c15 + 1;
  const auto even = [&] {
    state = state * 6364136223846793005 + 1442695040888963407;
    return static_cast<double>(static_cast<int64_t>(state)) * 0x1p-63;
  };
  const size_t n = d.size();
  for (size_t i = 0; i < n; ++i) {
    const size_t kind = i % 8;
    if (kind == 1) {
      const double a[3] = {even(), even(), even()}, b[3] = {even(), even(), even()};
      const double noise = 0.01 * even() * even() * even();
      for (int k = 0; k < 9; ++k)
        d.in[k][i] = static_cast<Scalar>(a[k / 3] * b[k % 3] + noise * even());
    } else {
      for (int k = 0; k < 9; ++k) {
        double x = even();
        if (kind == 0) x = (k % 4 == 0) + 0.1 * x;
        if (kind == 2) x = x * x * x * x * x * x * x;
        d.in[k][i] = static_cast<Scalar>(x);
      }
    }
  }
}

/// Matrices that break such code: of every rank, diagonal, permuted, mirrored, with equal and
/// nearly equal singular values, sheared, of whole numbers, exact rotations, huge and small.
template <class Scalar>
std::vector<Mat3d> hard_cases();

}  // namespace supple::test
