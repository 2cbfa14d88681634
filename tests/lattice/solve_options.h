// Settings of solvers in one line, for tests.
#pragma once

#include "supple/lattice/multigrid.h"
#include "supple/solve/newton.h"

namespace supple::testing {

/// Settings of Newton's method that differ from the defaults.
inline NewtonOptions<LinearOptions> newton_options(double tolerance, int iterations = 50,
                                                   double least_force = 0) {
  NewtonOptions<LinearOptions> options;
  options.tolerance = tolerance;
  options.iterations = iterations;
  options.least_force = least_force;
  return options;
}

/// Settings of a linear solve.
inline LinearOptions linear_options(LinearMethod method, double tolerance, int iterations) {
  LinearOptions options;
  options.method = method;
  options.limits = {tolerance, iterations};
  return options;
}

}  // namespace supple::testing
