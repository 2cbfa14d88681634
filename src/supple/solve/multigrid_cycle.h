// The V-cycle [McAdams 2011, Alg. 2], written once over a small set of verbs of a backend's levels.
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
  backend.start_smoothing(level, s);  // x = direction = weight D⁻¹ b
  backend.smooth(level, s);  // direction = momentum direction + weight D⁻¹ (b - A x), ...
  backend.restrict_residual(level);  // b of level + 1 = Pᵀ (b - A x)
  backend.prolong(level);            // x += P x of level + 1
  backend.solve_coarsest();          // x = A⁻¹ b
};

/// x = V-cycle applied to b from x = 0, on level `l` and all coarser ones.
template <MultigridBackend B>
void v_cycle(B& backend, const Smoother& smoother, size_t l = 0) {
  if (l + 1 == backend.levels()) return backend.solve_coarsest();

  SmootherSteps before(smoother, backend.largest_eigenvalue(l));
  backend.start_smoothing(l, before);
  for (int i = 1; i < smoother.steps; ++i) {
    before.advance();
    backend.smooth(l, before);
  }

  backend.restrict_residual(l);
  v_cycle(backend, smoother, l + 1);
  backend.prolong(l);

  SmootherSteps after(smoother, backend.largest_eigenvalue(l));
  for (int i = 0; i < smoother.steps; ++i, after.advance()) backend.smooth(l, after);
}

}  // namespace supple
