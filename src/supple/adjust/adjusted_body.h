// Bodies whose dynamics can be adjusted: implicit steps of a system (of tetrahedra, or of the cells
// of a lattice) beside the equilibrium that the same constraints give, with inertia scaled between
// the two.
//
// The equilibrium's velocity and acceleration are formed with the integrator's own differences, so
// that at ε = 0 it is a solution of the discrete equations too. An error e of an equilibrium makes
// an inertia of about 5 e / h²: equilibria are solved until what is left of it is `false_inertia`.
#pragma once

#include <functional>
#include <memory>

#include "supple/adjust/inertia_scaling.h"
#include "supple/solve/body_vector.h"
#include "supple/solve/implicit.h"

namespace supple {

/// What adjusted bodies are made of: a system over time with three numbers per node, some of which
/// are held, drawn by springs and scaled as a whole.
template <class S>
concept AdjustableSystem = DynamicSystem<S> && std::same_as<typename S::Positions, BodyVector> &&
    requires(S system, const S& known, std::span<const Vec3d> places, const BodyVector& x) {
  requires std::constructible_from<S, const typename S::Model&, const std::string&>;
  { known.nodes() } -> std::convertible_to<size_t>;
  { known.is_free(size_t()) } -> std::same_as<bool>;                   // whether a node may move
  { known.masses() } -> std::convertible_to<std::span<const double>>;  // kg
  { known.gradients() } -> std::convertible_to<const NodeGradients&>;
  { known.rest() } -> std::same_as<BodyVector>;                  // m
  { known.held_at_rest() } -> std::same_as<std::vector<Vec3d>>;  // places of held points, m
  { known.is_pulled() } -> std::same_as<bool>;                   // by springs
  { known.is_linear() } -> std::same_as<bool>;                   // one linear solve is the solution
  { known.element_size() } -> std::same_as<double>;              // m
  system.set_places(places);
  system.set_pull_places(places);
  system.set_outer_forces(x);
  system.set_factors(1.0, 1.0, true);
  { S::stage_linear() } -> std::same_as<typename S::LinearOptions>;   // of dynamic steps
  { S::static_linear() } -> std::same_as<typename S::LinearOptions>;  // of equilibria
  { S::direct_linear() } -> std::same_as<typename S::LinearOptions>;  // where it is linear
  { S::reuse_below() } -> std::same_as<double>;  // of equilibria, as NewtonOptions has it
};

/// How velocities and accelerations of equilibria are formed.
enum class PathDerivatives {
  own,         ///< by the integrator's own differences: nothing swings at ε = 0
  five_point,  ///< from five steps, two of them ahead [Wang 2020, eq. 21]; backward Euler alone
};

/// How adjusted bodies are solved.
struct AdjustedOptions {
  Integrator integrator = Integrator::tr_bdf2;
  DampingFrame damping = DampingFrame::scaled;
  PathDerivatives derivatives = PathDerivatives::own;
  double tolerance = 1e-4;      ///< of dynamic steps: errors of nodes, relative to h² · 10 m/s²
  double false_inertia = 0.05;  ///< m/s², that errors of equilibria may make
  int iterations = 30;          ///< of dynamic stages, at most
  int static_iterations = 30;   ///< of equilibria, at most
  bool carry_guess = false;     ///< whether equilibria are looked for where the drive carries them
  bool fade_jumps = false;      ///< whether inertia is left as it is where equilibria jump
  bool always_track = false;    ///< whether equilibria are found even where ε is 1, to measure q
};

/// Equilibria of a run, stage after stage: those of one pass serve the next, as long as neither
/// constraints nor the ratio of weight and stiffness change.
struct EquilibriumPath {
  std::vector<BodyVector> stages;
  bool complete = false;  ///< whether a whole run has been recorded
  bool still = false;     ///< whether what holds the body stands still, and its equilibrium with it
};

/// What a body touches in dynamic steps, if anything; its equilibria touch nothing.
struct DriveContact {
  /// A step begins with nodes at x, or, `anew`, a way to rest at the step's end.
  std::function<void(const BodyVector& x, bool anew)> begin;

  /// A stage that ends at a part of the step begins: whatever may touch the body moves.
  std::function<void(double part)> move;

  /// Finds contacts of the body's system anew with nodes at x, for the `look`th time in a stage
  /// (from 1): those that change the acceleration of a node by more than `counts` (m/s²) do; says
  /// whether any do.
  std::function<bool(const BodyVector& x, double counts, int look)> find;

  /// The step ends with nodes at x.
  std::function<void(const BodyVector& x)> end;

  explicit operator bool() const { return static_cast<bool>(find); }
};

/// What a body is driven by in a step.
struct AdjustedDrive {
  /// Places (m) of held and pulled points at a part of the step, from 0 to 1; to 3 where
  /// derivatives are of five points.
  std::function<void(double part, std::vector<Vec3d>& held, std::vector<Vec3d>& pulled)> places;
  BodyVector forces;  ///< on the nodes, N: weight

