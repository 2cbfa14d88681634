// Flesh and skeleton together, one step after another [Kim 2011, fig. 11]: the skeleton feels what
// the flesh pulls at it (two-way), or follows an animation alone (one-way). Free rigid bodies are
// part of the same steps.
#pragma once

#include <vector>

#include "supple/articulation/direct_control.h"
#include "supple/articulation/hybrid_dynamics.h"
#include "supple/articulation/integrate.h"
#include "supple/articulation/joint_torques.h"
#include "supple/contact/rigid_body.h"
#include "supple/tets/skin_contact.h"
#include "supple/tets/tet_flesh.h"

namespace supple {

/// A free rigid body and the shapes of which it is made, as colliders.
struct FreeBody {
  RigidBody body;
  std::vector<Collider> parts;
};

/// What the joints are told in a step.
struct JointOrders {
  std::vector<uint8_t> prescribed;  ///< per bone: not 0 where the acceleration counts
  Eigen::VectorXd accelerations;    ///< of prescribed joints
  Eigen::VectorXd torques;          ///< of the others, beside limits, springs and dampers
  Eigen::VectorXd resistances;      ///< of these to acceleration, beside the same; may be empty
};

/// Adds the masses of nodes that are fixed to bones to these, in their frames at rest.
void merge_fixed_masses(const TetFleshModel& flesh, std::vector<BoneDescription>& bones);

/// Adds the masses of free nodes to the bones their dampers hold on to, as if they were fixed there
/// too: what the bones weigh for motions that are slow beside the flesh's vibrations. Joint frames
/// are not turned.
void merge_free_masses(const TetFleshModel& flesh, std::vector<BoneDescription>& bones);

/// Flesh on a skeleton with dynamics.
class TetCharacter {
 public:
  /// At rest. Bones must have the masses of their fixed nodes merged. `contact` may be without
  /// ties.
  TetCharacter(ArticulatedBody skeleton, TetFleshModel flesh, SkinContactModel contact,
               TetPrecision precision, const std::string& file);
  TetCharacter(const TetCharacter&) = delete;

  /// The skeleton.
  const ArticulatedBody& skeleton() const { return m_skeleton; }

  // The state.
  ArticulatedState joints;
  TetFlesh flesh;
  SkinContact contact;
  std::vector<FreeBody> free_bodies;

  /// Brings bones and fixed nodes to where the joints are.
  std::span<const BoneMotion> update();

  /// Finds all forces on nodes and bones of a step of h seconds, `colliders` being fixed or moved
  /// by others; to be called after update().
  void find_forces(std::span<const Collider* const> colliders, double h);

  /// Solves and integrates a step of h seconds under gravity (m/s²), with the forces found. Where
  /// the skeleton flies freely, its momenta are made exactly what the forces say: steps in joint
  /// coordinates alone lose or gain some when joints turn fast.
  void advance(const JointOrders& orders, const Vec3d& gravity, double h);

  /// Moves the flesh alone by a step of h seconds; the bones are where others put them: to `next`
  /// at the end of it. Where `carried`, the modelled shape is that under weight.
  void follow(std::span<const BoneMotion> bones, std::span<const BoneMotion> next,
              std::span<const Collider* const> colliders, const Vec3d& gravity, bool carried,
              double h);

  /// The dynamics, for controllers; moved to the state by update().
  HybridDynamics& dynamics() { return m_dynamics; }

  /// What pulls at the bones, about their origins, as found by find_forces().
  std::span<const Wrench> wrenches() const { return m_wrenches; }

  /// The skeleton's part of the fastest vibration, as v: part of the state, as steps depend on it.
  Eigen::VectorXd joint_mode;

  /// The longest step (s) that is stable for flesh, contacts and free bodies, times `safety`.
  /// Contacts are made softer where they alone would need shorter steps than the flesh.
  double stable_step(int iterations, double safety);

  /// Momentum of flesh and bones, about a point.
  Wrench momentum(const Vec3d& about) const;

  /// Centre of mass of flesh and bones, m, and their mass, kg.
  Vec3d centre_of_mass() const;
  double mass() const;

  /// Whether every number of the state is finite, and no node faster than `limit` m/s.
  bool is_sound(double limit) const;

 private:
  void touch(std::span<const Collider* const> colliders, double h);
  void integrate_skeleton(const Eigen::VectorXd& accelerations, const Vec3d& gravity, double h);
  void move_free_bodies(std::span<const Collider* const> colliders, const Vec3d& gravity, double h);

  ArticulatedBody m_skeleton;
  HybridDynamics m_dynamics;
  std::vector<Wrench> m_wrenches;
  std::vector<double> m_damped;    // of every bone: how fast dampers of 1/s would brake it, at most
  std::vector<double> m_greatest;  // damping of a step, 1/s
  Eigen::VectorXd m_torques, m_resistances;
  std::vector<const Collider*> m_colliders;  // of a step: those given, then parts of free bodies
  std::vector<Wrench> m_reactions;
  size_t m_given = 0;
  int m_roots = 0;
  bool m_limited = false;
};

}  // namespace supple
