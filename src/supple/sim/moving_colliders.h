// The rigid things of a scene that flesh collides with: where they are at any time, and how they
// look.
#pragma once

#include "supple/contact/collider.h"
#include "supple/sim/flesh_skin.h"
#include "supple/sim/scene.h"
#include "supple/sim/script.h"

namespace supple {

/// Where rig and scripts are at the beginning or the end of a step.
struct ColliderDrive {
  Moment moment;
  std::span<const Affine> joints;
};

/// The shape of a collider, at rest.
ColliderShape collider_shape(const ColliderSettings& settings);

/// What is shown of a collider at rest; `length` is the body's, for the size of planes.
TriangleMesh collider_outline(const ColliderSettings& settings, double length);

/// The settings of a body, with ground below it when it is a prop that the scene neither holds nor
/// puts on anything.
BodySettings standing_on_ground(BodySettings settings, const Character& character);

/// Rigid colliders that scripts and joints move. Those that move by themselves are left out.
class MovingColliders {
 public:
  /// The colliders of a scene. Throws an input error naming `file` when it asks for something that
  /// is not possible. `length` is the body's, in metres, for the size planes are shown with.
  MovingColliders(const Character& character, const ContactSettings& settings,
                  const FrameRange& range, double length, const std::string& file);

  /// Adds the meshes that hang rigidly on joints and that are no part of the flesh themselves.
  void add_props(const FleshSkin& skin);

  /// Adds a thing that moves with a joint; returns its number.
  size_t add(ColliderShape shape, int joint);

  /// Moves all from where they were `dt` seconds (0 for none) before to where they are now.
  void move(const ColliderDrive& before, const ColliderDrive& now, double dt);

  /// How many there are.
  size_t size() const { return m_all.size(); }

  /// One of them, where it is.
  const Collider& operator[](size_t i) const { return m_all[i].collider; }

  /// Triangles of what is shown of them; without bones.
  const std::vector<Vec3i>& triangles() const { return m_triangles; }

  /// Corners of what is shown of them at a time, in metres.
  std::vector<Vec3f> vertices(const ColliderDrive& now) const;

 private:
  struct Moving {
    Collider collider;
    Script script;
    int joint = -1;
    Affine from_joint = Affine::Identity();  // model space at rest to the joint's
    std::vector<Vec3f> outline;              // at rest
  };

  static Affine motion_of(const Moving& moving, const ColliderDrive& drive);
  void show(const TriangleMesh& outline);

  const Character& m_character;
  std::vector<Affine> m_bound;  // joints in the bind pose
  std::vector<Moving> m_all;
  std::vector<Vec3i> m_triangles;
  int32_t m_corners = 0;
};

}  // namespace supple
