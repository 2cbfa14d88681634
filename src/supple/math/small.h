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

SUPPLE_KERNELS_END

#endif
