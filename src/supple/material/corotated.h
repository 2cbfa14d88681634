// Corotated elasticity [McAdams 2011, eq. 2, 6, 10, 12], split as in eq. 17 into the Laplace part
// mu |F|^2 and the auxiliary part -2 mu tr(RᵀF) + 3 mu + lambda/2 tr²(RᵀF - I), over any lane type.
// Included per target.
#if defined(SUPPLE_MATERIAL_COROTATED_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef SUPPLE_MATERIAL_COROTATED_PER_TARGET
#undef SUPPLE_MATERIAL_COROTATED_PER_TARGET
#else
#define SUPPLE_MATERIAL_COROTATED_PER_TARGET
#endif

#include "supple/material/differential.h"
#include "supple/material/principal.h"
#include "supple/math/small.h"
#include "supple/math/svd3.h"

SUPPLE_KERNELS_BEGIN

/// Energy density of the auxiliary part; `trace` is the sum of the signed singular values of F, and
/// `rest` what it is without pressure.
template <class T>
HWY_INLINE T auxiliary_energy(T trace, T mu, T lambda, T rest = T(3)) {
  const T stretch = trace - rest;
  return mul_add(lambda * T(0.5), stretch * stretch, mu * (T(3) - trace - trace));
}

/// Stress of the auxiliary part as a multiple of R: P_aux = (lambda tr(S - I) - 2 mu) R.
template <class T>
HWY_INLINE T auxiliary_stress(T trace, T mu, T lambda, T rest = T(3)) {
  return mul_add(lambda, trace - rest, -(mu + mu));
}

/// How far principal stretches are below `flat`, as negative numbers; else 0.
template <class T>
HWY_INLINE Vector3<T> flatness(const Vector3<T>& sigma, T flat) {
  return {min(sigma.x - flat, T(0)), min(sigma.y - flat, T(0)), min(sigma.z - flat, T(0))};
}

/// Energy density of a cell that is flat or turned inside out, beyond that of corotated elasticity:
/// half of `stiffness` times the squares of what its singular values are below `flat`.
template <class T>
HWY_INLINE T inversion_energy(const Vector3<T>& sigma, T stiffness, T flat) {
  const Vector3<T> below = flatness(sigma, flat);
  return stiffness * T(0.5) *
         mul_add(below.x, below.x, mul_add(below.y, below.y, below.z * below.z));
}

/// Adds the stress that goes with inversion_energy, U diag Vᵀ.
template <class T>
HWY_INLINE void add_inversion_stress(const Svd3<T>& svd, T stiffness, T flat, Matrix3<T>& p) {
  const Matrix3<T> u = rotation_matrix(svd.u), v = rotation_matrix(svd.v);
  const Vector3<T> below = flatness(svd.sigma, flat);
  const auto add = [&](T push, T u0, T u1, T u2, T v0, T v1, T v2) {
    const T x = push * u0, y = push * u1, z = push * u2;
    p = {mul_add(x, v0, p.a00), mul_add(x, v1, p.a01), mul_add(x, v2, p.a02),
         mul_add(y, v0, p.a10), mul_add(y, v1, p.a11), mul_add(y, v2, p.a12),
         mul_add(z, v0, p.a20), mul_add(z, v1, p.a21), mul_add(z, v2, p.a22)};
  };
  add(stiffness * below.x, u.a00, u.a10, u.a20, v.a00, v.a10, v.a20);
  add(stiffness * below.y, u.a01, u.a11, u.a21, v.a01, v.a11, v.a21);
  add(stiffness * below.z, u.a02, u.a12, u.a22, v.a02, v.a12, v.a22);
}

