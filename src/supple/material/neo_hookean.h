// Stable neo-Hookean elasticity [Smith 2018, eq. 14], over any lane type: finite and with a way
// back from flat and inside out. Included per target.
#if defined(SUPPLE_MATERIAL_NEO_HOOKEAN_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef SUPPLE_MATERIAL_NEO_HOOKEAN_PER_TARGET
#undef SUPPLE_MATERIAL_NEO_HOOKEAN_PER_TARGET
#else
#define SUPPLE_MATERIAL_NEO_HOOKEAN_PER_TARGET
#endif

#include "supple/material/principal.h"

SUPPLE_KERNELS_BEGIN

/// Ψ = μ̂/2 (I - 3) + λ̂/2 (J - α)² - μ̂/2 log(I + 1), I = |F|², J = det F, less its value at rest.
/// μ̂ = 4/3 μ and λ̂ = λ + 5/6 μ make it agree with the Lamé moduli at small strains; α puts the rest
/// state at F = I.
struct NeoHookeanLaw {
  static constexpr bool needs_svd = false;

  /// μ̂, λ̂ and α.
  template <class T>
  struct Numbers {
    T mu, lambda, alpha;
  };
  template <class T>
  static HWY_INLINE Numbers<T> numbers(const Elastic<T>& m) {
    const T mu = T(4.0 / 3) * m.mu, lambda = mul_add(m.mu, T(5.0 / 6), m.lambda);
    return {mu, lambda, T(1) + T(0.75) * mu / lambda};
  }

  /// Energy density, Pa; of scalars only.
  template <class T>
  static HWY_INLINE T energy(const Matrix3<T>& f, const Elastic<T>& m) {
    const Numbers<T> n = numbers(m);
    const T square = squared_norm(f), grown = determinant(f, cofactors(f)) - n.alpha;
    const T rest = T(1) - n.alpha;
    return T(0.5) * (n.mu * (square - T(3) - std::log((square + T(1)) / T(4))) +
                     n.lambda * (grown * grown - rest * rest));
  }

  /// First Piola-Kirchhoff stress, Pa.
  template <class T>
  static HWY_INLINE Matrix3<T> stress(const Matrix3<T>& f, const Elastic<T>& m) {
    const Numbers<T> n = numbers(m);
    const Matrix3<T> c = cofactors(f);
    const T stretch = n.mu - n.mu / (squared_norm(f) + T(1));
    const T pressure = n.lambda * (determinant(f, c) - n.alpha);
    return add_scaled(
        {pressure * c.a00, pressure * c.a01, pressure * c.a02, pressure * c.a10, pressure * c.a11,
         pressure * c.a12, pressure * c.a20, pressure * c.a21, pressure * c.a22},
        stretch, f);
  }

  /// Derivatives by the principal stretches.
  template <class T>
  static HWY_INLINE PrincipalDerivatives<T> principal(const Vector3<T>& s, const Elastic<T>& m) {
    const Numbers<T> n = numbers(m);
    const T inverse = T(1) / (s.x * s.x + s.y * s.y + s.z * s.z + T(1));
    const T stretch = n.mu - n.mu * inverse, bend = (n.mu + n.mu) * inverse * inverse;
    const T yz = s.y * s.z, xz = s.x * s.z, xy = s.x * s.y;
    const T push = n.lambda * (s.x * yz - n.alpha);
    return {
        {stretch * s.x + push * yz, stretch * s.y + push * xz, stretch * s.z + push * xy},
        {stretch + bend * s.x * s.x + n.lambda * yz * yz,
         stretch + bend * s.y * s.y + n.lambda * xz * xz,
         stretch + bend * s.z * s.z + n.lambda * xy * xy,
         bend * yz + n.lambda * xz * xy + push * s.x, bend * xz + n.lambda * yz * xy + push * s.y,
         bend * xy + n.lambda * yz * xz + push * s.z}};
  }
};

SUPPLE_KERNELS_END

#endif
