// The closest point of a triangle, also of one without area.
#pragma once

#include <algorithm>
#include <array>

#include "supple/math/types.h"

namespace supple {

/// Three corners of a triangle, in metres.
using TriangleCorners = std::array<Vec3d, 3>;

/// How far along the way from `a` to `b`, from 0 to 1, the point closest to `p` is.
inline double closest_along(const Vec3d& p, const Vec3d& a, const Vec3d& b) {
  const Vec3d way = b - a;
  const double length = way.squaredNorm();
  return length > 0 ? std::clamp(way.dot(p - a) / length, 0.0, 1.0) : 0.0;
}

/// The weights of the corners (none negative, sum 1) of the point of a triangle closest to `p`.
inline Vec3d closest_weights(const TriangleCorners& t, const Vec3d& p) {
  const Vec3d normal = (t[1] - t[0]).cross(t[2] - t[0]);
  const double area = normal.squaredNorm();
  if (area > 0) {
    // Weights of p moved onto the plane along the normal.
    Vec3d w;
    w[0] = normal.dot((t[1] - p).cross(t[2] - p)) / area;
    w[1] = normal.dot((t[2] - p).cross(t[0] - p)) / area;
    w[2] = 1 - w[0] - w[1];
    if ((w.array() >= 0).all()) return w;
  }
  Vec3d best = Vec3d::UnitX();
  double least = (t[0] - p).squaredNorm();
  for (int k = 0; k < 3; ++k) {
    const int n = (k + 1) % 3;
    const Vec3d &a = t[static_cast<size_t>(k)], &b = t[static_cast<size_t>(n)];
    const double along = closest_along(p, a, b);
    const double distance = (a + along * (b - a) - p).squaredNorm();
    if (distance < least) {
      least = distance;
      best.setZero();
      best[k] = 1 - along;
      best[n] = along;
    }
  }
  return best;
}

/// The point of a triangle with these weights of its corners.
inline Vec3d at_weights(const TriangleCorners& t, const Vec3d& w) {
  return w[0] * t[0] + w[1] * t[1] + w[2] * t[2];
}

}  // namespace supple
