// What a body of tetrahedra with implicit steps touches: the colliders of its scene, where they are
// between frames, and itself.
#pragma once

#include <memory>

#include "supple/core/chunk.h"
#include "supple/sim/moving_colliders.h"
#include "supple/sim/tet_model.h"
#include "supple/tets/implicit_contact.h"

namespace supple {

/// Whether a scene's body touches anything in implicit steps.
bool has_implicit_contact(const ContactSettings& settings);

/// Contact of one body.
class ImplicitTetContact {
 public:
  /// For a model, which must outlive it. Throws an input error naming `file` when the scene asks
  /// for something that is not possible.
  ImplicitTetContact(const Character& character, const TetModel& model,
                     const BodySettings& settings, const FrameRange& range,
                     const std::string& file);

  /// Moves colliders to a part of the way between two instants, and returns them.
  std::span<const Collider* const> move(const Instant& from, const Instant& to, double part);

  /// Finds contacts.
  ImplicitContact& finder() { return *m_contact; }
  const ImplicitContact& finder() const { return *m_contact; }

  /// How deep every vertex of the skin was at the end of the last step, in metres; 0 without
  /// contact. Contact points inside triangles show at all three corners.
  std::vector<float> depths() const;

  /// The deepest of all contact points, with colliders or the body itself, in metres.
  double deepest() const;

  /// What is shown of colliders at an instant, and once.
  std::vector<Vec3f> outline_at(const Instant& now) const;
  const std::vector<Vec3i>& outline() const { return m_colliders.triangles(); }

  /// The state.
  void save(Chunk& state) const;
  void load(const Chunk& state, std::string_view file);

 private:
  const Character& m_character;
  const TetModel& m_model;
  MovingColliders m_colliders;
  std::vector<const Collider*> m_list;
  bool m_joints_carry = false;  // colliders
  std::unique_ptr<SkinSurface> m_surface;
  std::unique_ptr<ImplicitContact> m_contact;
};

}  // namespace supple
