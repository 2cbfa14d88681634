// The lattice's backend of the multigrid cycle, and the linear solvers built on it.
#pragma once

#include "supple/lattice/hierarchy.h"
#include "supple/solve/conjugate_gradient.h"
#include "supple/solve/multigrid_cycle.h"

namespace supple {

/// The cycle's verbs on the levels of a hierarchy.
class LatticeBackend {
 public:
  explicit LatticeBackend(Hierarchy& hierarchy) : m_hierarchy(hierarchy) {}

  size_t levels() const { return m_hierarchy.levels(); }
  double largest_eigenvalue(size_t l) const { return m_hierarchy.level(l).largest_eigenvalue; }
  void start_smoothing(size_t l, const SmootherSteps& s);
  void smooth(size_t l, const SmootherSteps& s);
  void restrict_residual(size_t l);
  void prolong(size_t l);
  void solve_coarsest() { m_hierarchy.solve_coarsest(); }

 private:
  Hierarchy& m_hierarchy;
};

/// How linear systems on a lattice are solved.
enum class LinearMethod {
  multigrid_cg,  ///< conjugate gradients preconditioned with a multigrid cycle
  v_cycle,       ///< V-cycles alone
  jacobi_cg,     ///< conjugate gradients preconditioned with the diagonal
  plain_cg,      ///< conjugate gradients
};

/// Settings of linear solves.
struct LinearOptions {
  LinearMethod method = LinearMethod::multigrid_cg;
  Cycle cycle = {};
  LinearLimits limits = {};
  bool keep_residuals = false;
};

/// Solves A x = b on a linearised hierarchy; owns the vectors it needs besides the levels'.
template <class Scalar>
class LinearSolver {
 public:
  explicit LinearSolver(Hierarchy& hierarchy);

  /// Solves for `x` from 0. `b` is used up: it holds the residual afterwards. Fixed nodes of `b`
  /// must be 0. It may be the `b` of the finest level, which saves a copy per iteration.
  LinearReport solve(BlockVector<Scalar>& b, BlockVector<Scalar>& x, const LinearOptions& options);

  /// Numbers of work vectors held besides the hierarchy's.
  size_t bytes() const { return (m_p.size() + m_q.size()) * sizeof(Scalar); }

 private:
  LinearReport solve_by_cycles(BlockVector<Scalar>& b, BlockVector<Scalar>& x,
                               const LinearOptions& options);
  double precondition(const BlockVector<Scalar>& r, const LinearOptions& options);

  Hierarchy& m_hierarchy;
  LatticeBackend m_backend;
  BlockVector<Scalar> m_p, m_q;
};

}  // namespace supple
