// Whether a triangle and an axis-aligned box overlap, by separating axes [Akenine-Möller 2001]:
// two convex shapes are apart exactly when their shadows on one of 13 axes are (the box's three
// axes, the triangle's normal, the nine products of box axes and triangle edges). Touching counts
// as overlap. Degenerate triangles (segments, points) are handled: axes that vanish separate
// nothing, and for them the rest suffices.
#pragma once

#include <array>
#include <cmath>

#include "supple/math/types.h"

namespace supple {

namespace detail {

// Whether the shadows of triangle and box on `axis` are apart; corners are relative to the box's
// centre.
template <class Scalar>
bool separated_along(const Eigen::Matrix<Scalar, 3, 1>& axis,
                     const std::array<Eigen::Matrix<Scalar, 3, 1>, 3>& corners,
                     const Eigen::Matrix<Scalar, 3, 1>& half) {
  const Scalar a = axis.dot(corners[0]), b = axis.dot(corners[1]), c = axis.dot(corners[2]);
  const Scalar reach = half.dot(axis.cwiseAbs());
  return std::fmin(a, std::fmin(b, c)) > reach || std::fmax(a, std::fmax(b, c)) < -reach;
}

}  // namespace detail

/// Whether the triangle with these corners overlaps or touches the box of half extents `half`
/// around `centre`.
template <class Scalar>
bool triangle_overlaps_box(const std::array<Eigen::Matrix<Scalar, 3, 1>, 3>& triangle,
                           const Eigen::Matrix<Scalar, 3, 1>& centre,
                           const Eigen::Matrix<Scalar, 3, 1>& half) {
  using Vector = Eigen::Matrix<Scalar, 3, 1>;
  const std::array<Vector, 3> corners{triangle[0] - centre, triangle[1] - centre,
                                      triangle[2] - centre};
  for (int k = 0; k < 3; ++k)
    if (detail::separated_along<Scalar>(Vector::Unit(k), corners, half)) return false;
  const std::array<Vector, 3> edges{corners[1] - corners[0], corners[2] - corners[1],
                                    corners[0] - corners[2]};
  if (detail::separated_along<Scalar>(edges[0].cross(edges[1]), corners, half)) return false;
  for (const Vector& edge : edges)
    for (int k = 0; k < 3; ++k)
      if (detail::separated_along<Scalar>(Vector::Unit(k).cross(edge), corners, half)) return false;
  return true;
}

}  // namespace supple