/// L of [McAdams 2011, Alg. 1]: how the auxiliary stress turns when F turns, in the axes of V,
/// limited as `rule` says. The lower limit of -mu is the exact eigenvalue projection of the
/// stabilised element; the upper one and the guarded denominator keep cells that are flattened to a
/// line from becoming infinitely stiff, where the formula has a pole.
template <class T, class Scalar>
HWY_INLINE Vector3<T> turning_stiffness(const Vector3<T>& sigma, T mu, T lambda,
                                        const DifferentialRule<Scalar>& rule, T rest = T(3)) {
  const T trace = sigma.x + sigma.y + sigma.z;
  const T numerator = T(rule.scale) * auxiliary_stress(trace, mu, lambda, rest);
  const T least = T(rule.least_denominator), shift = T(rule.offset) * mu;
  const T low = T(rule.lower) * mu, high = T(rule.upper) * mu;
  const auto entry = [&](T denominator) {
    return min(max(numerator / max(denominator, least) + shift, low), high);
  };
  return {entry(sigma.y + sigma.z), entry(sigma.x + sigma.z), entry(sigma.x + sigma.y)};
}

/// Energy density by singular values: mu |F - R|² + lambda / 2 (tr S - rest)².
template <class T>
HWY_INLINE T corotated_energy(const Vector3<T>& sigma, T mu, T lambda, T rest) {
  const T x = sigma.x - T(1), y = sigma.y - T(1), z = sigma.z - T(1);
  const T stretch = sigma.x + sigma.y + sigma.z - rest;
  return mul_add(mu, mul_add(x, x, mul_add(y, y, z * z)), lambda * T(0.5) * stretch * stretch);
}

/// Principal stresses, P = U diag(p) Vᵀ, with those of inversion_energy for a
/// stiffness of `inversion`.
template <class T>
HWY_INLINE Vector3<T> principal_stress(const Vector3<T>& sigma, T mu, T lambda, T rest, T inversion,
                                       T flat) {
  const T pressure = lambda * (sigma.x + sigma.y + sigma.z - rest), two_mu = mu + mu;
  const Vector3<T> below = flatness(sigma, flat);
  const auto along = [&](T stretch, T missing) {
    return mul_add(two_mu, stretch - T(1), mul_add(inversion, missing, pressure));
  };
  return {along(sigma.x, below.x), along(sigma.y, below.y), along(sigma.z, below.z)};
}

/// dP/dF in the axes of U and V: dPᵢᵢ = stretchᵢ dFᵢᵢ + lambda tr(dF), dPᵢⱼ = straightₖ dFᵢⱼ +
/// crossedₖ dFⱼᵢ for k neither i nor j.
template <class T>
struct PrincipalStiffness {
  Vector3<T> stretch, straight, crossed;
};

/// The stiffness that goes with principal_stress, of which `rule` limits what turns. With
/// pᵢ = dE/dσᵢ a shear i j has the eigenvalues (pᵢ - pⱼ) / (σᵢ - σⱼ) where it stretches and
/// (pᵢ + pⱼ) / (σᵢ + σⱼ) = 2 mu + 2 L where it turns; the lower limit L >= -mu is the exact
/// projection, as all others are positive.
template <class T, class Scalar>
HWY_INLINE PrincipalStiffness<T> principal_stiffness(const Vector3<T>& sigma, T mu, T lambda,
                                                     T rest, T inversion, T flat,
                                                     const DifferentialRule<Scalar>& rule) {
  const T trace = sigma.x + sigma.y + sigma.z, two_mu = mu + mu;
  const T least = T(rule.least_denominator), half = T(0.5);
  const T low = T(rule.lower) * mu, high = T(rule.upper) * mu, shift = T(rule.offset) * mu;
  const T plain = auxiliary_stress(trace, mu, lambda, rest);
  const Vector3<T> below = flatness(sigma, flat);
  const auto turning = [&](T flats, T sum) {
    const T numerator = mul_add(half * inversion, flats, plain);
    return min(max(mul_add(T(rule.scale), numerator / max(sum, least), shift), low), high);
  };
  const Vector3<T> l = {turning(below.y + below.z, sigma.y + sigma.z),
                        turning(below.x + below.z, sigma.x + sigma.z),
                        turning(below.x + below.y, sigma.x + sigma.y)};
  // Half of what inversion adds where a shear stretches; σᵢ >= σⱼ.
  const auto opening = [&](T flats, T difference) {
    return half * inversion * flats / max(difference, least);
  };
  const T x = opening(below.y - below.z, sigma.y - sigma.z),
          y = opening(below.x - below.z, sigma.x - sigma.z),
          z = opening(below.x - below.y, sigma.x - sigma.y);
  const auto stretch = [&](T along) { return select(along < flat, two_mu + inversion, two_mu); };
  return {.stretch = {stretch(sigma.x), stretch(sigma.y), stretch(sigma.z)},
          .straight = {two_mu + l.x + x, two_mu + l.y + y, two_mu + l.z + z},
          .crossed = {x - l.x, y - l.y, z - l.z}};
}

