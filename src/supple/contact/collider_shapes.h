// Rigid shapes that bodies collide with, by their signed distances: negative inside, in metres, in
// the shape's own space.
#pragma once

#include <variant>

#include "supple/contact/level_set.h"

namespace supple {

/// The half space below a plane, such as the ground.
struct PlaneShape {
  Vec3d direction = Vec3d::UnitY();  ///< upwards, of any length but 0
  double offset = 0;                 ///< of the plane from the origin along it, in metres

  /// Signed distance of a point.
  double distance(const Vec3d& point) const;
  /// The direction in which the distance grows, of unit length.
  Vec3d normal(const Vec3d& point) const;
};

/// A ball.
struct SphereShape {
  Vec3d centre = Vec3d::Zero();
  double radius = 1;

  /// Signed distance of a point.
  double distance(const Vec3d& point) const;
  /// The direction in which the distance grows, of unit length.
  Vec3d normal(const Vec3d& point) const;
};

/// A round cone: the hull of two balls; a capsule when both are of the same size.
struct RoundConeShape {
  Vec3d a = Vec3d::Zero(), b = Vec3d::UnitY();  ///< the balls' centres
  double radius_a = 0.5, radius_b = 0.5;        ///< the balls' radii

  /// Signed distance of a point.
  double distance(const Vec3d& point) const;
  /// The direction in which the distance grows, of unit length.
  Vec3d normal(const Vec3d& point) const;
};

/// A box along the axes.
struct BoxShape {
  Vec3d centre = Vec3d::Zero();
  Vec3d half = Vec3d::Constant(0.5);  ///< half its sizes

  /// Signed distance of a point.
  double distance(const Vec3d& point) const;
  /// The direction in which the distance grows, of unit length.
  Vec3d normal(const Vec3d& point) const;
};

/// Any shape.
using ColliderShape = std::variant<PlaneShape, SphereShape, RoundConeShape, BoxShape, LevelSet>;

/// Throws an input error for sizes that are negative and numbers that are not finite.
void check_shape(const ColliderShape& shape);

}  // namespace supple
