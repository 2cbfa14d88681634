// How well shaped tetrahedra are: by the smallest angle between two of their sides.
#pragma once

#include <array>

#include "supple/mesh/tet_mesh.h"

namespace supple {

/// The smallest dihedral angle of a tetrahedron, in degrees; 0 or less when it is flat or
/// negatively oriented, and the lower the more it is turned inside out (down to about -6).
double tet_quality(const std::array<Vec3d, 4>& corners);

/// The smallest dihedral angle of all tetrahedra, in degrees (0 where one is flat or inverted, 180
/// for none).
double smallest_dihedral(const TetMesh& mesh);

/// Where the corners of a tetrahedron are.
inline std::array<Vec3d, 4> tet_corners(const TetMesh& mesh, const Vec4i& tet) {
  return {mesh.positions[tet[0]], mesh.positions[tet[1]], mesh.positions[tet[2]],
          mesh.positions[tet[3]]};
}

}  // namespace supple
