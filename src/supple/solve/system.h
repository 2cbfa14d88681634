// What Newton's method and time integrators ask of a discretised body.
#pragma once

#include <concepts>

#include "supple/material/differential.h"
#include "supple/solve/conjugate_gradient.h"

namespace supple {

/// A system of nonlinear equations with an energy: positions x, steps dx, forces -dE/dx.
template <class S>
concept System = requires(S system, typename S::Positions& x, typename S::Step& dx,
                          const typename S::LinearOptions& options, Differential kind,
                          double scale) {
  { system.zero() } -> std::same_as<typename S::Positions>;
  { system.zero_step() } -> std::same_as<typename S::Step>;
  { system.energy(x) } -> std::convertible_to<double>;    // joules
  { system.force(x, x) } -> std::convertible_to<double>;  // newtons; returns the energy
  system.linearise(x, kind);
  { system.solve(x, dx, options) } -> std::same_as<LinearReport>;
  { system.slope(x, dx) } -> std::convertible_to<double>;  // force · step
  { system.norm(x) } -> std::convertible_to<double>;
  { system.largest(dx) } -> std::convertible_to<double>;  // of all components, in metres
  system.move(x, scale, dx, x);
};

}  // namespace supple
