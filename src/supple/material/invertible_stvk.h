// St. Venant-Kirchhoff elasticity that goes on linearly beyond limits of stretch, so that elements
// come back from flat and inside out and never grow too stiff [Kim 2011, §3.3, fig. 5], over any
// lane type. Unlike there it has an energy: each axis has that of StVK under stretch along it
// alone, continued to second order, and pairs of axes the product of strains, continued to first
// order. Between the limits this is StVK; beyond one, the stress along its axis is linear with the
// stiffness StVK has at the limit. Included per target.
#if defined(SUPPLE_MATERIAL_INVERTIBLE_STVK_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef SUPPLE_MATERIAL_INVERTIBLE_STVK_PER_TARGET
#undef SUPPLE_MATERIAL_INVERTIBLE_STVK_PER_TARGET
#else
#define SUPPLE_MATERIAL_INVERTIBLE_STVK_PER_TARGET
#endif

#include "supple/material/stvk.h"

SUPPLE_KERNELS_BEGIN

/// Ψ = Σᵢ ψ(σᵢ) + λ Σ_{i<j} e(σᵢ) e(σⱼ); with c the stretch cut off at the limits, d = σ - c and
/// E = (c² - 1)/2: ψ = (λ + 2μ)(E²/2 + c E d + (3c² - 1)/4 d²), e = E + c d.
struct InvertibleStvkLaw {
  static constexpr bool needs_svd = true;

  /// One axis.
  template <class T>
  struct Axis {
    T c, d, green, strain;
  };
  template <class T>
  static HWY_INLINE Axis<T> axis(T s, const Elastic<T>& m) {
    const T c = min(max(s, m.lower), m.upper), d = s - c;
    const T green = T(0.5) * mul_add(c, c, T(-1));
    return {c, d, green, mul_add(c, d, green)};
  }

  /// Principal stresses, Pa.
  template <class T>
  static HWY_INLINE Vector3<T> gradient(const Vector3<T>& s, const Elastic<T>& m) {
    const Axis<T> x = axis(s.x, m), y = axis(s.y, m), z = axis(s.z, m);
    const T along = m.lambda + m.mu + m.mu;
    const auto pull = [&](const Axis<T>& a, T others) HWY_ATTR {
      const T own = mul_add(a.c, a.green, T(0.5) * mul_add(T(3) * a.c, a.c, T(-1)) * a.d);
      return mul_add(along, own, m.lambda * a.c * others);
    };
    return {pull(x, y.strain + z.strain), pull(y, x.strain + z.strain),
            pull(z, x.strain + y.strain)};
  }

  /// Energy density, Pa.
  template <class T>
  static HWY_INLINE T energy(const Matrix3<T>& f, const Elastic<T>& m) {
    const Vector3<T> s = svd3(f).sigma;
    const Axis<T> x = axis(s.x, m), y = axis(s.y, m), z = axis(s.z, m);
    const auto own = [](const Axis<T>& a) HWY_ATTR {
      return T(0.5) * a.green * a.green + a.c * a.green * a.d +
             T(0.25) * (T(3) * a.c * a.c - T(1)) * a.d * a.d;
    };
    return (m.lambda + m.mu + m.mu) * (own(x) + own(y) + own(z)) +
           m.lambda * (x.strain * (y.strain + z.strain) + y.strain * z.strain);
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
    const Axis<T> x = axis(s.x, m), y = axis(s.y, m), z = axis(s.z, m);
    const T along = m.lambda + m.mu + m.mu;
    const auto slope = [&](const Axis<T>& a, T others) HWY_ATTR {
      const T coupled = select(a.d == T(0), others, T(0));
      return along * T(0.5) * (T(3) * a.c * a.c - T(1)) + m.lambda * coupled;
    };
    return {gradient(s, m),
            {slope(x, y.strain + z.strain), slope(y, x.strain + z.strain),
             slope(z, x.strain + y.strain), m.lambda * y.c * z.c, m.lambda * x.c * z.c,
             m.lambda * x.c * y.c}};
  }
};

/// Whether all principal stretches of F lie between the limits of the material and F does not
/// mirror, from the characteristic polynomial of C = FᵀF alone [Kim 2011, eq. 6 and 7]; `margin` is
/// a share of the limits by which it errs on the side of no.
template <class T>
HWY_INLINE auto is_little_deformed(const Matrix3<T>& f, const Symmetric3<T>& c, const Elastic<T>& m,
                                   T margin) {
  const T one(1), three(3), zero(0);
  const T low = m.lower * m.lower * (one + margin), high = m.upper * m.upper * (one - margin);
  // f(l) = l³ - a l² + b l - det C.
  const T a = c.xx + c.yy + c.zz;
  const T yz = neg_mul_add(c.yz, c.yz, c.yy * c.zz), xz = neg_mul_add(c.xz, c.xz, c.xx * c.zz),
          xy = neg_mul_add(c.xy, c.xy, c.xx * c.yy);
  const T b = yz + xz + xy;
  const T det = determinant(f, cofactors(f)), det_c = det * det;
  const auto value = [&](T l) HWY_ATTR { return mul_add(mul_add(l - a, l, b), l, -det_c); };
  // The polynomial must not only have the right signs at the limits but be beyond its rounding.
  const T slack_low = margin * low * low * low, slack_high = margin * high * high * high;
  // Its extrema, (a ± √(a² - 3b))/3, lie between the limits.
  const T root = sqrt(max(mul_add(a, a, -three * b), zero));
  return (det > zero) & (value(low) < -slack_low) & (value(high) > slack_high) &
         (a - root > three * low) & (a + root < three * high);
}

SUPPLE_KERNELS_END

#endif
