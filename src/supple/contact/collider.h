// Rigid objects that move and that bodies collide with.
#pragma once

#include <optional>

#include "supple/contact/collider_shapes.h"

namespace supple {

/// A point inside a rigid object.
struct RigidContact {
  double depth = 0;                ///< in metres, more than 0
  Vec3d normal = Vec3d::UnitZ();   ///< outwards, of unit length
  Vec3d surface = Vec3d::Zero();   ///< where on the surface the point should be, in metres
  Vec3d velocity = Vec3d::Zero();  ///< of the object's matter there, in metres per second
};

/// How an object collides.
struct ColliderOptions {
  double friction = 0;   ///< Coulomb's coefficient, for the response to contacts
  double thickness = 0;  ///< added outwards, in metres of the world
};

/// A rigid object; const calls may be made from many threads.
class Collider {
 public:
  /// An object at rest where its shape says. Throws an input error for shapes, friction or
  /// thickness that are negative or not finite.
  explicit Collider(ColliderShape shape, const ColliderOptions& options = {});

  /// Places the object: from its own space to the world now, and `dt` seconds before. Motions are
  /// rotations, shifts and one scale for all axes; throws an input error for others.
  void set_motion(const Affine& before, const Affine& now, double dt);

  /// Places the object at rest.
  void set_motion(const Affine& now) { set_motion(now, now, 0); }

  /// The contact of a point (in metres of the world), if it is inside.
  std::optional<RigidContact> test(const Vec3d& world_point) const;

  /// The signed distance of a point (in metres of the world), negative inside.
  double distance(const Vec3d& world_point) const;

  /// By how much such a distance may differ from the true one at most, in metres of the world:
  /// within the band of a level set, and beyond it where it is larger.
  double inaccuracy() const;

  /// Where a point that moved along with the object is now (metres of the world) that was here
  /// `dt` seconds before.
  Vec3d moved_along(const Vec3d& world_point_before) const;

  /// Where the object is: from its own space to the world.
  const Affine& placed() const { return m_now; }

  /// The shape.
  const ColliderShape& shape() const { return m_shape; }
  /// How it collides.
  const ColliderOptions& options() const { return m_options; }

 private:
  ColliderShape m_shape;
  ColliderOptions m_options;
  Affine m_before = Affine::Identity(), m_now = Affine::Identity();
  Affine m_step = Affine::Identity();  // in the world, from before to now
  bool m_moves = false;
  Affine m_to_shape = Affine::Identity();  // from the world now
  Mat3d m_turn = Mat3d::Identity();        // of normals
  double m_scale = 1;
  double m_rate = 0;  // 1 / dt, or 0 at rest
};

}  // namespace supple
