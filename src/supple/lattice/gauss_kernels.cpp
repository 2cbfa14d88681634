#include "supple/lattice/gauss_kernels.h"

#include <algorithm>
#include <cmath>

#define SUPPLE_KERNEL_FILE "supple/lattice/gauss_kernels.cpp"
#include "supple/math/for_each_target.h"

#include "supple/material/corotated.h"
#include "supple/math/svd3.h"

SUPPLE_KERNELS_BEGIN

// Derivatives of the trilinear weights of a cell of side 1: by corner, axis and point.
struct PointWeights {
  alignas(64) double of[8][3][gauss_points];
};

constexpr PointWeights make_point_weights() {
  constexpr double root = 0.57735026918962576451;  // 1/√3
  PointWeights result{};
  for (size_t corner = 0; corner < 8; ++corner)
    for (size_t axis = 0; axis < 3; ++axis)
      for (size_t q = 0; q < gauss_points; ++q) {
        double w = (corner >> axis & 1) != 0 ? 1 : -1;
        for (size_t other = 0; other < 3; ++other)
          if (other != axis)
            w *= (corner >> other & 1) == (q >> other & 1) ? 0.5 + 0.5 * root : 0.5 - 0.5 * root;
        result.of[corner][axis][q] = w;
      }
  return result;
}

constexpr PointWeights point_weights = make_point_weights();

HWY_INLINE Vector3<WideDouble> weight_gradient(size_t corner, size_t q) {
  const auto& of = point_weights.of[corner];
  return {load(of[0] + q), load(of[1] + q), load(of[2] + q)};
}

HWY_INLINE double sum_of_lanes(WideDouble a) {
  alignas(64) double lanes[WideDouble::lanes];
  store(a, lanes);
  double total = 0;
  for (const double lane : lanes) total += lane;
  return total;
}

// The deformation gradients at points from q on, decomposed.
HWY_INLINE Svd3<WideDouble> point_svd(const double* x, double spacing, size_t q) {
  using T = WideDouble;
  Matrix3<T> f = {T(0.0), T(0.0), T(0.0), T(0.0), T(0.0), T(0.0), T(0.0), T(0.0), T(0.0)};
  const double scale = 1 / spacing;
  // From the first corner on: far from the origin fewer digits are lost.
  for (size_t i = 1; i < 8; ++i) {
    const Vector3<T> g = weight_gradient(i, q);
    const T a((x[3 * i] - x[0]) * scale), b((x[3 * i + 1] - x[1]) * scale),
        c((x[3 * i + 2] - x[2]) * scale);
    f = {mul_add(a, g.x, f.a00), mul_add(a, g.y, f.a01), mul_add(a, g.z, f.a02),
         mul_add(b, g.x, f.a10), mul_add(b, g.y, f.a11), mul_add(b, g.z, f.a12),
         mul_add(c, g.x, f.a20), mul_add(c, g.y, f.a21), mul_add(c, g.z, f.a22)};
  }
  return svd3(f);
}

HWY_INLINE WideDouble point_rest(const GaussCell& cell, size_t q) {
  return cell.rests == nullptr ? WideDouble(3.0) : load_as<double>(cell.rests + q);
}

// U diag(p) Vᵀ.
HWY_INLINE Matrix3<WideDouble> turned(const Svd3<WideDouble>& svd, const Vector3<WideDouble>& p) {
  using T = WideDouble;
  const Matrix3<T> u = rotation_matrix(svd.u), v = rotation_matrix(svd.v);
  const auto entry = [&](T u0, T u1, T u2, T v0, T v1, T v2) {
    return mul_add(u0 * p.x, v0, mul_add(u1 * p.y, v1, u2 * p.z * v2));
  };
  return {entry(u.a00, u.a01, u.a02, v.a00, v.a01, v.a02),
          entry(u.a00, u.a01, u.a02, v.a10, v.a11, v.a12),
          entry(u.a00, u.a01, u.a02, v.a20, v.a21, v.a22),
          entry(u.a10, u.a11, u.a12, v.a00, v.a01, v.a02),
          entry(u.a10, u.a11, u.a12, v.a10, v.a11, v.a12),
          entry(u.a10, u.a11, u.a12, v.a20, v.a21, v.a22),
          entry(u.a20, u.a21, u.a22, v.a00, v.a01, v.a02),
          entry(u.a20, u.a21, u.a22, v.a10, v.a11, v.a12),
          entry(u.a20, u.a21, u.a22, v.a20, v.a21, v.a22)};
}

