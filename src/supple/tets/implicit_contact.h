// Contact of a body of tetrahedra in implicit steps: with rigid colliders and with itself, as
// penalties at points of the skin (contact_terms.h), found anew before iterations of Newton's
// method.
//
// What was touched once in a step is remembered until its end: as penalties push only, a point that
// has left meanwhile costs nothing, and does not fall back in the next iteration. After a few
// looks planes stay where they are and contacts are only added, so that iterations come to an end
// where a point lies between two places.
//
// Friction is Coulomb's: a spring as stiff as the penalty, weakened to what the law allows at the
// present slip and pressure. On colliders it pulls to where a point holds on (grips, part of the
// state), so that bodies on slopes stay; between parts of the body to where they were relative to
// each other at the beginning of the step.
#pragma once

#include <memory>

#include "supple/tets/tet_self_collision.h"

namespace supple {

/// What touches, and how hard.
struct ImplicitContactModel {
  std::vector<TetTie> ties;            ///< of points that meet colliders
  std::vector<double> stiffness;       ///< of these, N/m
  std::vector<double> self_stiffness;  ///< of contact points of the body with itself, N/m
  double self_friction = 0;            ///< Coulomb's coefficient between parts of the body
  double cap = 1;                      ///< depth from which forces grow no further, m
  std::vector<double> masses;          ///< of the nodes, kg
};

/// Finds contacts step by step.
class ImplicitContact {
 public:
  /// `self` may be null: then the body does not meet itself.
  ImplicitContact(ImplicitContactModel model, std::unique_ptr<TetSelfCollision> self);

  /// What acts at present.
  ContactTerms& terms() { return m_terms; }

  /// Begins a step with nodes at x, and colliders where they are then; they must outlive the step.
  void begin_step(std::span<const Collider* const> colliders, const TetVector& x);

  /// Finds contacts with nodes at x and colliders where they are now, for the `look`th time in a
  /// stage (from 1). They replace those that act where they change the acceleration of a node by
  /// more than `counts` (m/s²), and at the first look; says whether they did.
  bool find(const TetVector& x, double counts, int look);

  /// Ends a step with nodes at x: what is held on to, and depths.
  void end_step(const TetVector& x);

  /// Lets go of everything.
  void forget();

  /// What points hold on to: the state.
  std::vector<Grip> grips;

  /// How deep the points that meet colliders, and those of the body with itself, were at the end of
  /// the last step, in metres; 0 without contact.
  std::span<const float> depths() const { return m_depths; }
  std::span<const float> self_depths() const { return m_self_depths; }

  /// Collisions of the body with itself, or null.
  const TetSelfCollision* self() const { return m_self.get(); }

 private:
  // What a point has touched in this step, and where that is: in the collider's own space, or on
  // the skin.
  struct Touch {
    int32_t point, collider;  // -1: the body itself
    Vec3d surface, normal;    // of a collider, in its space; of the body at rest (normal alone)
    SkinSpot spot;
    bool now;  // found in the last search
  };

  void find_rigid(const TetVector& x);
  void find_self(const TetVector& x);
  ContactTerm term_of(const Touch& touch, const TetVector& x) const;
  void add_friction(const Touch& touch, const TetVector& x, ContactTerm& term) const;

  ImplicitContactModel m_model;
  std::unique_ptr<TetSelfCollision> m_self;
  std::vector<const Collider*> m_colliders;

  // Of a step.
  std::vector<Affine> m_placed_before;  // colliders at its beginning
  TetVector m_before;                   // nodes then
  std::vector<Touch> m_touches;         // by point, those with the body itself last
  std::vector<Touch> m_merged, m_hits;
  std::vector<std::vector<Touch>> m_found;  // by block of points
  std::vector<TetSelfContact> m_self_found;
  ContactTerms m_terms, m_next;
  TetVector m_force, m_next_force;
  std::vector<float> m_depths, m_self_depths;
};

}  // namespace supple
