// The singular value decomposition F = U Σ Vᵀ of 3x3 matrices without branches, for every lane type
// [McAdams 2011, §9.2]: V from Jacobi rotations of FᵀF, gathered in a quaternion, then U from the
// columns of F V. Where it departs from there, and why:
// - Jacobi angles are not approximated. With normalised rotations the angle of algorithm 4 costs as
//   much as the right one, and needs 16 rotations where 10 do.
// - Rotations are annihilations: the entry they are made for is set to zero, not recomputed.
// - FᵀF squares what rounding does to small singular values: of F with σ = (1, 1e-4, 1e-4) it tells
//   nothing about the last two directions. So it is asked for the largest direction only; the rest
//   is a 2x2 matrix, which is decomposed directly. This also sorts and signs the last two values.
// - U starts with the one rotation that turns the x axis into the first column, rather than two
//   Givens rotations.
// Errors are a few units in the last place of the largest singular value; smaller ones have no
// relative accuracy of their own. What is not finite gives anything. Included per target.
#if defined(SUPPLE_MATH_SVD3_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef SUPPLE_MATH_SVD3_PER_TARGET
#undef SUPPLE_MATH_SVD3_PER_TARGET
#else
#define SUPPLE_MATH_SVD3_PER_TARGET
#endif

#include "supple/math/small.h"
#include "supple/math/twin.h"
#include "supple/math/wide.h"

SUPPLE_KERNELS_BEGIN

/// F = U Σ Vᵀ with rotations U and V, as unit quaternions, and sigma.x >= sigma.y >= |sigma.z|;
/// sigma.z is negative where F mirrors.
template <class T>
struct Svd3 {
  Quaternion<T> u, v;
  Vector3<T> sigma;
};