  /// Moves nodes from where they are at one part of the step about as constraints do to another, if
  /// that is known.
  std::function<void(double from, double to, BodyVector& nodes)> carry;

  DriveContact contact;  ///< what it may touch
};

/// How a step went.
struct AdjustedReport {
  ImplicitReport dynamic;
  int static_iterations = 0;
  int static_linear = 0;  ///< iterations of its linear solves
  int solved = 0;         ///< equilibria that had to be solved for
  int unsettled = 0;      ///< of these, those that were not found to all digits
  bool sound = true;      ///< all numbers are finite
};

/// A body on its way.
template <class S>
class AdjustedBody {
 public:
  /// `epsilon` has one number per node. Throws an input error naming `file`.
  AdjustedBody(const typename S::Model& model, std::vector<double> epsilon,
               const AdjustedOptions& options, const std::string& file);

  /// Puts the body to rest in its equilibrium for the places at the end of the step, which it
  /// reaches from where it is in so many parts, and then where contacts let it be; false when there
  /// is none to be found.
  bool start(const AdjustedDrive& drive, int parts = 1);

  /// Moves it on by h seconds.
  AdjustedReport step(const AdjustedDrive& drive, double h);

  /// Finds the equilibrium at the end of `whole`, which the next `steps` steps of h seconds make
  /// up, and half way: there by carrying both ends, where the drive can do that. Those between lie
  /// on the parabola through these and the present one. For bodies that take many steps to a frame,
  /// in which nothing turns far.
  AdjustedReport look_ahead(const AdjustedDrive& whole, double h, int steps);

  /// The body and its equilibrium: the state. Without tracking the equilibrium is not kept up.
  Moving<BodyVector> now, equilibrium;
  /// By how much the last equilibrium that was looked ahead for was not carried to, and the one
  /// before that, m.
  BodyVector carried_error, carried_before;

  /// Where derivatives are of five points: equilibria from the last step but one to the next; the
  /// oldest first. Empty before the first step.
  std::vector<BodyVector> samples;

  /// Multiplies stiffness and damping from now on (both 1 at first), as the system does.
  void set_factors(double stiffness, double damping, bool passing = false);

  /// Factors of inertia per node, from now on.
  void set_epsilon(std::span<const double> epsilon) { m_scaling.set_epsilon(epsilon); }

  /// Equilibria are taken from, or recorded to, `path` from now on.
  void use_path(std::shared_ptr<EquilibriumPath> path);
  size_t path_position() const { return m_at; }
  void set_path_position(size_t at) { m_at = at; }

  /// Where a rigid motion of the held points takes all nodes; false when they do not move so, or
  /// springs pull at the body.
  bool rigid_equilibrium(BodyVector& p) const;

  S& system() { return m_system; }
  const S& system() const { return m_system; }
  const InertiaScaling& scaling() const { return m_scaling; }
  bool tracks() const { return m_options.always_track || m_scaling.acts(); }

  /// Memory it uses, in bytes.
  size_t bytes() const { return m_system.bytes() + m_static.bytes(); }

 private:
  struct Outside;

  void guess_from(const BodyVector& carried, BodyVector& guess);
  void equilibrium_between(double part, BodyVector& p);
  void sample_ahead(const AdjustedDrive& drive, double h, AdjustedReport& report);
  bool find_equilibrium(double h, BodyVector& p, AdjustedReport& report);
  bool settle_contacts(const AdjustedDrive& drive, double h);
  NewtonOptions<typename S::LinearOptions> newton(double step, bool moving,
                                                  bool touches = false) const;

  AdjustedOptions m_options;
  S m_system, m_static;
  ImplicitIntegrator<S> m_integrator;
  NewtonWork<S> m_static_work;
  InertiaScaling m_scaling;
  std::shared_ptr<EquilibriumPath> m_path;
  size_t m_at = 0;  // stages of the path used so far

  double m_size = 0;  // of elements, m

  // Of the steps that were looked ahead for: equilibria at the beginning, half way and at the end.
  BodyVector m_ahead[3];
  int m_ahead_steps = 0, m_ahead_done = 0;

  // Of a step.
  std::vector<Vec3d> m_held, m_pulled;
  Moving<BodyVector> m_middle, m_end;
  StageStart<BodyVector> m_start;
  BodyVector m_outer, m_last_outer;
};

class TetSystem;
class LatticeDynamics;
using AdjustedTets = AdjustedBody<TetSystem>;           ///< of tetrahedra
using AdjustedLattice = AdjustedBody<LatticeDynamics>;  ///< of the cells of a lattice

}  // namespace supple
