// The full approximation scheme [McAdams 2011, Alg. 3]: a nonlinear V-cycle whose coarse levels
// solve for corrections u from an offset of the deformation gradient, F = F_off + G[u]. Smoothing
// is a linearisation followed by a few Chebyshev steps; every correction passes a line search on
// its level's energy, so that cycles only go downhill. (Line 4 there uses F_off of the coarse
// level.)
#pragma once

#include "supple/lattice/lattice_system.h"
#include "supple/solve/newton.h"

namespace supple {

/// Settings of the full approximation scheme.
struct FasOptions {
  double tolerance = 1e-3;  ///< of |force| relative to the one at the start
  int cycles = 50;
  int smoothings = 1;  ///< linearisations before and after each coarse correction
  Smoother smoother = {.steps = 4};
};

/// Solves for equilibrium by nonlinear V-cycles.
class FasSolver {
 public:
  explicit FasSolver(LatticeSystem& system);

  /// Moves x to an equilibrium; `iterations` of the report are cycles.
  NewtonReport solve(LatticeSystem::Positions& x, const FasOptions& options);

 private:
  // One level's unknowns: on the finest, u are the positions and `right` is not used.
  struct State {
    BlockVector<double> u, trial, residual, right;
    AlignedArray<double> ghosts;
    double energy = 0;
  };

  void cycle(size_t l, const FasOptions& options);
  void smooth(size_t l, const FasOptions& options);
  void start_coarse(size_t coarse);
  void solve_coarsest();
  double energy(size_t l, const BlockVector<double>& u);
  void update_residual(size_t l);
  double elastic_gradient(size_t l, const BlockVector<double>& u, BlockVector<double>* gradient);
  bool correct(size_t l, const BlockVector<float>& step);

  LatticeSystem& m_system;
  LatticeBackend m_backend;
  std::vector<State> m_states;
};

}  // namespace supple
