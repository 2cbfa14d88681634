// Inertia that is scaled [Wang 2020, section 5.1]: displacements are split into the equilibrium p
// under the present constraints and a dynamic part, u = p + R q, and the forces that the moving
// frame (p, R) of every node gives q are multiplied by ε: 0 leaves no dynamics, 1 changes nothing.
//
// Where the equilibrium itself jumps from step to step, as that of deep folds does, which contacts
// would keep open but which has none, or where it is inside out, a node has no frame that moves
// smoothly: there inertia is as it is, whatever ε.
//
// Deviations: the Coriolis force is 2 Ṙ Rᵀ (u̇ - ṗ), printed as 2 Ṙ Ṙᵀ; and what damping makes of
// the frame's motion, D (ṗ + Ṙ q), is scaled along with inertia, as it would drive q otherwise.
// docs/adjust.md has the derivation.
#pragma once

#include <span>
#include <vector>

#include "supple/adjust/node_turn.h"
#include "supple/adjust/turn_kernels.h"
#include "supple/mesh/node_gradients.h"
#include "supple/solve/body_vector.h"
#include "supple/solve/implicit.h"

namespace supple {

/// What damping resists.
enum class DampingFrame {
  scaled,  ///< u̇ - (1 - ε)(ṗ + ω × (u - p)): as inertia is
  moving,  ///< u̇ - ṗ - ω × (u - p): the motion of q alone
  still,   ///< u̇, as printed: then it drives q even at ε = 0
};

/// The forces that scale the inertia of a body's nodes.
class InertiaScaling {
 public:
  /// `masses` in kg; `epsilon` has one number per node, from 0 on. With `fade_jumps` nodes keep
  /// their inertia where the equilibrium jumps, or is inside out.
  InertiaScaling(NodeGradients gradients, std::vector<double> masses, std::vector<double> epsilon,
                 DampingFrame damping = DampingFrame::scaled, bool fade_jumps = false);

  /// The factors of inertia, from now on.
  void set_epsilon(std::span<const double> epsilon);

  /// Whether there is anything to change.
  bool acts() const { return m_acts; }

  /// Whether forces depend on where the nodes are, as some of the frames turn.
  bool turns() const { return m_turns; }

  /// Takes over the equilibrium's motion at the end of a stage of a step of h seconds, as three
  /// numbers per node, which must stay as they are until the next.
  void move_frames(const Moving<BodyVector>& equilibrium, double h);

  /// Sets `forces` (N) of a stage at positions x (m) to `outer` and (1 - ε) M [p̈ + (R̈ Rᵀ +
  /// 2 Ṙ Ṙᵀ)(u - p) + 2 Ṙ Rᵀ (u̇ - ṗ)] [Wang 2020, eq. 17, corrected], and `reference` to the
  /// velocity (m/s) damping is relative to; says whether forces are other than `before` by more
  /// than accelerations that count (m/s²).
  bool scale(const StageStart<BodyVector>& stage, const BodyVector& x, const BodyVector& outer,
             const BodyVector& before, double counts, BodyVector& forces,
             BodyVector& reference) const;

  /// The dynamic displacements q = Rᵀ (u - p), m.
  void displacements(const BodyVector& x, BodyVector& q) const;

  /// How a node's frame turns.
  NodeTurn frame(size_t node) const;

  /// How much of every node's scaling counts: 1 where its frame moves smoothly, down to 0.
  std::span<const double> trust() const { return m_trust; }

 private:
  int turn_frames(size_t begin, size_t end, double h);
  void set_turn(size_t node, const NodeTurn& turn);
  void set_shares();

  NodeGradients m_gradients;
  std::vector<double> m_masses, m_epsilon, m_trust;
  DampingFrame m_damping;
  bool m_fade_jumps;
  bool m_acts = false, m_turns = false;
  const Moving<BodyVector>* m_equilibrium = nullptr;
  std::vector<FrameBlock> m_frames;
};

/// The second derivative in time from five samples h seconds apart, in the middle [Wang 2020,
/// eq. 21]; `p` has those from two before to two after. Not the integrators' own: it leaves inertia
/// even at ε = 0.
BodyVector five_point_acceleration(std::span<const BodyVector> p, double h);

/// The first derivative from the same samples.
BodyVector five_point_velocity(std::span<const BodyVector> p, double h);

}  // namespace supple