namespace svd3_detail {

// Sweeps for full precision; `small`, which vanishes beside squares of entries where they matter;
// and `tiny`, which vanishes beside the square of `small`.
template <class T>
struct Constants;
template <>
struct Constants<float> {
  static constexpr int sweeps = 3;
  static constexpr float small = 1e-15f, tiny = 1e-37f;
};
template <>
struct Constants<double> {
  static constexpr int sweeps = 4;
  static constexpr double small = 1e-140, tiny = 1e-300;
};
template <class Scalar>
struct Constants<Wide<Scalar>> : Constants<Scalar> {};
template <class T>
struct Constants<Twin<T>> : Constants<T> {};

// cos θ and sin θ.
template <class T>
struct Turn {
  T c, s;
};

// The rotation of at most 45° with tan 2θ = y / x, and √(x² + y²) / 2 with the sign of x. Where
// both vanish it is none.
template <class T>
HWY_INLINE Turn<T> half_angle(T x, T y, T& half_length) {
  x += T(Constants<T>::small);
  const T square = mul_add(x, x, mul_add(y, y, T(Constants<T>::tiny)));
  // With k = ±1/(2 √(x² + y²)): cos² θ = 1/2 + k x, and sin θ cos θ = k y.
  const T k = flip_sign(half_rsqrt(square), x);
  half_length = square * k;
  const T cos2 = mul_add(x, k, T(0.5f));
  const T scale = rsqrt(cos2);
  return {cos2 * scale, (y * k) * scale};
}

// Diagonalises [p y/2; y/2 q] by turning p towards q: tan 2θ = y / (p - q), the eigenvalues are
// (p + q)/2 ± √((p - q)² + y²)/2.
template <class T>
HWY_INLINE Turn<T> annihilate(T& p, T& q, T y) {
  T half_length;
  const Turn<T> turn = half_angle(p - q, y, half_length);
  const T sum = p + q;
  p = mul_add(T(0.5f), sum, half_length);
  q = sum - p;
  return turn;
}

// (a, b) rotated and stretched: two components of a product of quaternions.
template <class T>
HWY_INLINE void turn(T& a, T& b, T h, T s) {
  const T old = a;
  a = mul_add(h, a, s * b);
  b = neg_mul_add(s, old, h * b);
}
// q times the quaternion of a rotation about x, y or z, (s; h) of any length.
template <class T>
HWY_INLINE void turn_x(Quaternion<T>& q, T h, T s) {
  turn(q.x, q.w, h, s);
  turn(q.y, q.z, h, s);
}

template <class T>
HWY_INLINE void normalise(Quaternion<T>& q) {
  const T scale = rsqrt(mul_add(q.x, q.x, mul_add(q.y, q.y, mul_add(q.z, q.z, q.w * q.w))));
  q = {q.x * scale, q.y * scale, q.z * scale, q.w * scale};
}

// A rotation V such that Vᵀ S V is diagonal, its largest entry first.
template <class T>
HWY_INLINE Quaternion<T> eigenvectors(Symmetric3<T> s) {
  const T one(1.0f);
  // Off the diagonal, all numbers are kept doubled. Rotations go from y to x, x to z, z to y: then
  // each finds one of its two neighbours to be zero, the entry annihilated just before. Their
  // quaternions are (-sin θ; 1 + cos θ), not of unit length.
  T xy = s.xy + s.xy, xz = s.xz + s.xz, yz = s.yz + s.yz;
  Turn<T> t = annihilate(s.zz, s.yy, yz);
  Quaternion<T> v{-t.s, T(0.0f), T(0.0f), one + t.c};
  turn(xz, xy, t.c, t.s);
  for (int sweep = 0; sweep < Constants<T>::sweeps; ++sweep) {
    t = annihilate(s.yy, s.xx, xy);
    turn(v.y, v.x, one + t.c, t.s);
    turn(v.w, v.z, one + t.c, t.s);
    yz = t.s * xz;
    xz = t.c * xz;
    t = annihilate(s.xx, s.zz, xz);
    turn(v.x, v.z, one + t.c, t.s);
    turn(v.w, v.y, one + t.c, t.s);
    xy = t.s * yz;
    yz = t.c * yz;
    t = annihilate(s.zz, s.yy, yz);
    turn(v.z, v.y, one + t.c, t.s);
    turn(v.w, v.x, one + t.c, t.s);
    xz = t.s * xy;
    xy = t.c * xy;
  }
  // Quarter turns bring the largest to the front; not where all are zero, to rounding.
  s.xx += T(64 * Constants<T>::small);
  const T from_y = select(s.xx < s.yy, one, T(0.0f));
  turn(v.x, v.y, one, from_y);
  turn(v.z, v.w, one, from_y);
  const T from_z = select(max(s.xx, s.yy) < s.zz, one, T(0.0f));
  turn(v.x, v.z, one, from_z);
  turn(v.w, v.y, one, from_z);
  normalise(v);
  return v;
}

// The 2x2 matrix [a b; c d] = R(α) diag(σ) R(β)ᵀ, with tan 2β = 2 (ab + cd) / (a² + c² - b² - d²)
// and σ₁ (cos α, sin α) = M (cos β, sin β); multiplies R(α) to u and R(β) to v, about x.
template <class T>
HWY_INLINE void finish_2x2(T a, T b, T c, T d, Svd3<T>& svd) {
  const T one(1.0f), zero(0.0f);
  const T x = mul_add(a + d, a - d, (c + b) * (c - b)), y = mul_add(a, b, c * d);
  T half_length;
  const Turn<T> small = half_angle(x, y + y, half_length);
  // The first column shall become the longer one.
  const auto swapped = x < zero;
  const T c_b = select(swapped, abs(small.s), small.c);
  const T s_b = copy_sign(select(swapped, small.c, small.s), y);
  const T p = mul_add(a, c_b, b * s_b), q = mul_add(c, c_b, d * s_b);
  const T r = neg_mul_add(a, s_b, b * c_b), t = neg_mul_add(c, s_b, d * c_b);
  const T square = mul_add(p, p, q * q);
  const T inverse = rsqrt(square + T(Constants<T>::tiny));
  svd.sigma.y = square * inverse;
  svd.sigma.z = neg_mul_add(q, r, p * t) * inverse;
  // (cos α/2, sin α/2) ∝ (1 + cos α, sin α), or (|sin α|, ±(1 - cos α)) where that cancels.
  const T c_a = p * inverse, s_a = q * inverse;
  const T large = one + abs(c_a), less = abs(s_a);
  const auto obtuse = c_a < zero;
  turn_x(svd.u, select(obtuse, less, large), copy_sign(select(obtuse, large, less), s_a));
  turn_x(svd.v, one + c_b, s_b);
}

}  // namespace svd3_detail

