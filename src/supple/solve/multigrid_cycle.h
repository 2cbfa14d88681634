// The multigrid cycle, written once over a small set of verbs of a backend's levels: the V-cycle of
// [McAdams 2011, Alg. 2], whose first coarse levels may be corrected twice.
#pragma once

#include <concepts>
#include <cstddef>

#include "supple/solve/smoother.h"

namespace supple {

/// What the cycle asks of a backend; level 0 is the finest. x and b are vectors of each level.
template <class B>
concept MultigridBackend = requires(B backend, size_t level, const SmootherSteps& s) {
  { backend.levels() } -> std::convertible_to<size_t>;
  { backend.largest_eigenvalue(level) } -> std::convertible_to<double>;
  backend.start_smoothing(level, s);  // the first step from x = 0: x = weight D⁻¹ b
  backend.smooth(level, s);           // any other: direction = ..., x += direction
  backend.restrict_residual(level);   // b of level + 1 = Pᵀ (b - A x)
  backend.prolong(level);             // x += P x of level + 1
  backend.solve_coarsest();           // x = A⁻¹ b
};

/// How a cycle goes through the levels.
struct Cycle {
  Smoother smoother = {};
  /// So many coarse levels, from the first on, are corrected twice; 0 makes it a V-cycle. Coarse
  /// levels cost little, and what they leave undone would add up from level to level. Solvers take
  /// fewer where that gains nothing.
  size_t twice = 2;
};

/// x = one cycle applied to b from x = 0, on level `l` and all coarser ones. Smoothing S and coarse
/// corrections C follow each other as S C S, or as S C S C S: the same backwards as forwards, so
/// that the cycle is symmetric.
template <MultigridBackend B>
void multigrid_cycle(B& backend, const Cycle& cycle, size_t l = 0) {
  if (l + 1 == backend.levels()) return backend.solve_coarsest();

  const double largest = backend.largest_eigenvalue(l);
  const Smoother smoother = cycle.smoother.fitted(largest);
  SmootherSteps before(smoother, largest, SmootherSteps::Start::zero);
  backend.start_smoothing(l, before);
  for (int i = 1; i < smoother.steps; ++i) {
    before.advance();
    backend.smooth(l, before);
  }

  const int corrections = l > 0 && l <= cycle.twice ? 2 : 1;
  for (int c = 0; c < corrections; ++c) {
    backend.restrict_residual(l);
    multigrid_cycle(backend, cycle, l + 1);
    backend.prolong(l);

    SmootherSteps after(smoother, largest, SmootherSteps::Start::anywhere);
    for (int i = 0; i < smoother.steps; ++i, after.advance()) backend.smooth(l, after);
  }
}

}  // namespace supple
