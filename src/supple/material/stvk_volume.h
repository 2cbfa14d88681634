// St. Venant-Kirchhoff elasticity with a term that keeps the volume, over any lane type. Included
// per target.
#if defined(SUPPLE_MATERIAL_STVK_VOLUME_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef SUPPLE_MATERIAL_STVK_VOLUME_PER_TARGET
#undef SUPPLE_MATERIAL_STVK_VOLUME_PER_TARGET
#else
#define SUPPLE_MATERIAL_STVK_VOLUME_PER_TARGET
#endif

#include "supple/material/stvk.h"

SUPPLE_KERNELS_BEGIN

/// Ψ = Ψ_StVK + κ/2 (J - 1)², J = det F, κ = volume · (λ + 2μ/3); P gains κ (J - 1) cof F.
struct StvkVolumeLaw {
  static constexpr bool needs_svd = false;

  /// The stiffness κ of the volume term, Pa.
  template <class T>
  static HWY_INLINE T stiffness(const Elastic<T>& m) {
    return m.volume * mul_add(m.mu, T(2.0 / 3), m.lambda);
  }

  /// Energy density, Pa.
  template <class T>
  static HWY_INLINE T energy(const Matrix3<T>& f, const Elastic<T>& m) {
    const T grown = determinant(f, cofactors(f)) - T(1);
    return StvkLaw::energy(f, m) + T(0.5) * stiffness(m) * grown * grown;
  }

  /// First Piola-Kirchhoff stress, Pa.
  template <class T>
  static HWY_INLINE Matrix3<T> stress(const Matrix3<T>& f, const Elastic<T>& m) {
    const Matrix3<T> cofactor = cofactors(f);
    const T pressure = stiffness(m) * (determinant(f, cofactor) - T(1));
    return add_scaled(StvkLaw::stress(f, m), pressure, cofactor);
  }

  /// Derivatives by the principal stretches.
  template <class T>
  static HWY_INLINE PrincipalDerivatives<T> principal(const Vector3<T>& s, const Elastic<T>& m) {
    PrincipalDerivatives<T> d = StvkLaw::principal(s, m);
    const T k = stiffness(m), yz = s.y * s.z, xz = s.x * s.z, xy = s.x * s.y;
    const T grown = s.x * yz - T(1), push = k * grown;
    d.gradient = {d.gradient.x + push * yz, d.gradient.y + push * xz, d.gradient.z + push * xy};
    d.hessian = {d.hessian.xx + k * yz * yz,
                 d.hessian.yy + k * xz * xz,
                 d.hessian.zz + k * xy * xy,
                 d.hessian.yz + k * xz * xy + push * s.x,
                 d.hessian.xz + k * yz * xy + push * s.y,
                 d.hessian.xy + k * yz * xz + push * s.z};
    return d;
  }
};

SUPPLE_KERNELS_END

#endif