/// V diag(d) Vᵀ for the rotation V of a unit quaternion.
template <class T>
HWY_INLINE Symmetric3<T> turned_diagonal(const Quaternion<T>& v, const Vector3<T>& d) {
  const Matrix3<T> m = rotation_matrix(v);
  const auto entry = [&](T a0, T a1, T a2, T b0, T b1, T b2) {
    return mul_add(a0 * d.x, b0, mul_add(a1 * d.y, b1, a2 * d.z * b2));
  };
  return {entry(m.a00, m.a01, m.a02, m.a00, m.a01, m.a02),
          entry(m.a10, m.a11, m.a12, m.a10, m.a11, m.a12),
          entry(m.a20, m.a21, m.a22, m.a20, m.a21, m.a22),
          entry(m.a10, m.a11, m.a12, m.a20, m.a21, m.a22),
          entry(m.a00, m.a01, m.a02, m.a20, m.a21, m.a22),
          entry(m.a00, m.a01, m.a02, m.a10, m.a11, m.a12)};
}

/// Differential of the auxiliary stress [McAdams 2011, Alg. 1]:
/// dP = R (lambda tr(RᵀdF) I + E : (L (Eᵀ : RᵀdF))).
/// Its steps wait for each other; `meanwhile(i)`, i from 0 to 4, is called between them,
/// `turning()` where it needs L, and use(i, ...) with row i of dP.
template <class T, class Turning, class Meanwhile, class Use>
HWY_INLINE void auxiliary_differential(const Matrix3<T>& r, const Turning& turning, T lambda,
                                       const Matrix3<T>& df, const Meanwhile& meanwhile,
                                       const Use& use) {
  const auto dot = [](T a0, T a1, T a2, T b0, T b1, T b2) {
    return mul_add(a0, b0, mul_add(a1, b1, a2 * b2));
  };
  const auto cross = [](T a0, T a1, T a2, T b0, T b1, T b2, T rest) {  // rest - a·b
    return neg_mul_add(a0, b0, neg_mul_add(a1, b1, neg_mul_add(a2, b2, rest)));
  };
  // t = lambda R : dF, w = Eᵀ : RᵀdF, from columns of R and dF.
  const T t = lambda * (dot(r.a00, r.a10, r.a20, df.a00, df.a10, df.a20) +
                        dot(r.a01, r.a11, r.a21, df.a01, df.a11, df.a21) +
                        dot(r.a02, r.a12, r.a22, df.a02, df.a12, df.a22));
  const T w0 = cross(r.a02, r.a12, r.a22, df.a01, df.a11, df.a21,
                     dot(r.a01, r.a11, r.a21, df.a02, df.a12, df.a22));
  meanwhile(0);
  const T w1 = cross(r.a00, r.a10, r.a20, df.a02, df.a12, df.a22,
                     dot(r.a02, r.a12, r.a22, df.a00, df.a10, df.a20));
  const T w2 = cross(r.a01, r.a11, r.a21, df.a00, df.a10, df.a20,
                     dot(r.a00, r.a10, r.a20, df.a01, df.a11, df.a21));
  meanwhile(1);
  // v = L w.
  const Symmetric3<T> l = turning();
  const T v0 = dot(l.xx, l.xy, l.xz, w0, w1, w2);
  const T v1 = dot(l.xy, l.yy, l.yz, w0, w1, w2);
  const T v2 = dot(l.xz, l.yz, l.zz, w0, w1, w2);
  meanwhile(2);
  // Rows of R (t I + E : v).
  const auto first = [&](T r0, T r1, T r2) { return mul_add(t, r0, neg_mul_add(v2, r1, v1 * r2)); };
  const auto second = [&](T r0, T r1, T r2) {
    return mul_add(t, r1, neg_mul_add(v0, r2, v2 * r0));
  };
  const auto third = [&](T r0, T r1, T r2) { return mul_add(t, r2, neg_mul_add(v1, r0, v0 * r1)); };
  const auto row = [&](size_t i, T r0, T r1, T r2) HWY_ATTR __attribute__((always_inline)) {
    use(i, first(r0, r1, r2), second(r0, r1, r2), third(r0, r1, r2));
  };
  row(0, r.a00, r.a01, r.a02);
  meanwhile(3);
  row(1, r.a10, r.a11, r.a12);
  meanwhile(4);
  row(2, r.a20, r.a21, r.a22);
}

