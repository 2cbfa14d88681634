#include "supple/sim/adjust_reading.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "supple/lattice/lattice_dynamics.h"
#include "supple/tets/tet_system.h"

namespace supple {
namespace {

// A pluck is as far as this part of the body's length, and lasts for so many half-lives, but for no
// fewer and no more periods than these.
constexpr double pluck_height = 0.02, pluck_half_lives = 4, fewest_periods = 4, most_periods = 8;

// What steps make of the lowest mode.
DiscreteOscillator expected(const DialBody& body, const DialFactors& factors, double step) {
  const double damping = body.mass_damping + body.stiffness_damping * body.omega * body.omega;
  return discrete_oscillator(body.method, body.omega * std::sqrt(factors.stiffness),
                             factors.damping * damping, step);
}

}  // namespace

template <class S>
void finish_reading(AdjustedBody<S>& body, const AdjustedDrive& drive, const BodyDials& dials,
                    const DialFactors& factors, const ReadingScale& scale, AdjustRun& run) {
  if (!run.mode) run.mode = run.record.loudest();
  run.reading = run.record.read(*run.mode);
  body.use_path(nullptr);
  const Moving<BodyVector> now = body.now, equilibrium = body.equilibrium;
  if (!(run.reading.sag > 0)) {
    AdjustedDrive weightless = drive;
    weightless.forces.setZero();
    body.start(drive);
    const BodyVector with = body.equilibrium.position;
    body.start(weightless);
    run.reading.sag =
        std::sqrt(mean_square(body.system().masses(), with, body.equilibrium.position));
  }
  body.now = now;
  body.equilibrium = equilibrium;
  if (run.reading.frequency > 0) return;
  run.reading.from_trajectory = false;
  const DiscreteOscillator said = expected(dials.body(), factors, scale.step);
  if (!(said.frequency > 0)) return;
  body.start(drive);
  const double half_life = std::numbers::ln2 / std::max(said.decay, 1e-3);
  const double lasts = std::clamp(pluck_half_lives * half_life, fewest_periods / said.frequency,
                                  most_periods / said.frequency);
  const Swing swing =
      pluck(body, drive, dials.modes(), pluck_height * scale.length, scale.step, lasts);
  run.reading.frequency = swing.frequency;
  run.reading.half_life = swing.half_life;
  body.now = now;
  body.equilibrium = equilibrium;
}

template void finish_reading(AdjustedTets&, const AdjustedDrive&, const BodyDials&,
                             const DialFactors&, const ReadingScale&, AdjustRun&);
template void finish_reading(AdjustedLattice&, const AdjustedDrive&, const BodyDials&,
                             const DialFactors&, const ReadingScale&, AdjustRun&);

}  // namespace supple
