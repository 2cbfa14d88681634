// Contact of a lattice body: with itself and with rigid colliders, as springs at points of its skin
// [McAdams 2011, §7]. Springs pull a point that is too deep to the nearest place on the surface,
// k (x - x_s)ᵀ M (x - x_s) / 2 with M = (1 - a) n nᵀ + a I, found anew as the body moves.
//
// Where the body touches itself both sides have such springs, so that each asks for half the way.
#pragma once

#include <memory>

#include "supple/contact/collider.h"
#include "supple/contact/self_collision.h"
#include "supple/sim/lattice_model.h"

namespace supple {

/// Where rig and scripts are at the beginning or the end of a step.
struct ColliderDrive {
  Moment moment;
  std::span<const Affine> joints;
};

/// Finds what a lattice body collides with.
class LatticeContact {
 public:
  /// For a model, which must outlive it. Throws an input error naming `file` when the scene asks
  /// for something that is not possible.
  LatticeContact(const Character& character, const LatticeModel& model,
                 const BodySettings& settings, const FrameRange& range, const std::string& file);

  /// The contact points, in cells of the lattice.
  std::vector<Vec3d> lattice_points() const;

  /// Begins a step of `dt` seconds (0 for none) with the nodes at `nodes`: colliders move.
  void begin(const ColliderDrive& before, const ColliderDrive& now, double dt,
             std::span<const Vec3d> nodes);

  /// Finds all contacts with the nodes at `nodes` and adds their springs to `out`; contact point 0
  /// is point `first` of the system. Returns the number of contacts.
  size_t find(std::span<const Vec3d> nodes, int32_t first, std::vector<ActiveSpring>& out);

  /// How deep each contact point was when contacts were last found, in metres; 0 without contact.
  std::span<const float> depths() const { return m_depths; }

  /// The contact points.
  std::span<const ContactPoint> points() const { return m_points; }

  /// Their ties to the lattice.
  std::span<const LatticeTie> ties() const { return m_ties; }

 private:
  struct MovingCollider {
    Collider collider;
    Script script;
    int joint = -1;
    Affine from_joint = Affine::Identity();  // model space at rest to the joint's
  };

  void add_colliders(const Character& character, const BodySettings& settings,
                     const FrameRange& range, const std::string& file);
  void add_props(const Character& character);
  static Affine motion_of(const MovingCollider& moving, const ColliderDrive& drive);
  void find_rigid(std::span<const Vec3d> nodes, std::vector<ActiveSpring>& out);
  void add_spring(int32_t point, const Vec3d& target, const Vec3d& normal, double along,
                  std::vector<ActiveSpring>& out) const;

  const LatticeModel& m_model;
  double m_stiffness;  // per area, in newtons per cubic metre
  double m_grip;
  int32_t m_first = 0;
  double m_step = 0;
  SkinSurface m_surface;
  std::vector<ContactPoint> m_points;
  std::vector<LatticeTie> m_ties;
  std::unique_ptr<SelfCollision> m_self;
  std::vector<MovingCollider> m_colliders;
  std::vector<Vec3d> m_before;  // contact points at the beginning of the step
  std::vector<SelfContact> m_contacts;
  std::vector<float> m_depths;
};

}  // namespace supple
