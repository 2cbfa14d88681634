// Surfaces of simple solids as closed triangle meshes, fine enough to bend: boxes, balls and bent
// tubes. Vertices are shared along smooth places and doubled along sharp edges, so that both are
// shaded as they are.
#pragma once

#include "supple/mesh/triangle_mesh.h"

namespace supple {

/// A box of this size around the origin, with edges of about `edge` (all in metres).
TriangleMesh box_surface(const Vec3d& size, double edge);

/// A ball around the origin, with edges of about `edge` (in metres).
TriangleMesh sphere_surface(double radius, double edge);

/// A tube bent round the z axis (all lengths in metres).
struct Tube {
  double ring = 1;      ///< radius of its centre line, around the origin in the xy plane
  double radius = 0.3;  ///< of the tube, less than `ring`
  double bore = 0;      ///< radius of the free bore, less than `radius`; 0 for a solid rod
  double angle = 1.5;   ///< how far it goes round from the x axis, in radians, less than 2 pi
};

/// The surface of a bent tube with flat ends, with edges of about `edge` (in metres).
TriangleMesh tube_surface(const Tube& tube, double edge);

}  // namespace supple
