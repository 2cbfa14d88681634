// St. Venant-Kirchhoff elasticity [Kim 2011, eq. 1 and 2] over any lane type: linear in the Green
// strain. It stiffens when stretched, softens when squashed, and stays inside out. Included per
// target.
#if defined(SUPPLE_MATERIAL_STVK_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef SUPPLE_MATERIAL_STVK_PER_TARGET
#undef SUPPLE_MATERIAL_STVK_PER_TARGET
#else
#define SUPPLE_MATERIAL_STVK_PER_TARGET
#endif

#include "supple/material/principal.h"

SUPPLE_KERNELS_BEGIN

/// E = (FᵀF - I)/2, Ψ = μ |E|² + λ/2 tr² E, S = λ tr(E) I + 2 μ E, P = F S.
struct StvkLaw {
  static constexpr bool needs_svd = false;

  /// Energy density, Pa.
  template <class T>
  static HWY_INLINE T energy(const Matrix3<T>& f, const Elastic<T>& m) {
    const Symmetric3<T> c = gram(f);
    const T half(0.5), one(1);
    const T x = half * (c.xx - one), y = half * (c.yy - one), z = half * (c.zz - one);
    const T trace = x + y + z;
    const T square = x * x + y * y + z * z + half * (c.yz * c.yz + c.xz * c.xz + c.xy * c.xy);
    return mul_add(m.mu, square, half * m.lambda * trace * trace);
  }

  /// First Piola-Kirchhoff stress, Pa; `c` is FᵀF.
  template <class T>
  static HWY_INLINE Matrix3<T> stress(const Matrix3<T>& f, const Symmetric3<T>& c,
                                      const Elastic<T>& m) {
    const T pressure = T(0.5) * m.lambda * (c.xx + c.yy + c.zz - T(3)) - m.mu;
    const T xx = mul_add(m.mu, c.xx, pressure), yy = mul_add(m.mu, c.yy, pressure),
            zz = mul_add(m.mu, c.zz, pressure);
    const T yz = m.mu * c.yz, xz = m.mu * c.xz, xy = m.mu * c.xy;
    return product(f, Matrix3<T>{xx, xy, xz, xy, yy, yz, xz, yz, zz});
  }
  template <class T>
  static HWY_INLINE Matrix3<T> stress(const Matrix3<T>& f, const Elastic<T>& m) {
    return stress(f, gram(f), m);
  }

  /// Derivatives by the principal stretches.
  template <class T>
  static HWY_INLINE PrincipalDerivatives<T> principal(const Vector3<T>& s, const Elastic<T>& m) {
    const T half(0.5), one(1), two_mu = m.mu + m.mu;
    const T x = half * (s.x * s.x - one), y = half * (s.y * s.y - one),
            z = half * (s.z * s.z - one);
    const T pressure = m.lambda * (x + y + z);
    const auto slope = [&](T a, T e)
                           HWY_ATTR { return pressure + two_mu * e + (m.lambda + two_mu) * a * a; };
    return {{s.x * (pressure + two_mu * x), s.y * (pressure + two_mu * y),
             s.z * (pressure + two_mu * z)},
            {slope(s.x, x), slope(s.y, y), slope(s.z, z), m.lambda * s.y * s.z,
             m.lambda * s.x * s.z, m.lambda * s.x * s.y}};
  }
};

SUPPLE_KERNELS_END

#endif
