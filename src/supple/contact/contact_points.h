// Contact points: points spread evenly over the free surface of a skin, sheets included, that are
// tested for collisions and stand for the area around them [McAdams 2011, section 7: collision
// proxies].
//
// They are vertices of the skin as far as those go, and points inside triangles where those are
// large. Points are taken in a fixed order, each kept unless one is closer that looks the same way
// (two sides of a thin part do not stand for each other).
#pragma once

#include <vector>

#include "supple/contact/skin_surface.h"

namespace supple {

/// A point of the skin that collisions are tested at.
struct ContactPoint {
  Vec3d rest = Vec3d::Zero();     ///< in metres
  Vec3d normal = Vec3d::UnitZ();  ///< outwards, of unit length; that of the mesh for a sheet
  double area = 0;                ///< of the surface it stands for, in square metres
  int32_t vertex = -1;            ///< of the skin's mesh; -1 inside a triangle
  int32_t triangle = -1;          ///< of the skin's mesh that it lies in or is a corner of
  bool sheet = false;             ///< whether only sheets meet there
};

/// How contact points are chosen.
struct ContactPointOptions {
  double factor = 1;  ///< sides of a point's square of surface, in spacings of the skin
};

/// Chooses contact points, about one per (spacing * factor)^2 of surface and never many more. The
/// areas add up to that of the surface.
std::vector<ContactPoint> choose_contact_points(const SkinSurface& skin,
                                                const ContactPointOptions& options = {});

}  // namespace supple
