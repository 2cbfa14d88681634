// The equations of an elastic lattice: energy, force, linearisation and solve, with fixed nodes,
// springs and external forces; quasistatic, or one step of backward Euler. What Newton's method in
// solve/ works on.
#pragma once

#include <cmath>
#include <functional>

#include "supple/lattice/gauss_kernels.h"
#include "supple/lattice/multigrid.h"
#include "supple/material/moduli.h"
#include "supple/solve/system.h"

namespace supple {

/// A spring that pulls a material point to a place.
struct TargetSpring {
  PointSpring spring;
  Vec3d target = Vec3d::Zero();  ///< in metres
};

/// A spring that pulls a placed point to a place.
struct ActiveSpring {
  PlacedSpring spring;
  Vec3d target = Vec3d::Zero();  ///< in metres
};

/// An elastic lattice in equilibrium or motion.
class LatticeSystem {
 public:
  using Positions = BlockVector<double>;
  using Step = BlockVector<float>;
  using LinearOptions = supple::LinearOptions;

  /// `spacing` is the side of a cell in metres; node 0 0 0 lies at the origin. `material` is asked
  /// for every cell.
  LatticeSystem(SparseLattice lattice, double spacing,
                const std::function<CellMaterial(const Vec3i&)>& material,
                const std::function<bool(const Vec3i&)>& is_fixed, size_t coarsest_nodes = 200);

  const SparseLattice& lattice() const { return m_hierarchy->finest().lattice(); }
  double spacing() const { return m_hierarchy->finest().spacing(); }
  Hierarchy& hierarchy() { return *m_hierarchy; }

  /// Node positions at rest, in metres.
  Positions rest() const;

  /// Finds the material points that springs may act on, in cells from node 0 0 0; springs that were
  /// set before are gone.
  void place_points(std::span<const Vec3d> points);

  /// Springs at placed points, from now on.
  void set_springs(std::span<const ActiveSpring> springs);

  /// Springs at points of their own, from now on.
  void set_springs(const std::vector<TargetSpring>& springs);

  /// Moves the place a spring pulls to, in metres.
  void set_spring_target(size_t spring, const Vec3d& target) { m_springs[spring].target = target; }

  /// Forces on nodes that do not depend on positions, in newtons; empty for none.
  void set_external_forces(Positions forces) { m_external = std::move(forces); }

  /// Pulls every node to a place: adds the sum of k |x - target|² / 2. `stiffness` in newtons per
  /// metre, one per node (blocks of 64); empty for none. Inertia is a pull too, so there is one of
  /// both.
  void set_pulls(std::span<const float> stiffness, Positions targets);

  /// The places nodes are pulled to, with the same stiffness as before.
  void set_pull_targets(const Positions& targets) { m_predicted = targets; }

  /// Makes the energy that of a step of backward Euler: adds sum of m |x - predicted|² / (2 dt²).
  /// `masses` in kg, one per node (blocks of 64); empty goes back to equilibrium.
  void set_inertia(std::span<const float> masses, double dt, Positions predicted);

  /// The next step of backward Euler with the same masses and time step.
  void set_predicted(const Positions& predicted) { set_pull_targets(predicted); }

  /// Makes the elastic pressure one that keeps the volume at x. Corotated elasticity answers to the
  /// sum of the principal stretches, which stays 3 while flesh that is stretched one way loses
  /// volume. From now on a cell's pressure is that of lambda (tr S - rest), with the rest such that
  /// tr S - rest = J - 1 at x, within bounds; `answer` may make it gentler where cells are far from
  /// their shape, and the bounds wider. Returns the largest change of a rest.
  double keep_volume(const Positions& x, VolumeAnswer answer = VolumeAnswer::plain);

  /// Changes the shape that cells have without stress: with the nodes at rest they then pull as
  /// they would if these were at `moved` (in metres) instead, rotations left out. No cell is longer
  /// or shorter by more than a factor of `most`. Returns the largest entry of a cell's stretch
  /// beyond 1. Not for FasSolver and eight-point quadrature.
  double stretch_rest(const Positions& moved, double most);

  /// The stretches of cells without stress, for keeping and putting back.
  AlignedArray<float>& rest_stretches() { return m_hierarchy->finest().rest_stretches; }

  /// Gives cells that are turned inside out a stiffness against it, in units of 2 mu + lambda,
  /// beside that of corotated elasticity, which is weaker than contacts that press flesh flat. It
  /// begins at cells as thin as `flat`, of their thickness at rest. Not for FasSolver, whose coarse
  /// energies have no such term.
  void resist_inversion(double stiffness, double flat = 0);

  /// Integrates every cell at the eight points of Gauss quadrature instead of the stabilised way,
  /// for comparison: with an element matrix per cell (gauss_cell_bytes), which every linearisation
  /// makes anew. Not for FasSolver, whose coarse energies are the stabilised ones.
  void use_eight_points() { m_hierarchy->use_eight_points(); }

  /// Energy in joules.
  double energy(const Positions& x) const;

  /// force = -dE/dx in newtons, 0 at fixed nodes; returns the energy.
  double force(const Positions& x, Positions& force) const;

  /// Prepares apply() and solve() about x.
  void linearise(const Positions& x, Differential kind) { m_hierarchy->linearise(x, kind); }

  /// y = K dx, 0 at fixed nodes.
  template <class Scalar>
  double apply(const BlockVector<Scalar>& dx, BlockVector<Scalar>& y) const {
    return m_hierarchy->finest().product(dx, y);
  }

  /// Solves K dx = force.
  LinearReport solve(const Positions& force, BlockVector<float>& dx, const LinearOptions& options);

  /// to = x + step dx.
  void move(const Positions& x, double step, const BlockVector<float>& dx, Positions& to) const;

  /// force · dx.
  double slope(const Positions& force, const Step& dx) const { return dot_mixed(force, dx); }

  /// The largest component of a step, in metres.
  double largest(const Step& dx) const;

  /// |force|.
  double norm(const Positions& force) const { return std::sqrt(dot(force, force)); }

  /// Vectors of the right size, all 0.
  Positions zero() const { return Positions(lattice().block_count()); }
  BlockVector<float> zero_step() const { return BlockVector<float>(lattice().block_count()); }

 private:
  double add_springs(const Positions& x, Positions* force) const;
  double add_nodal(const Positions& x, Positions* force) const;

  std::unique_ptr<Hierarchy> m_hierarchy;
  std::unique_ptr<LinearSolver<float>> m_solver;
  std::vector<ActiveSpring> m_springs;
  std::vector<std::array<size_t, 8>> m_point_corners;  // first numbers of the points' corners
  Positions m_external, m_predicted;
  std::vector<float> m_masses;  // stiffness of pulls: masses over dt², and others
  mutable AlignedArray<double> m_ghosts;
};

}  // namespace supple
