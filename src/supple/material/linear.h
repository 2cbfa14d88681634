// Linear elasticity over any lane type: for small displacements and comparisons, as it takes turns
// for strain. Included per target.
#if defined(SUPPLE_MATERIAL_LINEAR_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef SUPPLE_MATERIAL_LINEAR_PER_TARGET
#undef SUPPLE_MATERIAL_LINEAR_PER_TARGET
#else
#define SUPPLE_MATERIAL_LINEAR_PER_TARGET
#endif

#include "supple/material/principal.h"

SUPPLE_KERNELS_BEGIN

/// ε = (F + Fᵀ)/2 - I, Ψ = μ |ε|² + λ/2 tr² ε, P = 2 μ ε + λ tr(ε) I.
struct LinearLaw {
  static constexpr bool needs_svd = false;

  /// Energy density, Pa.
  template <class T>
  static HWY_INLINE T energy(const Matrix3<T>& f, const Elastic<T>& m) {
    const T half(0.5), one(1);
    const T x = f.a00 - one, y = f.a11 - one, z = f.a22 - one, trace = x + y + z;
    const T yz = f.a12 + f.a21, xz = f.a02 + f.a20, xy = f.a01 + f.a10;
    return m.mu * (x * x + y * y + z * z + half * (yz * yz + xz * xz + xy * xy)) +
           half * m.lambda * trace * trace;
  }

  /// First Piola-Kirchhoff stress, Pa.
  template <class T>
  static HWY_INLINE Matrix3<T> stress(const Matrix3<T>& f, const Elastic<T>& m) {
    const T two_mu = m.mu + m.mu;
    const T pressure = m.lambda * (f.a00 + f.a11 + f.a22 - T(3)) - two_mu;
    const T yz = m.mu * (f.a12 + f.a21), xz = m.mu * (f.a02 + f.a20), xy = m.mu * (f.a01 + f.a10);
    return {mul_add(two_mu, f.a00, pressure), xy, xz, xy,
            mul_add(two_mu, f.a11, pressure), yz, xz, yz,
            mul_add(two_mu, f.a22, pressure)};
  }
};

SUPPLE_KERNELS_END

#endif
