// A hexahedral cell as six tetrahedra about the diagonal from corner 0 to corner 7. All cells are
// split the same way, so that neighbours agree on the diagonals of the sides they share.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "supple/math/types.h"

namespace supple {

/// Corners of the six tetrahedra, x fastest; all have the volume 1/6 in the unit cell.
inline constexpr std::array<std::array<uint8_t, 4>, 6> cell_tets{
    {{0, 1, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}, {0, 3, 2, 7}, {0, 6, 4, 7}}};

/// Calls visit(place) for every place in a unit cell that is at a point now, when the cell's
/// corners are at `corners`: one for each tetrahedron that is the right way round and holds the
/// point. There is at most one in cells that are not folded, or the same one twice between two
/// tetrahedra.
template <class Visit>
void for_places_in_cell(const std::array<Vec3d, 8>& corners, const Vec3d& point,
                        const Visit& visit) {
  // Weights may be this much below 0, so that nothing is lost between tetrahedra; smaller volumes,
  // against the cube of the longest edge, count as none.
  constexpr double slack = 1e-9, least_volume = 1e-12;
  for (const auto& tet : cell_tets) {
    const Vec3d &o = corners[tet[0]], &d = corners[tet[3]];
    const Vec3d a = corners[tet[1]] - o, b = corners[tet[2]] - o, c = d - o, p = point - o;
    const Vec3d bc = b.cross(c);
    const double volume = a.dot(bc);
    const double edge = std::max({a.squaredNorm(), b.squaredNorm(), c.squaredNorm()});
    if (!(volume > least_volume * edge * std::sqrt(edge))) continue;
    // p = u a + v b + w c by Cramer's rule.
    const double u = p.dot(bc) / volume;
    if (!(u >= -slack && u <= 1 + slack)) continue;
    const double v = a.dot(p.cross(c)) / volume, w = a.dot(b.cross(p)) / volume;
    if (!(v >= -slack && w >= -slack && u + v + w <= 1 + slack)) continue;
    const auto unit = [](uint8_t i) { return Vec3d(i & 1, i >> 1 & 1, i >> 2); };
    visit(Vec3d(u * unit(tet[1]) + v * unit(tet[2]) + w * unit(tet[3])));
  }
}

}  // namespace supple
