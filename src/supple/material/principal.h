// Isotropic laws in principal stretches: F = U diag(σ) Vᵀ, energy Ψ(σ), stress U diag(∂Ψ/∂σ) Vᵀ,
// over any lane type. Included per target.
#if defined(SUPPLE_MATERIAL_PRINCIPAL_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef SUPPLE_MATERIAL_PRINCIPAL_PER_TARGET
#undef SUPPLE_MATERIAL_PRINCIPAL_PER_TARGET
#else
#define SUPPLE_MATERIAL_PRINCIPAL_PER_TARGET
#endif

#include "supple/material/law.h"
#include "supple/math/small.h"
#include "supple/math/svd3.h"

SUPPLE_KERNELS_BEGIN

/// First and second derivatives of an energy density by the principal stretches, Pa.
template <class T>
struct PrincipalDerivatives {
  Vector3<T> gradient;
  Symmetric3<T> hessian;
};

/// The first Piola-Kirchhoff stress with principal stresses `g`: U diag(g) Vᵀ [Kim 2011, eq. 5].
template <class T>
HWY_INLINE Matrix3<T> principal_stress(const Svd3<T>& svd, const Vector3<T>& g) {
  const Matrix3<T> u = rotation_matrix(svd.u), v = rotation_matrix(svd.v);
  return product_transposed(
      Matrix3<T>{u.a00 * g.x, u.a01 * g.y, u.a02 * g.z, u.a10 * g.x, u.a11 * g.y, u.a12 * g.z,
                 u.a20 * g.x, u.a21 * g.y, u.a22 * g.z},
      v);
}

/// Adds s · A to B.
template <class T>
HWY_INLINE Matrix3<T> add_scaled(const Matrix3<T>& b, T s, const Matrix3<T>& a) {
  return {mul_add(s, a.a00, b.a00), mul_add(s, a.a01, b.a01), mul_add(s, a.a02, b.a02),
          mul_add(s, a.a10, b.a10), mul_add(s, a.a11, b.a11), mul_add(s, a.a12, b.a12),
          mul_add(s, a.a20, b.a20), mul_add(s, a.a21, b.a21), mul_add(s, a.a22, b.a22)};
}

/// The sum of the squares of a matrix's entries.
template <class T>
HWY_INLINE T squared_norm(const Matrix3<T>& f) {
  return mul_add(f.a00, f.a00, mul_add(f.a01, f.a01, f.a02 * f.a02)) +
         mul_add(f.a10, f.a10, mul_add(f.a11, f.a11, f.a12 * f.a12)) +
         mul_add(f.a20, f.a20, mul_add(f.a21, f.a21, f.a22 * f.a22));
}

SUPPLE_KERNELS_END

#endif
