// Spatial algebra of rigid bodies in double precision: twists, wrenches, symmetric 3x3 and 6x6
// matrices, and rotation vectors. All parts of a spatial quantity are given in the same axes and
// about the same point; moving it to another point is a call of its own.
#pragma once

#include <cmath>

#include "supple/math/types.h"

namespace supple {

/// Angular velocity and velocity of the point it is given for (rad/s, m/s); also accelerations.
struct Twist {
  Vec3d angular = Vec3d::Zero();
  Vec3d linear = Vec3d::Zero();
};

/// Torque about a point, and force (N m, N); also momenta.
struct Wrench {
  Vec3d torque = Vec3d::Zero();
  Vec3d force = Vec3d::Zero();
};

/// The wrench about `about` of a force that acts at a point, in newtons and metres.
inline Wrench wrench_of_force(const Vec3d& force, const Vec3d& at, const Vec3d& about) {
  return {(at - about).cross(force), force};
}

/// The sum of two wrenches about the same point.
inline Wrench operator+(const Wrench& a, const Wrench& b) {
  return {a.torque + b.torque, a.force + b.force};
}

/// The matrix [r] with [r] x = r × x.
inline Mat3d cross_matrix(const Vec3d& r) {
  Mat3d m;
  m << 0, -r[2], r[1], r[2], 0, -r[0], -r[1], r[0], 0;
  return m;
}

/// A symmetric 3x3 matrix.
struct Symmetric3d {
  double xx = 0, yy = 0, zz = 0, yz = 0, xz = 0, xy = 0;

  /// The upper triangle of a matrix.
  static Symmetric3d of(const Mat3d& m) {
    return {m(0, 0), m(1, 1), m(2, 2), m(1, 2), m(0, 2), m(0, 1)};
  }

  /// The matrix written out.
  Mat3d matrix() const {
    Mat3d m;
    m << xx, xy, xz, xy, yy, yz, xz, yz, zz;
    return m;
  }

  /// The sum of the diagonal.
  double trace() const { return xx + yy + zz; }

  /// Adds another one.
  Symmetric3d& operator+=(const Symmetric3d& b) {
    xx += b.xx, yy += b.yy, zz += b.zz, yz += b.yz, xz += b.xz, xy += b.xy;
    return *this;
  }

  /// Subtracts factor · u uᵀ.
  void subtract_square(const Vec3d& u, double factor) {
    const double x = factor * u[0], y = factor * u[1], z = factor * u[2];
    xx -= x * u[0], yy -= y * u[1], zz -= z * u[2];
    yz -= y * u[2], xz -= x * u[2], xy -= x * u[1];
  }
};

/// The product with a vector.
inline Vec3d operator*(const Symmetric3d& s, const Vec3d& v) {
  return {s.xx * v[0] + s.xy * v[1] + s.xz * v[2], s.xy * v[0] + s.yy * v[1] + s.yz * v[2],
          s.xz * v[0] + s.yz * v[1] + s.zz * v[2]};
}

/// The matrix in other axes, R S Rᵀ.
inline Symmetric3d rotated(const Symmetric3d& s, const Mat3d& r) {
  // Rows of R S, one after the other, and of them what the upper triangle needs.
  const Vec3d x = s * Vec3d(r(0, 0), r(0, 1), r(0, 2));
  const Vec3d y = s * Vec3d(r(1, 0), r(1, 1), r(1, 2));
  const Vec3d z = s * Vec3d(r(2, 0), r(2, 1), r(2, 2));
  const auto times = [&r](const Vec3d& a, int row) {
    return a[0] * r(row, 0) + a[1] * r(row, 1) + a[2] * r(row, 2);
  };
  return {times(x, 0), times(y, 1), times(z, 2), times(y, 2), times(x, 2), times(x, 1)};
}

/// The factors L D Lᵀ of a symmetric positive definite 3x3 matrix.
struct Factored3d {
  double l10 = 0, l20 = 0, l21 = 0;                 // L below its diagonal of ones
  double inverse0 = 0, inverse1 = 0, inverse2 = 0;  // of D; 0 where a pivot was too small
  bool singular = false;

  Factored3d() = default;

  /// Factors `s`; pivots of at most `least` count as zero: the solution is zero along them.
  Factored3d(const Symmetric3d& s, double least) {
    const auto inverse = [this, least](double pivot) {
      if (pivot > least) return 1 / pivot;
      singular = true;
      return 0.0;
    };
    inverse0 = inverse(s.xx);
    l10 = s.xy * inverse0;
    l20 = s.xz * inverse0;
    inverse1 = inverse(s.yy - l10 * s.xy);
    const double rest = s.yz - l10 * s.xz;
    l21 = rest * inverse1;
    inverse2 = inverse(s.zz - l20 * s.xz - l21 * rest);
  }

