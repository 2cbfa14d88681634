// Contact of a body of cells: with itself and with rigid colliders, as springs at points of its
// skin [McAdams 2011, §7]. Springs pull a point that is too deep to the nearest place on the
// surface, k (x - x_s)ᵀ M (x - x_s) / 2 with M = (1 - a) n nᵀ + a I, found anew as the body moves.
//
// Where the body touches itself both sides have such springs, so that each asks for half the way.
//
// Bones that slide are colliders inside the flesh: points around them are kept out of them.
#pragma once

#include <memory>

#include "supple/contact/skin_clearance.h"
#include "supple/lattice/lattice_system.h"
#include "supple/sim/flesh_model.h"
#include "supple/sim/moving_colliders.h"

namespace supple {

/// What differs between kinds of bodies.
struct FleshContactOptions {
  bool self = true;    ///< whether the body collides with itself
  double density = 1;  ///< contact points along the side of a cell, where the scene asks for one
};

/// Finds what a body collides with.
class FleshContact {
 public:
  /// For a model, which must outlive it. Throws an input error naming `file` when the scene asks
  /// for something that is not possible.
  FleshContact(const Character& character, const FleshModel& model, const BodySettings& settings,
               const FleshContactOptions& options, const FrameRange& range,
               const std::string& file);

  /// The contact points, and then those around sliding bones, in cells of the lattice.
  std::vector<Vec3d> lattice_points() const;

  /// Begins a step of `dt` seconds (0 for none) with the nodes at `nodes`: colliders move.
  void begin(const ColliderDrive& before, const ColliderDrive& now, double dt,
             std::span<const Vec3d> nodes);

  /// Finds all contacts with the nodes at `nodes` and adds their springs to `out`; contact point 0
  /// is point `first` of the system. Without `with_itself`, contacts of the body with itself stay
  /// as they were found before. Needs a step begun. Returns the number of contacts.
  size_t find(std::span<const Vec3d> nodes, int32_t first, bool with_itself,
              std::vector<ActiveSpring>& out);

  /// Moves the skin's points, in metres, out of other flesh where cells with their nodes at `nodes`
  /// left them in.
  void clear_skin(std::span<const Vec3d> nodes, std::span<Vec3f> points) const;

  /// How deep each contact point was when contacts were last found, in metres; 0 without contact.
  std::span<const float> depths() const { return m_depths; }

  /// The contact points.
  std::span<const ContactPoint> points() const { return m_points; }

  /// Their ties to the lattice.
  std::span<const LatticeTie> ties() const { return m_ties; }

  /// The rigid colliders.
  const MovingColliders& colliders() const { return m_colliders; }

 private:
  // A point of the flesh that a sliding bone keeps out.
  struct InnerPoint {
    Vec3d rest;
    LatticeTie tie;
    size_t bone;       // number of the collider
    double stiffness;  // in newtons per metre
  };

  void add_line_points();
  void add_sliding_bones();
  void find_itself(std::span<const Vec3d> nodes);
  void find_rigid(std::span<const Vec3d> nodes, std::vector<ActiveSpring>& out);
  void find_inner(std::span<const Vec3d> nodes, std::vector<ActiveSpring>& out) const;
  LatticeTie tie(const Vec3d& rest) const;
  bool is_lost(const SelfContact& contact, std::span<const Vec3d> nodes) const;
  void find_room();
  double stiffness_of(const SelfContact& contact, std::span<const Vec3d> nodes) const;
  double young_at(const LatticeTie& tie) const;
  double volume_at(std::span<const Vec3d> nodes, const LatticeTie& tie) const;

  const FleshModel& m_model;
  double m_stiffness;  // of springs, per area and Young's modulus
  double m_grip;
  int32_t m_first = 0;
  double m_step = 0;
  std::unique_ptr<SkinSurface> m_surface;  // null for lines alone
  std::vector<ContactPoint> m_points;
  std::vector<LatticeTie> m_ties;
  std::vector<double> m_young;  // of the flesh at the contact points
  std::unique_ptr<SelfCollision> m_self;
  std::unique_ptr<SkinClearance> m_clearance;  // null where skins are left as cells carry them
  MovingColliders m_colliders;
  size_t m_outer = 0;  // colliders that the skin's points meet; the others are bones
  std::vector<InnerPoint> m_inner;
  std::vector<Affine> m_pose;   // joints at the end of the step
  std::vector<uint8_t> m_room;  // whether contact points have any in that pose; empty if not known
  std::vector<Vec3d> m_before;  // contact points at the beginning of the step
  std::vector<SelfContact> m_contacts;
  std::vector<ActiveSpring> m_self_springs;
  std::vector<float> m_self_depths, m_depths;
};

}  // namespace supple
