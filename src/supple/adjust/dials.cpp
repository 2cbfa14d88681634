#include "supple/adjust/dials.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>

#include "supple/core/error.h"

namespace supple {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::usage, why); }

void check_ratio(const char* name, double ratio, bool may_be_none) {
  if (std::isfinite(ratio) && (ratio > 0 || (may_be_none && ratio == 0))) return;
  refuse(fmt::format("{}: a ratio of {} is not possible; it must be {}", name, ratio,
                     may_be_none ? "0 or more" : "greater than 0"));
}

// The angular frequency at which steps swing at `frequency` Hz, for a damping.
double omega_for(const DialBody& body, double frequency, double damping) {
  double low = 0, high = 4 * std::numbers::pi * frequency + damping;
  for (int i = 0;
       i < 60 && discrete_oscillator(body.method, high, damping, body.step).frequency < frequency;
       ++i)
    high *= 1.5;
  if (discrete_oscillator(body.method, high, damping, body.step).frequency < frequency)
    return std::numeric_limits<double>::quiet_NaN();
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (discrete_oscillator(body.method, middle, damping, body.step).frequency < frequency ? low
                                                                                        : high) =
        middle;
  }
  return (low + high) / 2;
}

// The damping (1/s) with which steps decay at `decay` (1/s), for an angular frequency; negative
// when steps alone decay faster.
double damping_for(const DialBody& body, double omega, double decay) {
  const auto at = [&](double damping) {
    return discrete_oscillator(body.method, omega, damping, body.step).decay;
  };
  double low = 0, high = 2 * decay;
  if (at(0) > decay * (1 + 1e-9)) return -1;
  for (int i = 0; i < 60 && at(high) < decay && high < 2 * omega; ++i) high *= 1.3;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (at(middle) < decay ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

DialFactors find_factors(const DialRatios& asked, const DialBody& body) {
  check_ratio("frequency", asked.frequency, false);
  check_ratio("amplitude", asked.amplitude, true);
  check_ratio("sag", asked.sag, true);
  check_ratio("half-life", asked.half_life, false);
  if (!(body.omega > 0))
    refuse(
        "frequency: nothing holds the body, so that its lowest frequency is 0; give it a proxy, "
        "bones or fixed nodes");
  if (asked.amplitude != 1 && !(body.amplitude > 0))
    refuse("amplitude: what drives the body does not move, so that there is no swing to scale");
  if (asked.sag != 1 && !(body.sag > 0))
    refuse(
        "sag: the body does not sag, as it has no weight, or is made to keep its shape under it");
  // D of the lowest mode, d_m + d_k ω² [Wang 2020, eq. 6 and 7].
  const double damping = body.mass_damping + body.stiffness_damping * body.omega * body.omega;
  const DiscreteOscillator is = discrete_oscillator(body.method, body.omega, damping, body.step);
  if (!(is.frequency > 0)) refuse("frequency: the body is damped so much that it does not swing");
  double omega = asked.frequency * body.omega, wanted = damping;
  const double decay = is.decay / asked.half_life;
  // Each depends a little on the other.
  for (int round = 0; round < 50; ++round) {
    const double last = omega;
    wanted = damping_for(body, omega, decay);
    if (wanted < 0)
      refuse(fmt::format(
          "half-life: steps of {:.3g} ms alone make a swing of {:.3g} Hz die down faster "
          "(half-life "
          "{:.3g} s) than asked ({:.3g} s); take more substeps{}",
          1000 * body.step, asked.frequency * is.frequency,
          std::numbers::ln2 / discrete_oscillator(body.method, omega, 0, body.step).decay,
          std::numbers::ln2 / decay,
          body.method == Integrator::backward_euler ? ", or the integrator 'tr_bdf2'" : ""));
    omega = omega_for(body, asked.frequency * is.frequency, wanted);
    if (!std::isfinite(omega))
      refuse(
          fmt::format("frequency: {:.3g} Hz cannot be seen in steps of {:.3g} ms, or is damped "
                      "away; take more substeps",
                      asked.frequency * is.frequency, 1000 * body.step));
    if (std::abs(omega - last) < 1e-12 * omega) break;
  }
  const double chi = omega / body.omega;
  DialFactors factors;
  factors.stiffness = chi * chi;                    // eq. 26
  factors.gravity = factors.stiffness * asked.sag;  // eq. 27
  // D as a whole by c: eq. 28, where c = c_k χ².
  if (damping > 0)
    factors.damping = wanted / damping;
  else
    factors.added_damping = wanted / (body.omega * body.omega);
  factors.inertia = chi * asked.amplitude;  // eq. 30
  return factors;
}

double parse_ratio(const std::string& text, const std::string& option) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const std::string rest = end ? end : "";
  if (end == text.c_str() || !std::isfinite(value) || (!rest.empty() && rest != "x" && rest != "%"))
    throw Error(ErrorKind::usage, fmt::format("{}: '{}' is not a ratio such as 0.5x or 50%", option,
                                              printable(text)));
  return rest == "%" ? value / 100 : value;
}

}  // namespace supple
