#include "supple/solve/implicit.h"

#include <Eigen/Eigenvalues>

#include <numbers>

namespace supple {

// A step is linear in (x, v); the acceleration it begins with is that of the equation of motion.
// TR-BDF2 hands on the acceleration of its last stage, which is the same.
DiscreteOscillator discrete_oscillator(Integrator method, double omega, double damping, double h) {
  Eigen::Matrix2d step;
  for (int column = 0; column < 2; ++column) {
    const double x0 = column == 0 ? 1 : 0, v0 = 1 - x0, a0 = -damping * v0 - omega * omega * x0;
    double x1 = 0, v1 = 0;
    for (const StageRule& rule : stages_of(method)) {
      const double rate = rule.steepness / h, carried = rule.carried / rate;
      const double still = rule.begin * x0 + carried * v0 + rule.middle * x1;
      const double steady = rule.begin * v0 + carried * a0 + rule.middle * v1;
      // rate (rate (x - still) - steady) + damping rate (x - still) + ω² x = 0
      const double x = (rate * rate * still + rate * steady + damping * rate * still) /
                       (rate * rate + damping * rate + omega * omega);
      v1 = rate * (x - still);
      x1 = x;
    }
    step(0, column) = x1;
    step(1, column) = v1;
  }
  const std::complex<double> value = step.eigenvalues()[0];
  DiscreteOscillator result;
  result.frequency = std::abs(std::arg(value)) / (2 * std::numbers::pi * h);
  result.decay = -std::log(std::max(std::abs(value), std::abs(step.eigenvalues()[1]))) / h;
  return result;
}

}  // namespace supple