double energy_of_cell(const GaussCell& cell, const double* x, double* gradient) {
  using T = WideDouble;
  const T mu(cell.mu), lambda(cell.lambda), inversion(cell.inversion), flat(cell.flat);
  // A point stands for an eighth of h³; derivatives of weights are 1/h of those of a cell of
  // side 1.
  const double h = cell.spacing, volume = h * h * h / gauss_points, area = h * h / gauss_points;
  if (gradient != nullptr) std::fill(gradient, gradient + 24, 0.0);
  double energy = 0;
  for (size_t q = 0; q < gauss_points; q += T::lanes) {
    const Svd3<T> svd = point_svd(x, h, q);
    const T rest = point_rest(cell, q);
    energy += volume * sum_of_lanes(corotated_energy(svd.sigma, mu, lambda, rest) +
                                    inversion_energy(svd.sigma, inversion, flat));
    if (gradient == nullptr) continue;
    const Matrix3<T> p =
        turned(svd, principal_stress(svd.sigma, mu, lambda, rest, inversion, flat));
    for (size_t i = 0; i < 8; ++i) {
      const Vector3<T> g = weight_gradient(i, q);
      const auto along = [&](T px, T py, T pz) {
        return area * sum_of_lanes(mul_add(px, g.x, mul_add(py, g.y, pz * g.z)));
      };
      gradient[3 * i] += along(p.a00, p.a01, p.a02);
      gradient[3 * i + 1] += along(p.a10, p.a11, p.a12);
      gradient[3 * i + 2] += along(p.a20, p.a21, p.a22);
    }
  }
  return energy;
}

// The block of corners with weights' derivatives a and b, along V's axes, in U's axes.
HWY_INLINE Matrix3<WideDouble> principal_block(const PrincipalStiffness<WideDouble>& k,
                                               WideDouble lambda, const Vector3<WideDouble>& a,
                                               const Vector3<WideDouble>& b) {
  using T = WideDouble;
  const T xx = a.x * b.x, yy = a.y * b.y, zz = a.z * b.z;
  const auto off = [&](T crossed, T ai, T aj, T bi, T bj) {
    return mul_add(lambda, ai * bj, crossed * aj * bi);
  };
  return {mul_add(k.stretch.x + lambda, xx, mul_add(k.straight.z, yy, k.straight.y * zz)),
          off(k.crossed.z, a.x, a.y, b.x, b.y),
          off(k.crossed.y, a.x, a.z, b.x, b.z),
          off(k.crossed.z, a.y, a.x, b.y, b.x),
          mul_add(k.stretch.y + lambda, yy, mul_add(k.straight.z, xx, k.straight.x * zz)),
          off(k.crossed.x, a.y, a.z, b.y, b.z),
          off(k.crossed.y, a.z, a.x, b.z, b.x),
          off(k.crossed.x, a.z, a.y, b.z, b.y),
          mul_add(k.stretch.z + lambda, zz, mul_add(k.straight.y, xx, k.straight.x * yy))};
}

HWY_INLINE Matrix3<WideDouble> transposed(const Matrix3<WideDouble>& m) {
  return {m.a00, m.a10, m.a20, m.a01, m.a11, m.a21, m.a02, m.a12, m.a22};
}

// Adds the sums over the points of a corner block and, off the diagonal, its transpose.
HWY_INLINE void add_block(const Matrix3<WideDouble>& m, double scale, size_t i, size_t j,
                          double* matrix) {
  const WideDouble entries[9] = {m.a00, m.a01, m.a02, m.a10, m.a11, m.a12, m.a20, m.a21, m.a22};
  for (size_t r = 0; r < 3; ++r)
    for (size_t c = 0; c < 3; ++c) {
      if (i == j && c < r) continue;
      const double sum = scale * sum_of_lanes(entries[3 * r + c]);
      const size_t row = 3 * i + r, column = 3 * j + c;
      matrix[24 * row + column] += sum;
      if (row != column) matrix[24 * column + row] += sum;
    }
}

