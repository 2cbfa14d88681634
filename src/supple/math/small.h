// 3x3 matrices, symmetric matrices and quaternions over any lane type (float, double, WideFloat,
// WideDouble), for element code. Members are named one by one, as compilers keep those in registers
// where they give up on small arrays. Included per target, after wide.h.
#if defined(SUPPLE_MATH_SMALL_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef SUPPLE_MATH_SMALL_PER_TARGET
#undef SUPPLE_MATH_SMALL_PER_TARGET
#else
#define SUPPLE_MATH_SMALL_PER_TARGET
#endif

#include "supple/math/wide.h"

SUPPLE_KERNELS_BEGIN

/// Three numbers per lane.
template <class T>
struct Vector3 {
  T x, y, z;
};

/// A matrix; aij is row i, column j.
template <class T>
struct Matrix3 {
  T a00, a01, a02;
  T a10, a11, a12;
  T a20, a21, a22;
};

/// A symmetric matrix.
template <class T>
struct Symmetric3 {
  T xx, yy, zz, yz, xz, xy;
};

/// A quaternion; of unit length it stands for a rotation.
template <class T>
struct Quaternion {
  T x, y, z, w;
};

template <class T>
HWY_INLINE Vector3<T> operator+(const Vector3<T>& a, const Vector3<T>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class T>
HWY_INLINE Vector3<T> operator-(const Vector3<T>& a, const Vector3<T>& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}

/// The inner product of two vectors.
template <class T>
HWY_INLINE T dot(const Vector3<T>& a, const Vector3<T>& b) {
  return mul_add(a.x, b.x, mul_add(a.y, b.y, a.z * b.z));
}

/// The vector product of two vectors.
template <class T>
HWY_INLINE Vector3<T> cross(const Vector3<T>& a, const Vector3<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/// M v.
template <class T>
HWY_INLINE Vector3<T> times(const Matrix3<T>& m, const Vector3<T>& v) {
  return {mul_add(m.a00, v.x, mul_add(m.a01, v.y, m.a02 * v.z)),
          mul_add(m.a10, v.x, mul_add(m.a11, v.y, m.a12 * v.z)),
          mul_add(m.a20, v.x, mul_add(m.a21, v.y, m.a22 * v.z))};
}

/// Mᵀ v.
template <class T>
HWY_INLINE Vector3<T> transposed_times(const Matrix3<T>& m, const Vector3<T>& v) {
  return {mul_add(m.a00, v.x, mul_add(m.a10, v.y, m.a20 * v.z)),
          mul_add(m.a01, v.x, mul_add(m.a11, v.y, m.a21 * v.z)),
          mul_add(m.a02, v.x, mul_add(m.a12, v.y, m.a22 * v.z))};
}

/// A B.
template <class T>
HWY_INLINE Matrix3<T> product(const Matrix3<T>& a, const Matrix3<T>& b) {
  const auto dot = [](T x, T y, T z, T p, T q, T r)
                       HWY_ATTR { return mul_add(x, p, mul_add(y, q, z * r)); };
  return {
      dot(a.a00, a.a01, a.a02, b.a00, b.a10, b.a20), dot(a.a00, a.a01, a.a02, b.a01, b.a11, b.a21),
      dot(a.a00, a.a01, a.a02, b.a02, b.a12, b.a22), dot(a.a10, a.a11, a.a12, b.a00, b.a10, b.a20),
      dot(a.a10, a.a11, a.a12, b.a01, b.a11, b.a21), dot(a.a10, a.a11, a.a12, b.a02, b.a12, b.a22),
      dot(a.a20, a.a21, a.a22, b.a00, b.a10, b.a20), dot(a.a20, a.a21, a.a22, b.a01, b.a11, b.a21),
      dot(a.a20, a.a21, a.a22, b.a02, b.a12, b.a22)};
}

/// A Bᵀ.
template <class T>
HWY_INLINE Matrix3<T> product_transposed(const Matrix3<T>& a, const Matrix3<T>& b) {
  return product(a, Matrix3<T>{b.a00, b.a10, b.a20, b.a01, b.a11, b.a21, b.a02, b.a12, b.a22});
}

/// FᵀF.
template <class T>
HWY_INLINE Symmetric3<T> gram(const Matrix3<T>& f) {
  const auto dot = [](T a, T b, T c, T x, T y, T z)
                       HWY_ATTR { return mul_add(a, x, mul_add(b, y, c * z)); };
  return {
      dot(f.a00, f.a10, f.a20, f.a00, f.a10, f.a20), dot(f.a01, f.a11, f.a21, f.a01, f.a11, f.a21),
      dot(f.a02, f.a12, f.a22, f.a02, f.a12, f.a22), dot(f.a01, f.a11, f.a21, f.a02, f.a12, f.a22),
      dot(f.a00, f.a10, f.a20, f.a02, f.a12, f.a22), dot(f.a00, f.a10, f.a20, f.a01, f.a11, f.a21)};
}

/// The cofactors of a matrix: det(F) F⁻ᵀ, the derivative of det(F), also where F has no inverse.
template <class T>
HWY_INLINE Matrix3<T> cofactors(const Matrix3<T>& f) {
  const auto minor = [](T a, T b, T c, T d) HWY_ATTR { return neg_mul_add(b, c, a * d); };
  return {minor(f.a11, f.a12, f.a21, f.a22), minor(f.a12, f.a10, f.a22, f.a20),
          minor(f.a10, f.a11, f.a20, f.a21), minor(f.a21, f.a22, f.a01, f.a02),
          minor(f.a22, f.a20, f.a02, f.a00), minor(f.a20, f.a21, f.a00, f.a01),
          minor(f.a01, f.a02, f.a11, f.a12), minor(f.a02, f.a00, f.a12, f.a10),
          minor(f.a00, f.a01, f.a10, f.a11)};
}

/// The determinant, from the matrix and its cofactors.
template <class T>
HWY_INLINE T determinant(const Matrix3<T>& f, const Matrix3<T>& cofactors) {
  return mul_add(f.a00, cofactors.a00, mul_add(f.a01, cofactors.a01, f.a02 * cofactors.a02));
}

/// The product of two quaternions: first b, then a.
template <class T>
HWY_INLINE Quaternion<T> operator*(const Quaternion<T>& a, const Quaternion<T>& b) {
  return {neg_mul_add(a.z, b.y, mul_add(a.y, b.z, mul_add(a.x, b.w, a.w * b.x))),
          neg_mul_add(a.x, b.z, mul_add(a.z, b.x, mul_add(a.y, b.w, a.w * b.y))),
          neg_mul_add(a.y, b.x, mul_add(a.x, b.y, mul_add(a.z, b.w, a.w * b.z))),
          neg_mul_add(a.z, b.z, neg_mul_add(a.y, b.y, neg_mul_add(a.x, b.x, a.w * b.w)))};
}

/// The inverse of a unit quaternion.
template <class T>
HWY_INLINE Quaternion<T> conjugate(const Quaternion<T>& q) {
  return {-q.x, -q.y, -q.z, q.w};
}

/// The rotation matrix of a unit quaternion.
template <class T>
HWY_INLINE Matrix3<T> rotation_matrix(const Quaternion<T>& q) {
  const T x2 = q.x + q.x, y2 = q.y + q.y, z2 = q.z + q.z;
  const T wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
  const T one(1);
  return {neg_mul_add(q.y, y2, neg_mul_add(q.z, z2, one)),
          neg_mul_add(q.w, z2, q.x * y2),
          mul_add(q.x, z2, wy),
          mul_add(q.x, y2, wz),
          neg_mul_add(q.x, x2, neg_mul_add(q.z, z2, one)),
          neg_mul_add(q.w, x2, q.y * z2),
          neg_mul_add(q.w, y2, q.x * z2),
          mul_add(q.y, z2, wx),
          neg_mul_add(q.x, x2, neg_mul_add(q.y, y2, one))};
}

/// The rotation matrix of a quaternion of length √2: half as many multiplications, for loops in
/// which those count.
template <class T>
HWY_INLINE Matrix3<T> scaled_rotation_matrix(const Quaternion<T>& q) {
  const T xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
  const T xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
  const T wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
  const T not_x = T(1) - xx, not_y = T(1) - yy;
  return {not_y - zz, xy - wz, xz + wy, xy + wz, not_x - zz, yz - wx, xz - wy, yz + wx, not_x - yy};
}

SUPPLE_KERNELS_END

#endif
