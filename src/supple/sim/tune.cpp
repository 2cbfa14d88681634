#include "supple/sim/tune.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "supple/core/error.h"

namespace supple {

AdjustRun measure(const std::shared_ptr<const Character>& character, const Scene& scene,
                  const Clip* clip, const std::string& file, const TuneOptions& options,
                  std::shared_ptr<EquilibriumPath> path) {
  Scene measured = scene;
  measured.body.adjust.run = std::make_shared<AdjustRun>();
  measured.body.adjust.run->path = std::move(path);
  Session session(character, measured, clip, file);
  auto* body = dynamic_cast<Adjustable*>(&session.body());
  if (!body)
    throw_input_error(file, "body",
                      "only bodies of type 'tets' with \"dynamics\": \"implicit\" can be tuned");
  FrameRecord record;
  while (!session.done()) {
    if (options.check) options.check();
    session.advance(record);
  }
  AdjustRun& run = *measured.body.adjust.run;
  if (run.path) run.path->complete = true;
  body->finish(run);
  return run;
}

namespace {

// How a scene moves when nobody turns a dial.
Scene untouched(const Scene& scene) {
  Scene plain = scene;
  plain.body.adjust = {};
  return plain;
}

std::string line_of(const char* what, const DialReading& r) {
  return fmt::format("{}: {:.4g} Hz, half-life {:.4g} s, sag {:.4g} m, amplitude {:.4g} m√s", what,
                     r.frequency, r.half_life, r.sag, r.amplitude);
}

// By how much what was asked for is more than what came out; 1 where there is nothing to compare.
DialRatios missing(const DialRatios& asked, const DialReading& before, const DialReading& after) {
  const auto part = [](double ratio, double from, double to) {
    const double p = ratio * from / to;
    return ratio > 0 && from > 0 && to > 0 && std::isfinite(p) ? p : 1;
  };
  return {part(asked.frequency, before.frequency, after.frequency),
          part(asked.amplitude, before.amplitude, after.amplitude),
          part(asked.sag, before.sag, after.sag),
          part(asked.half_life, before.half_life, after.half_life)};
}

// Of frequency, sag and half-life, which nonlinear elasticity couples.
constexpr double others_tolerance = 0.1;

// How far off, in tolerances.
double distance(const DialRatios& m, double tolerance) {
  const auto off = [](double ratio) { return std::abs(std::log(ratio)); };
  return std::max({off(m.amplitude) / tolerance, off(m.frequency) / others_tolerance,
                   off(m.sag) / others_tolerance, off(m.half_life) / others_tolerance});
}

// Corrects factors for what is missing, as linear elasticity answers to them; what is close enough
// stays. `answer` is how amplitudes have grown with inertia so far, by logarithms.
DialFactors corrected(DialFactors factors, const DialRatios& m, double answer, bool all) {
  // Half the way, as each of them answers to the others too.
  const auto needed = [all](double ratio) {
    return all && std::abs(std::log(ratio)) > 0.5 * others_tolerance
               ? std::sqrt(std::clamp(ratio, 0.25, 4.0))
               : 1;
  };
  const double chi = needed(m.frequency);
  factors.stiffness *= chi * chi;
  factors.gravity *= chi * chi * needed(m.sag);
  factors.damping /= needed(m.half_life);
  factors.inertia *= std::pow(std::clamp(m.amplitude, 0.3, 3.0), 1 / answer) * chi;
  return factors;
}

}  // namespace

TuneReport tune(const std::shared_ptr<const Character>& character, Scene& scene, const Clip* clip,
                const std::string& file, const TuneOptions& options) {
  const auto say = [&](const std::string& line) {
    if (options.say) options.say(line);
  };
  TuneReport report;
  AdjustSettings& adjust = scene.body.adjust;
  const DialRatios asked = ratios_of(adjust);
  // Equilibria depend on weight over stiffness alone: where that stays, those of one run serve all
  // others.
  auto path = std::make_shared<EquilibriumPath>();
  double path_weight = 1;
  const AdjustRun base = measure(character, untouched(scene), clip, file, options, path);
  report.before = base.reading;
  report.signal_before = base.record.signal();
  report.solved = 1;
  say(line_of("as it is", base.reading));
  DialBody body = base.body;
  body.amplitude = base.record.moved() ? base.reading.amplitude : 0;
  body.sag = base.reading.sag > 1e-9 * base.reading.amplitude ? base.reading.sag : 0;
  DialFactors factors;
  try {
    factors = find_factors(asked, body);
  } catch (const Error& error) {
    throw_input_error(file, "body.adjust", error.what());
  }
  if (!adjust.regions.empty() || !adjust.keys.empty()) path_weight = -1;
  double closest = std::numeric_limits<double>::infinity(), answer = 1;
  for (int pass = 0; pass < std::max(1, options.passes); ++pass) {
    Scene trial = scene;
    trial.body.adjust.inertia = factors.inertia;
    trial.body.adjust.stiffness = factors.stiffness;
    trial.body.adjust.weight = factors.gravity;
    trial.body.adjust.damping_factor = factors.damping;
    const double weight = factors.gravity / factors.stiffness;
    if (std::abs(weight - path_weight) > 1e-12) {
      path = std::make_shared<EquilibriumPath>();
      path_weight = weight;
      ++report.solved;
    }
    const AdjustRun run = measure(character, trial, clip, file, options, path);
    say(line_of(fmt::format("inertia {:.4g}", factors.inertia).c_str(), run.reading));
    const DialRatios off = missing(asked, base.reading, run.reading);
    if (!report.passes.empty()) {
      const TunePass& last = report.passes.back();
      const double more = std::log(factors.inertia / last.factors.inertia);
      const double grown = std::log(run.reading.amplitude / last.reading.amplitude);
      if (std::abs(more) > 1e-3 && std::isfinite(grown))
        answer = std::clamp(grown / more, 0.4, 2.5);
    }
    report.passes.push_back({factors, run.reading});
    if (const double far = distance(off, options.tolerance); far < closest) {
      closest = far;
      report.factors = factors;
      report.after = run.reading;
      report.signal_after = run.record.signal();
    }
    if (closest <= 1) break;
    // The last passes are the amplitude's.
    factors = corrected(factors, off, answer, pass == 0);
  }
  report.close_enough = closest <= 1;
  adjust.inertia = report.factors.inertia;
  adjust.stiffness = report.factors.stiffness;
  adjust.weight = report.factors.gravity;
  adjust.damping_factor = report.factors.damping;
  return report;
}

}  // namespace supple
