// One cell of corotated elasticity, integrated at the eight points of Gauss quadrature, in double
// precision; compiled for every instruction set, with the points in the lanes. It is there for the
// stabilised element [McAdams 2011, eq. 17] to be compared with, and costs some ten times as much.
#pragma once

#include <array>

#include "supple/material/differential.h"

namespace supple {

/// Number of points of Gauss quadrature in a cell.
inline constexpr size_t gauss_points = 8;

/// Positions of a cell's corners or numbers of the same kind: x y z, corner by corner, x fastest.
using CornerNumbers = std::array<double, 24>;

/// A cell of side `spacing`.
struct GaussCell {
  double mu = 0, lambda = 0;     ///< in pascals
  double spacing = 1;            ///< in metres
  double inversion = 0;          ///< stiffness of points inside out against it, in pascals
  double flat = 0;               ///< how thin they are where that begins, of their thickness
  const float* rests = nullptr;  ///< traces of S without pressure at the points; null for 3
};

/// Elastic energy in joules with the corners at x (in metres); sets its gradient (in newtons) where
/// `gradient` is not null.
double gauss_energy(const GaussCell& cell, const CornerNumbers& x, CornerNumbers* gradient);

/// The element matrix at x, 24 x 24 numbers in newtons per metre, symmetric: as `rule` says exact
/// or made positive semi-definite point by point.
void gauss_matrix(const GaussCell& cell, const CornerNumbers& x,
                  const DifferentialRule<double>& rule, double* matrix);

/// How pressure answers to volume: by J - 1 as far as sums of stretches without pressure may be, or
/// more gently in broad cells, and as far as these need it.
enum class VolumeAnswer { plain, gentle };

/// How far the sum of stretches without pressure may be from 3.
constexpr float most_rest(VolumeAnswer answer) {
  return answer == VolumeAnswer::gentle ? 1.0f : 0.4f;
}

/// Sets `rests`, of the eight points, such that pressure answers to the volume at x; returns the
/// largest change of one.
float gauss_rests(const CornerNumbers& x, double spacing, VolumeAnswer answer, float* rests);

}  // namespace supple
