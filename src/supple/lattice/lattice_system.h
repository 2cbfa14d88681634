// The equations of an elastic lattice: energy, force, linearisation and solve, with fixed nodes,
// springs and external forces; quasistatic, or one step of backward Euler. What Newton's method in
// solve/ works on.
#pragma once

#include <cmath>
#include <functional>

#include "supple/lattice/multigrid.h"
#include "supple/solve/system.h"

namespace supple {

/// A spring that pulls a material point to a place.
struct TargetSpring {
  PointSpring spring;
  Vec3d target = Vec3d::Zero();  ///< in metres
};

/// Material of a cell.
struct CellMaterial {
  double mu = 1;      ///< Pa
  double lambda = 1;  ///< Pa
};

/// The Lamé moduli of a Young's modulus (Pa) and Poisson's ratio.
CellMaterial lame_moduli(double young, double poisson);

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

  /// Springs, from now on.
  void set_springs(std::vector<TargetSpring> springs);

  /// Moves the place a spring pulls to, in metres.
  void set_spring_target(size_t spring, const Vec3d& target) { m_springs[spring].target = target; }

  /// Forces on nodes that do not depend on positions, in newtons; empty for none.
  void set_external_forces(Positions forces) { m_external = std::move(forces); }

  /// Makes the energy that of a step of backward Euler: adds sum of m |x - predicted|² / (2 dt²).
  /// `masses` in kg, one per node (blocks of 64); empty goes back to equilibrium.
  void set_inertia(std::span<const float> masses, double dt, Positions predicted);

  /// The next step of backward Euler with the same masses and time step.
  void set_predicted(const Positions& predicted) { m_predicted = predicted; }

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
  std::vector<TargetSpring> m_springs;
  Positions m_external, m_predicted;
  std::vector<float> m_masses;  // over dt²
  mutable AlignedArray<double> m_ghosts;
};

}  // namespace supple
