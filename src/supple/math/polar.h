// Rotations out of 3x3 matrices and directions, in double precision, one at a time: for palettes
// and set-up, not for inner loops.
#pragma once

#include "supple/math/types.h"

namespace supple {

/// A matrix as rotation times symmetric stretch.
struct Polar {
  Mat3d rotation;
  Mat3d stretch;
};

/// M = R S with R a rotation and S symmetric; S is negative definite where M mirrors.
Polar polar_decomposition(const Mat3d& matrix);

/// The rotation nearest to a matrix in the sense of least squares; never a reflection.
Mat3d nearest_rotation(const Mat3d& matrix);

/// The same for deformation gradients, in less time where they are far from flat or mirrored.
Mat3d rotation_of_matter(const Mat3d& gradient);

/// The rotation by the smallest angle that turns unit vector `from` into unit vector `to`.
Quatd smallest_rotation(const Vec3d& from, const Vec3d& to);

}  // namespace supple