// K_ij = sum over points of h/8 U M_ij Uᵀ.
void matrix_of_cell(const GaussCell& cell, const double* x, const DifferentialRule<double>& rule,
                    double* matrix) {
  using T = WideDouble;
  const T mu(cell.mu), lambda(cell.lambda), inversion(cell.inversion), flat(cell.flat);
  const double scale = cell.spacing / gauss_points;
  std::fill(matrix, matrix + 24 * 24, 0.0);
  for (size_t q = 0; q < gauss_points; q += T::lanes) {
    const Svd3<T> svd = point_svd(x, cell.spacing, q);
    const PrincipalStiffness<T> k =
        principal_stiffness(svd.sigma, mu, lambda, point_rest(cell, q), inversion, flat, rule);
    const Matrix3<T> u = rotation_matrix(svd.u), v = rotation_matrix(svd.v);
    const Matrix3<T> back = transposed(u);
    Vector3<T> along[8];  // derivatives of the weights, Vᵀ g
    for (size_t i = 0; i < 8; ++i) {
      const Vector3<T> g = weight_gradient(i, q);
      along[i] = {mul_add(v.a00, g.x, mul_add(v.a10, g.y, v.a20 * g.z)),
                  mul_add(v.a01, g.x, mul_add(v.a11, g.y, v.a21 * g.z)),
                  mul_add(v.a02, g.x, mul_add(v.a12, g.y, v.a22 * g.z))};
    }
    for (size_t i = 0; i < 8; ++i)
      for (size_t j = i; j < 8; ++j)
        add_block(product(product(u, principal_block(k, lambda, along[i], along[j])), back), scale,
                  i, j, matrix);
  }
}

float rests_of_cell(const double* x, double spacing, VolumeAnswer answer, float* rests) {
  using T = WideDouble;
  const T most(most_rest(answer));
  float largest = 0;
  for (size_t q = 0; q < gauss_points; q += T::lanes) {
    const Vector3<T> sigma = point_svd(x, spacing, q).sigma;
    const T excess = sigma.x + sigma.y + sigma.z - T(3.0);
    const T broad = sigma.x * sigma.y, volume = broad * sigma.z;
    // As LatticeSystem::keep_volume has it.
    const T growth = answer == VolumeAnswer::gentle
                         ? (max(volume, T(0.0)) - T(1.0)) / max(broad, T(1.0))
                         : volume - T(1.0);
    alignas(64) double lanes[T::lanes];
    store(T(3.0) + min(max(excess - growth, T(0.0) - most), most), lanes);
    for (size_t i = 0; i < T::lanes; ++i) {
      const auto rest = static_cast<float>(lanes[i]);
      largest = std::max(largest, std::abs(rest - rests[q + i]));
      rests[q + i] = rest;
    }
  }
  return largest;
}

SUPPLE_KERNELS_END

#if SUPPLE_KERNELS_ONCE
namespace supple {
namespace {
SUPPLE_KERNEL(energy_of_cell);
SUPPLE_KERNEL(matrix_of_cell);
SUPPLE_KERNEL(rests_of_cell);
}  // namespace

double gauss_energy(const GaussCell& cell, const CornerNumbers& x, CornerNumbers* gradient) {
  return SUPPLE_DISPATCH(energy_of_cell)(cell, x.data(),
                                         gradient == nullptr ? nullptr : gradient->data());
}

void gauss_matrix(const GaussCell& cell, const CornerNumbers& x,
                  const DifferentialRule<double>& rule, double* matrix) {
  SUPPLE_DISPATCH(matrix_of_cell)(cell, x.data(), rule, matrix);
}

float gauss_rests(const CornerNumbers& x, double spacing, VolumeAnswer answer, float* rests) {
  return SUPPLE_DISPATCH(rests_of_cell)(x.data(), spacing, answer, rests);
}

}  // namespace supple
#endif