/// The decomposition of a matrix; entries may be as large and small as numbers go.
template <class T>
HWY_INLINE Svd3<T> svd3(const Matrix3<T>& matrix) {
  using namespace svd3_detail;
  const T tiny(Constants<T>::tiny), zero(0.0f);
  // Scale such that the largest entry is about 1.
  Matrix3<T> f = matrix;
  const T largest = max(max(max(max(abs(f.a00), abs(f.a01)), max(abs(f.a02), abs(f.a10))),
                            max(max(abs(f.a11), abs(f.a12)), max(abs(f.a20), abs(f.a21)))),
                        abs(f.a22));
  const PowerOfTwo<T> scale = power_of_two_below(largest);
  f = {f.a00 * scale.inverse, f.a01 * scale.inverse, f.a02 * scale.inverse,
       f.a10 * scale.inverse, f.a11 * scale.inverse, f.a12 * scale.inverse,
       f.a20 * scale.inverse, f.a21 * scale.inverse, f.a22 * scale.inverse};

  Svd3<T> svd;
  svd.v = eigenvectors(gram(f));
  // F V = U Σ: its first column is the longest, and orthogonal to the others.
  const Matrix3<T> b = product(f, rotation_matrix(svd.v));
  const T square = mul_add(b.a00, b.a00, mul_add(b.a10, b.a10, b.a20 * b.a20));
  svd.sigma.x = square * rsqrt(square + tiny);
  // U₁, the rotation of x to the first column b. With g = (b_y, b_z) / (|b| + |b_x|) it is
  // (1; 0, -g_z, g_y), or (g_y; g_z, 0, 1) where b_x < 0, which goes by way of -x.
  const T root = rsqrt(svd.sigma.x + abs(b.a00) + tiny);
  const T g_y = b.a10 * root * root, g_z = b.a20 * root * root;
  const T b_x = b.a00 + zero;  // no negative zero
  const auto behind = b_x < zero;
  const T one(1.0f);
  svd.u = {select(behind, g_z, zero), select(behind, zero, -g_z), select(behind, one, g_y),
           select(behind, g_y, one)};
  // U₁ᵀ of the other columns, c: c_y - c_x g_y and c_z - c_x g_z, as c is orthogonal to b.
  const T x1 = flip_sign(b.a01, b_x), x2 = flip_sign(b.a02, b_x);
  finish_2x2(flip_sign(neg_mul_add(x1, g_y, b.a11), b_x),
             flip_sign(neg_mul_add(x2, g_y, b.a12), b_x), neg_mul_add(x1, g_z, b.a21),
             neg_mul_add(x2, g_z, b.a22), svd);

  normalise(svd.u);
  normalise(svd.v);
  // Rounding must not upset the order.
  svd.sigma.y = max(svd.sigma.y, abs(svd.sigma.z));
  svd.sigma = {max(svd.sigma.x, svd.sigma.y) * scale.value, svd.sigma.y * scale.value,
               svd.sigma.z * scale.value};
  return svd;
}

/// The rotation R = U Vᵀ nearest to F, as a unit quaternion.
template <class T>
HWY_INLINE Quaternion<T> polar_rotation(const Svd3<T>& svd) {
  return svd.u * conjugate(svd.v);
}

SUPPLE_KERNELS_END

#endif
