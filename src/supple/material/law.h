// Constitutive laws by name, and the numbers they take.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "supple/material/moduli.h"

namespace supple {

/// Constitutive laws of tetrahedra.
enum class Law {
  stvk,             ///< St. Venant-Kirchhoff; collapses when squashed
  invertible_stvk,  ///< the same within limits of stretch, linear beyond them [Kim 2011, §3.3]
  stvk_volume,      ///< St. Venant-Kirchhoff and a term that keeps the volume
  neo_hookean,      ///< stable neo-Hookean [Smith 2018]
  corotated,        ///< linear in the stretch, turned along
  linear,           ///< small displacements only: swells when turned
};

/// Names of the laws, as scenes have them.
inline constexpr std::array<std::string_view, 6> law_names = {
    "stvk", "invertible-stvk", "stvk-volume", "neo-hookean", "corotated", "linear"};

/// Numbers of a law, and of one element's material.
template <class T>
struct Elastic {
  T mu, lambda;    ///< Lamé's, Pa
  T lower, upper;  ///< stretches between which invertible StVK is StVK
  T volume;        ///< stiffness of the volume term over the bulk modulus
};

/// What a law takes beside the moduli.
struct LawLimits {
  double lower = 0.7;  ///< stretch below which invertible StVK is linear
  double upper = 1.4;  ///< stretch above which it is
  double volume = 2;   ///< stiffness of the volume term over the bulk modulus
};

/// The least lower limit at which invertible StVK keeps its energy convex in the stretches beyond
/// the limits. There its stiffness along an axis is (λ + 2μ)(3 δ² - 1)/2, and λ δᵢ δⱼ between two:
/// convex where (3 - 1/δ²)/2 > ν/(1 - ν). Below, a flat element would stretch without end.
inline double least_lower_limit(double poisson) {
  const double ratio = std::max(poisson, 0.0) / (1 - std::max(poisson, 0.0));
  return std::sqrt(1 / (3 - 2 * (ratio + 0.1 * (1 - ratio))));
}

}  // namespace supple
