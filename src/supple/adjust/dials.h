// The animator's dials [Wang 2020, section 4 and 5.2]: ratios of frequency, amplitude, sag and
// half-life in, factors of stiffness, gravity, damping and inertia out.
#pragma once

#include <string>

#include "supple/solve/implicit.h"

namespace supple {

/// What is asked for, relative to how the body is.
struct DialRatios {
  double frequency = 1;
  double amplitude = 1;
  double sag = 1;
  double half_life = 1;
};

/// What is done about it.
struct DialFactors {
  double stiffness = 1;  ///< of the elements: χ² (masses stay as they are)
  double gravity = 1;    ///< μ
  double damping = 1;    ///< of the damping matrix: c_k χ² of [Wang 2020, eq. 28]
  double inertia = 1;    ///< ε

  /// Damping by the stiffness before it is scaled, in seconds, for bodies that have none to scale.
  double added_damping = 0;
};

/// What the dials' formulas need to know of a body.
struct DialBody {
  double omega = 0;              ///< lowest natural angular frequency, rad/s
  double mass_damping = 0;       ///< Rayleigh's, 1/s
  double stiffness_damping = 0;  ///< Rayleigh's, s
  double sag = 0;                ///< m, 0 when there is none
  double amplitude = 0;          ///< eq. 5, m √s; 0 when the proxy does not move
  Integrator method = Integrator::tr_bdf2;
  double step = 0;  ///< s
};

/// Factors for ratios, by [Wang 2020, eq. 24 to 30] for a body that is pushed shortly. Frequency
/// and half-life are those of the integrator's own steps: numerical damping is taken into account.
/// Throws a usage error that says why when something is not possible.
DialFactors find_factors(const DialRatios& asked, const DialBody& body);

/// "0.5x", "0.5" or "50%" as a ratio; throws a usage error naming `option`.
double parse_ratio(const std::string& text, const std::string& option);

}  // namespace supple
