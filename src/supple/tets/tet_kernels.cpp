#include "supple/tets/tet_kernels.h"

#define SUPPLE_KERNEL_FILE "supple/tets/tet_kernels.cpp"
#include "supple/math/for_each_target.h"

#include "supple/material/corotated.h"
#include "supple/material/invertible_stvk.h"
#include "supple/material/linear.h"
#include "supple/material/neo_hookean.h"
#include "supple/material/stvk.h"
#include "supple/material/stvk_volume.h"

SUPPLE_KERNELS_BEGIN

HWY_INLINE Vector3<WideFloat> gather_corner(const float* x, const int32_t* corner) {
  const WideInt at = load_int(corner);
  return {gather(x, at), gather(x + 1, at), gather(x + 2, at)};
}
HWY_INLINE Vector3<WideDouble> gather_corner(const double* x, const int32_t* corner) {
  constexpr size_t n = WideDouble::lanes;
  alignas(64) double a[n], b[n], c[n];
  for (size_t i = 0; i < n; ++i) {
    const double* from = x + corner[i];
    a[i] = from[0];
    b[i] = from[1];
    c[i] = from[2];
  }
  return {load(a), load(b), load(c)};
}

template <class T, class Scalar>
HWY_INLINE Matrix3<T> load_inverse(const Scalar* from) {
  constexpr size_t g = tet_group;
  return {load(from),         load(from + g),     load(from + 2 * g),
          load(from + 3 * g), load(from + 4 * g), load(from + 5 * g),
          load(from + 6 * g), load(from + 7 * g), load(from + 8 * g)};
}

// Rounding of the characteristic polynomial, generously.
template <class Scalar>
constexpr Scalar safe_margin = sizeof(Scalar) == 4 ? Scalar(1e-4) : Scalar(1e-9);

// Stress of elements side by side. Where all are little deformed, StVK needs no diagonalisation.
template <class LawType, bool selective, class T, class Scalar>
HWY_INLINE Matrix3<T> group_stress(const Matrix3<T>& f, const Elastic<T>& material) {
  if constexpr (selective) {
    const Symmetric3<T> c = gram(f);
    const auto little = is_little_deformed(f, c, material, T(safe_margin<Scalar>));
    if (all(little)) return StvkLaw::stress(f, c, material);
  }
  return LawType::stress(f, material);
}

template <class LawType, bool selective, class Scalar>
HWY_INLINE void forces_loop(const TetTables<Scalar>& t, const Scalar* x, Scalar* forces,
                            size_t begin, size_t end) {
  using T = Wide<Scalar>;
  constexpr size_t g = tet_group, lanes = T::lanes < g ? T::lanes : g;
  for (size_t group = begin; group < end; ++group)
    for (size_t lane = 0; lane < g; lane += lanes) {
      const size_t e = group * g + lane;
      const int32_t* corners = t.corners + 4 * group * g + lane;
      const Vector3<T> x0 = gather_corner(x, corners);
      const Vector3<T> a = gather_corner(x, corners + g) - x0,
                       b = gather_corner(x, corners + 2 * g) - x0,
                       c = gather_corner(x, corners + 3 * g) - x0;
      const Matrix3<T> inverse = load_inverse<T>(t.inverse + 9 * group * g + lane);
      // F = [x1 - x0, x2 - x0, x3 - x0] [X1 - X0, X2 - X0, X3 - X0]⁻¹.
      const Matrix3<T> f =
          product(Matrix3<T>{a.x, b.x, c.x, a.y, b.y, c.y, a.z, b.z, c.z}, inverse);
      const Elastic<T> material{load(t.mu + e), load(t.lambda + e), T(t.lower), T(t.upper),
                                T(t.keep)};
      const Matrix3<T> p = group_stress<LawType, selective, T, Scalar>(f, material);
      // [f1, f2, f3] = -w V P [X...]⁻ᵀ, f0 = -(f1 + f2 + f3).
      const Matrix3<T> h = product_transposed(p, inverse);
      const T scale = -load(t.volume + e);
      Scalar* out = forces + group * force_group + lane;
      const T f1x = scale * h.a00, f1y = scale * h.a10, f1z = scale * h.a20;
      const T f2x = scale * h.a01, f2y = scale * h.a11, f2z = scale * h.a21;
      const T f3x = scale * h.a02, f3y = scale * h.a12, f3z = scale * h.a22;
      store(-(f1x + f2x + f3x), out);
      store(-(f1y + f2y + f3y), out + g);
      store(-(f1z + f2z + f3z), out + 2 * g);
      store(f1x, out + 3 * g);
      store(f1y, out + 4 * g);
      store(f1z, out + 5 * g);
      store(f2x, out + 6 * g);
      store(f2y, out + 7 * g);
      store(f2z, out + 8 * g);
      store(f3x, out + 9 * g);
      store(f3y, out + 10 * g);
      store(f3z, out + 11 * g);
    }
}