/// The same as a matrix.
template <class T>
HWY_INLINE Matrix3<T> auxiliary_differential(const Matrix3<T>& r, const Symmetric3<T>& l, T lambda,
                                             const Matrix3<T>& df) {
  T rows[3][3];
  auxiliary_differential(
      r, [&]() HWY_ATTR { return l; }, lambda, df, [](size_t) {},
      [&](size_t i, T x, T y, T z) HWY_ATTR {
        rows[i][0] = x;
        rows[i][1] = y;
        rows[i][2] = z;
      });
  return {rows[0][0], rows[0][1], rows[0][2], rows[1][0], rows[1][1],
          rows[1][2], rows[2][0], rows[2][1], rows[2][2]};
}

/// The whole of it: Ψ = μ |F - R|² + λ/2 tr²(RᵀF - I), in stretches μ Σ (σ - 1)² + λ/2 (Σ σ - 3)².
struct CorotatedLaw {
  static constexpr bool needs_svd = true;

  /// Principal stresses, Pa.
  template <class T>
  static HWY_INLINE Vector3<T> gradient(const Vector3<T>& s, const Elastic<T>& m) {
    const T two_mu = m.mu + m.mu;
    const T pressure = mul_add(m.lambda, s.x + s.y + s.z - T(3), -two_mu);
    return {mul_add(two_mu, s.x, pressure), mul_add(two_mu, s.y, pressure),
            mul_add(two_mu, s.z, pressure)};
  }

  /// Energy density, Pa.
  template <class T>
  static HWY_INLINE T energy(const Matrix3<T>& f, const Elastic<T>& m) {
    const Vector3<T> s = svd3(f).sigma;
    const T x = s.x - T(1), y = s.y - T(1), z = s.z - T(1), trace = x + y + z;
    return m.mu * (x * x + y * y + z * z) + T(0.5) * m.lambda * trace * trace;
  }

  /// First Piola-Kirchhoff stress, Pa.
  template <class T>
  static HWY_INLINE Matrix3<T> stress(const Matrix3<T>& f, const Elastic<T>& m) {
    const Svd3<T> svd = svd3(f);
    return principal_stress(svd, gradient(svd.sigma, m));
  }

  /// Derivatives by the principal stretches.
  template <class T>
  static HWY_INLINE PrincipalDerivatives<T> principal(const Vector3<T>& s, const Elastic<T>& m) {
    const T along = m.lambda + m.mu + m.mu;
    return {gradient(s, m), {along, along, along, m.lambda, m.lambda, m.lambda}};
  }
};

SUPPLE_KERNELS_END

#endif
