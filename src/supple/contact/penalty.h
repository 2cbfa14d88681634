// Contact by penalties: a force that grows with depth, a damper, and dry friction by a spring to
// the place where the point first touched, which slides along when it is pulled too hard. Bodies on
// the ground so come to rest, and stay.
#pragma once

#include <algorithm>

#include "supple/contact/collider.h"

namespace supple {

/// How hard a point is pushed.
struct Penalty {
  double stiffness = 0;  ///< N/m
  double damping = 0;    ///< N s/m
  double friction = 0;   ///< Coulomb's coefficient
};

/// Where a point holds on to what it touches, and from which side it came.
struct Grip {
  Vec3d anchor = Vec3d::Zero();  ///< on the surface, in the space of the collider, m
  Vec3d normal = Vec3d::Zero();  ///< of the surface there, in that space
  int32_t collider = -1;         ///< which one, -1 for none
};

/// The contact of a point that held on to this collider before, found or not (`found`) by the
/// collider's own test. A thin object would push a point that is past its middle out on another
/// side: as long as the way back leads through it, the point is still on the side it came from.
inline std::optional<RigidContact> keep_side(std::optional<RigidContact> found, const Vec3d& at,
                                             const Collider& collider, const Grip& grip) {
  const Vec3d normal = (collider.placed().linear() * grip.normal).normalized();
  if (found && found->normal.dot(normal) > 0.5) return found;
  const double depth = (collider.placed() * grip.anchor - at).dot(normal);
  if (!(depth > 0) || !(collider.distance(at + depth / 2 * normal) < 0)) return found;
  RigidContact kept;
  if (found) kept = *found;
  kept.depth = depth;
  kept.normal = normal;
  kept.surface = at + depth * normal;
  return kept;
}

/// The force on a point at `at` that moves with `velocity`, in newtons. `grip` is where it held on
/// before, and will; `placed` is the collider's placement in the world.
inline Vec3d penalty_force(const RigidContact& contact, const Vec3d& at, const Vec3d& velocity,
                           const Penalty& penalty, int32_t collider, const Affine& placed,
                           Grip& grip) {
  const Vec3d& n = contact.normal;
  const Vec3d relative = velocity - contact.velocity;
  const double speed = relative.dot(n);
  const double push = std::max(0.0, penalty.stiffness * contact.depth - penalty.damping * speed);
  const Affine to_collider = placed.inverse();
  if (grip.collider != collider) grip = {to_collider * contact.surface, Vec3d::Zero(), collider};
  grip.normal = to_collider.linear() * n;
  const Vec3d sliding = relative - speed * n;
  Vec3d way = at - placed * grip.anchor;
  way -= way.dot(n) * n;
  Vec3d drag = -penalty.stiffness * way - penalty.damping * sliding;
  const double most = penalty.friction * push, size = drag.norm();
  if (size > most) {
    drag *= size > 0 ? most / size : 0;
    way = penalty.stiffness > 0 ? Vec3d(-drag / penalty.stiffness) : Vec3d(Vec3d::Zero());
  }
  // The anchor follows on the surface, as far behind as the friction can pull.
  grip.anchor = to_collider * (contact.surface - way);
  return push * n + drag;
}

}  // namespace supple