  /// L⁻¹ b.
  Vec3d forward(const Vec3d& b) const {
    const double y = b[1] - l10 * b[0];
    return {b[0], y, b[2] - l20 * b[0] - l21 * y};
  }

  /// (L D Lᵀ)⁻¹ b.
  Vec3d solve(const Vec3d& b) const {
    const Vec3d y = forward(b);
    const double z2 = y[2] * inverse2, z1 = y[1] * inverse1 - l21 * z2;
    return {y[0] * inverse0 - l10 * z1 - l20 * z2, z1, z2};
  }
};

/// A symmetric 6x6 matrix that takes a twist (acceleration) to a wrench:
/// torque = A ω + B v, force = Bᵀ ω + C v.
struct SpatialInertia {
  Symmetric3d a;  ///< kg m²
  Mat3d b;        ///< kg m
  Symmetric3d c;  ///< kg

  /// That of a rigid body of that mass, about a point: its centre of mass lies at `centre` from it,
  /// and `about_point` is its inertia about the point.
  static SpatialInertia rigid(double mass, const Vec3d& centre, const Symmetric3d& about_point) {
    return {about_point, cross_matrix(mass * centre), {mass, mass, mass, 0, 0, 0}};
  }
};

/// The product with a twist.
inline Wrench operator*(const SpatialInertia& s, const Twist& v) {
  return {s.a * v.angular + s.b * v.linear, s.b.transpose() * v.angular + s.c * v.linear};
}

/// Adds to `sum`, about one point, `s` about a point that lies at `r` from it: Xᵀ S X with
/// X = (1 0; -[r] 1).
inline void add_moved(SpatialInertia& sum, const SpatialInertia& s, const Vec3d& r) {
  // B' = B + [r] C.
  Mat3d moved;
  moved.col(0) = s.b.col(0) + r.cross(Vec3d(s.c.xx, s.c.xy, s.c.xz));
  moved.col(1) = s.b.col(1) + r.cross(Vec3d(s.c.xy, s.c.yy, s.c.yz));
  moved.col(2) = s.b.col(2) + r.cross(Vec3d(s.c.xz, s.c.yz, s.c.zz));
  // A' = A + [r] Bᵀ - B' [r]; row i of [r] Bᵀ has (r × b_j)_i, where b_j is row j of B.
  const auto& b = s.b;
  const auto& m = moved;
  sum.a.xx += s.a.xx + r[1] * (b(0, 2) + m(0, 2)) - r[2] * (b(0, 1) + m(0, 1));
  sum.a.yy += s.a.yy + r[2] * (b(1, 0) + m(1, 0)) - r[0] * (b(1, 2) + m(1, 2));
  sum.a.zz += s.a.zz + r[0] * (b(2, 1) + m(2, 1)) - r[1] * (b(2, 0) + m(2, 0));
  sum.a.xy += s.a.xy + r[1] * b(1, 2) - r[2] * b(1, 1) + r[2] * m(0, 0) - r[0] * m(0, 2);
  sum.a.xz += s.a.xz + r[1] * b(2, 2) - r[2] * b(2, 1) + r[0] * m(0, 1) - r[1] * m(0, 0);
  sum.a.yz += s.a.yz + r[2] * b(2, 0) - r[0] * b(2, 2) + r[0] * m(1, 1) - r[1] * m(1, 0);
  sum.b += moved;
  sum.c += s.c;
}

/// The rotation by a rotation vector (axis times angle in radians), as a unit quaternion.
inline Quatd rotation_of(const Vec3d& turn) {
  const double angle2 = turn.squaredNorm();
  const double angle = std::sqrt(angle2);
  // sin(x/2)/x, near zero by its series.
  const double factor = angle > 1e-4 ? std::sin(angle / 2) / angle : 0.5 - angle2 / 48;
  const Vec3d v = factor * turn;
  return {std::cos(angle / 2), v[0], v[1], v[2]};
}

/// The rotation vector of a unit quaternion, of length 0 to π; inverse of rotation_of().
inline Vec3d rotation_vector(const Quatd& q) {
  const double sign = q.w() < 0 ? -1 : 1;
  const double w = sign * q.w(), length = q.vec().norm();
  // 2 atan(l/w)/l, near zero by its series.
  const double factor = length > 1e-5 ? 2 * std::atan2(length, w) / length
                                      : 2 / w - 2 * length * length / (3 * w * w * w);
  return sign * factor * q.vec();
}

}  // namespace supple
