// The Delaunay triangulation of points in space, by Qhull.
#pragma once

#include <span>
#include <vector>

#include "supple/math/types.h"

namespace supple {

/// Tetrahedra over points, none of whose circumspheres holds another point; positively oriented,
/// in a fixed order. Four of more points on one sphere may form flat ones: points should be in
/// general position. Throws where there are fewer than four points or all lie in a plane.
std::vector<Vec4i> delaunay_tets(std::span<const Vec3d> points);

}  // namespace supple
