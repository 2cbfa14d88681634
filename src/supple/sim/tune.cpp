#include "supple/sim/tune.h"

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

}  // namespace

TuneReport tune(const std::shared_ptr<const Character>& character, Scene& scene, const Clip* clip,
                const std::string& file, const TuneOptions& options) {
  const auto say = [&](const std::string& line) {
    if (options.say) options.say(line);
  };
  TuneReport report;
  const DialRatios asked = ratios_of(scene.body.adjust);
  // Equilibria depend on weight over stiffness alone: where sag stays, those of the first run serve
  // all others.
  auto path = std::make_shared<EquilibriumPath>();
  const AdjustRun base = measure(character, untouched(scene), clip, file, options, path);
  report.before = base.reading;
  report.signal_before = base.record.signal();
  report.solved = 1;
  say(line_of("as it is", base.reading));
  DialBody body = base.body;
  body.amplitude = base.reading.amplitude;
  body.sag = base.reading.sag > 1e-9 * base.reading.amplitude ? base.reading.sag : 0;
  try {
    report.factors = find_factors(asked, body);
  } catch (const Error& error) {
    throw_input_error(file, "body.adjust", error.what());
  }
  const bool same =
      asked.sag == 1 && scene.body.adjust.regions.empty() && scene.body.adjust.keys.empty();
  if (!same) path = std::make_shared<EquilibriumPath>();
  const double wanted = asked.amplitude * base.reading.amplitude;
  AdjustRun best;
  double closest = -1;
  const auto amplitude_at = [&](double inertia) {
    Scene trial = scene;
    trial.body.adjust.inertia = inertia;
    if (!path->complete) ++report.solved;
    const AdjustRun run = measure(character, trial, clip, file, options, path);
    say(line_of(fmt::format("inertia {:.4g}", inertia).c_str(), run.reading));
    const double off = std::abs(run.reading.amplitude - wanted);
    if (closest < 0 || off < closest) {
      closest = off;
      best = run;
    }
    return run.reading.amplitude;
  };
  const int passes = wanted > 0 ? options.passes : 1;
  report.passes =
      calibrate(report.factors.inertia, wanted, options.tolerance, passes, amplitude_at);
  report.factors.inertia = best_pass(report.passes, wanted).inertia;
  report.after = best.reading;
  report.signal_after = best.record.signal();
  report.close_enough = closest <= options.tolerance * wanted + 1e-12;
  scene.body.adjust.inertia = report.factors.inertia;
  return report;
}

}  // namespace supple
