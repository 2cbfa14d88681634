// A free rigid body: pushed by contacts and its weight, on its way by symplectic Euler. It is made
// of shapes that others collide with, and touches fixed colliders itself with points of its
// surface.
#pragma once

#include <span>
#include <vector>

#include "supple/contact/penalty.h"
#include "supple/contact/point_tree.h"
#include "supple/math/spatial.h"
#include "supple/mesh/triangle_mesh.h"

namespace supple {

/// What a rigid body is made from.
struct RigidBodyModel {
  double mass = 1;                    ///< kg
  Vec3d centre = Vec3d::Zero();       ///< of mass at rest, m
  Mat3d inertia = Mat3d::Identity();  ///< about it, in the world's axes at rest, kg m²
  std::vector<Vec3d> points;          ///< of the surface at rest, that touch other things, m
  double stiffness = 0;               ///< of such a contact, N/m
  double damping_ratio = 0.3;         ///< of critical damping
};

/// Mass, centre and inertia of a closed surface filled with matter of a density (kg/m³), without
/// points. Throws an input error naming `what` for surfaces without volume.
RigidBodyModel solid_body(const TriangleMesh& surface, double density, const std::string& what);

/// A rigid body on its way.
class RigidBody {
 public:
  explicit RigidBody(RigidBodyModel model);

  /// What does not change.
  const RigidBodyModel& model() const { return m_model; }

  // The state.
  Vec3d position;           ///< of the centre of mass, m
  Quatd orientation;        ///< from rest
  Vec3d velocity;           ///< of the centre of mass, m/s
  Vec3d spin;               ///< angular velocity in the world's axes, rad/s
  std::vector<Grip> grips;  ///< of the points

  /// From where it is at rest to where it is now.
  Affine placed() const;

  /// Velocity of its matter at a place in the world, m/s.
  Vec3d velocity_at(const Vec3d& at) const { return velocity + spin.cross(at - position); }

  /// The wrench about its centre of mass of contacts with fixed or moving colliders.
  Wrench contacts(std::span<const Collider* const> colliders);

  /// Moves by a step of h seconds under a wrench about the centre of mass and gravity (m/s²).
  void integrate(double h, const Wrench& wrench, const Vec3d& gravity);

  /// The square of the highest frequency of its own contacts, 1/s², at most.
  double highest_frequency() const;

 private:
  RigidBodyModel m_model;
  PointTree m_tree;      // of the points at rest
  double m_damping = 0;  // of a contact, N s/m

  std::vector<std::pair<int32_t, int32_t>> m_inside;  // points, and colliders they are inside of
  std::vector<int32_t> m_found;
};

}  // namespace supple