template <class Scalar>
HWY_INLINE void forces_of_law(const TetTables<Scalar>& t, const Scalar* x, Scalar* forces,
                              size_t begin, size_t end) {
  switch (t.law) {
    case Law::stvk:
      return forces_loop<StvkLaw, false>(t, x, forces, begin, end);
    case Law::stvk_volume:
      return forces_loop<StvkVolumeLaw, false>(t, x, forces, begin, end);
    case Law::neo_hookean:
      return forces_loop<NeoHookeanLaw, false>(t, x, forces, begin, end);
    case Law::corotated:
      return forces_loop<CorotatedLaw, false>(t, x, forces, begin, end);
    case Law::linear:
      return forces_loop<LinearLaw, false>(t, x, forces, begin, end);
    case Law::invertible_stvk:
      break;
  }
  if (t.diagonalise == Diagonalise::selective)
    forces_loop<InvertibleStvkLaw, true>(t, x, forces, begin, end);
  else
    forces_loop<InvertibleStvkLaw, false>(t, x, forces, begin, end);
}

void forces_float(const TetTables<float>& t, const float* x, float* forces, size_t begin,
                  size_t end) {
  forces_of_law(t, x, forces, begin, end);
}
void forces_double(const TetTables<double>& t, const double* x, double* forces, size_t begin,
                   size_t end) {
  forces_of_law(t, x, forces, begin, end);
}

template <class Scalar>
HWY_INLINE void add_up(const TetSums& sums, const Scalar* forces, double* out, size_t begin,
                       size_t end) {
  for (size_t n = begin; n < end; ++n) {
    Scalar x = 0, y = 0, z = 0;
    for (uint32_t e = sums.offsets[n]; e < sums.offsets[n + 1]; ++e) {
      const Scalar* from = forces + sums.entries[e];
      x += from[0];
      y += from[tet_group];
      z += from[2 * tet_group];
    }
    out[3 * n] += static_cast<double>(x);
    out[3 * n + 1] += static_cast<double>(y);
    out[3 * n + 2] += static_cast<double>(z);
  }
}

void add_float(const TetSums& sums, const float* forces, double* out, size_t begin, size_t end) {
  add_up(sums, forces, out, begin, end);
}
void add_double(const TetSums& sums, const double* forces, double* out, size_t begin, size_t end) {
  add_up(sums, forces, out, begin, end);
}

SUPPLE_KERNELS_END

#if SUPPLE_KERNELS_ONCE
namespace supple {

SUPPLE_KERNEL(forces_float);
SUPPLE_KERNEL(forces_double);
SUPPLE_KERNEL(add_float);
SUPPLE_KERNEL(add_double);

void tet_forces(const TetTables<float>& tables, const float* x, float* forces, size_t begin,
                size_t end) {
  SUPPLE_DISPATCH(forces_float)(tables, x, forces, begin, end);
}
void tet_forces(const TetTables<double>& tables, const double* x, double* forces, size_t begin,
                size_t end) {
  SUPPLE_DISPATCH(forces_double)(tables, x, forces, begin, end);
}

void add_tet_forces(const TetSums& sums, const float* forces, double* out, size_t begin,
                    size_t end) {
  SUPPLE_DISPATCH(add_float)(sums, forces, out, begin, end);
}
void add_tet_forces(const TetSums& sums, const double* forces, double* out, size_t begin,
                    size_t end) {
  SUPPLE_DISPATCH(add_double)(sums, forces, out, begin, end);
}

}  // namespace supple
#endif
