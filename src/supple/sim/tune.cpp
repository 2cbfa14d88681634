#include "supple/sim/tune.h"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <limits>

#include "supple/core/error.h"

namespace supple {
namespace {

int passes_of(const TuneOptions& options) {
  return options.inertia ? 1 : std::max(1, options.passes);
}

}  // namespace

AdjustRun measure(const std::shared_ptr<const Character>& character, const Scene& scene,
                  const Clip* clip, const std::string& file, const TuneOptions& options,
                  AdjustRun given, int number) {
  Scene measured = scene;
  measured.body.adjust.run = std::make_shared<AdjustRun>(std::move(given));
  Session session(character, measured, clip, file);
  auto* body = dynamic_cast<Adjustable*>(&session.body());
  if (!body)
    throw_input_error(file, "body",
                      std::string("cannot be tuned: dials are for ") + adjustable_bodies);
  FrameRecord record;
  TuneProgress progress{number, 1 + passes_of(options), 0, session.range().count()};
  while (!session.done()) {
    session.advance(record);
    ++progress.frame;
    if (options.progressed) options.progressed(progress);
  }
  AdjustRun& run = *measured.body.adjust.run;
  if (run.path) run.path->complete = true;
  body->finish(run);
  // What weight does not pull down has no sag, though errors leave a little of it.
  if (!(run.body.sag > 0)) run.reading.sag = 0;
  return run;
}

namespace {

// How a scene moves when nobody turns a dial.
Scene untouched(const Scene& scene) {
  Scene plain = scene;
  plain.body.adjust = {};
  return plain;
}

std::string line_of(const std::string& what, const DialReading& r) {
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
constexpr double others_tolerance = 0.08;

// How far off, in tolerances.
double distance(const DialRatios& m, double tolerance) {
  const auto off = [](double ratio) { return std::abs(std::log(ratio)); };
  return std::max({off(m.amplitude) / tolerance, off(m.frequency) / others_tolerance,
                   off(m.sag) / others_tolerance, off(m.half_life) / others_tolerance});
}

// Finds factors by what runs have shown: a secant method for all of them together [Broyden 1965],
// by logarithms. It begins with how linear bodies answer, whose swing goes on for long after a
// push.
class Calibration {
 public:
  explicit Calibration(const DialFactors& factors) : m_at(logs(factors)) {
    m_answer.setZero();
    m_answer(frequency, stiffness) = 0.5;
    m_answer(amplitude, stiffness) = -0.5;
    m_answer(amplitude, damping) = -0.5;
    m_answer(amplitude, inertia) = 1;
    m_answer(half_life, damping) = -1;
    m_answer(sag, heaviness) = 1;
  }

  // The next factors after a run that left so much to be done. Sag that is about right stays as it
  // is, as do the equilibria then.
  DialFactors next(const DialRatios& missing) {
    Vector left(std::log(missing.frequency), std::log(missing.amplitude),
                std::log(missing.half_life), std::log(missing.sag));
    if (m_runs++ > 0 && m_step.squaredNorm() > 0)
      m_answer += (m_left - left - m_answer * m_step) * m_step.transpose() / m_step.squaredNorm();
    m_left = left;
    Matrix answer = m_answer;
    if (std::abs(left[sag]) < 0.5 * others_tolerance) {
      answer.row(sag).setZero();
      answer.col(heaviness).setZero();
      answer(sag, heaviness) = 1;
      left[sag] = 0;
    }
    const Eigen::FullPivLU<Matrix> solver(answer);
    m_step = solver.isInvertible() ? Vector(solver.solve(left)) : Vector(Vector::Zero());
    if (!m_step.allFinite()) m_step.setZero();
    constexpr double farthest = 1.1;  // factors of about 3
    const double size = m_step.cwiseAbs().maxCoeff();
    if (size > farthest) m_step *= farthest / size;
    m_at += m_step;
    DialFactors factors;
    factors.stiffness = std::exp(m_at[stiffness]);
    factors.damping = std::exp(m_at[damping]);
    factors.inertia = std::exp(m_at[inertia]);
    factors.gravity = factors.stiffness * std::exp(m_at[heaviness]);
    return factors;
  }

 private:
  using Vector = Eigen::Vector4d;
  using Matrix = Eigen::Matrix4d;
  enum Reading { frequency, amplitude, half_life, sag };
  enum Factor { stiffness, damping, inertia, heaviness };  // the last: weight over stiffness

  static Vector logs(const DialFactors& f) {
    return {std::log(f.stiffness), std::log(f.damping), std::log(f.inertia),
            std::log(f.gravity / f.stiffness)};
  }

  Vector m_at, m_step = Vector::Zero(), m_left = Vector::Zero();
  Matrix m_answer;  // derivatives of readings by factors
  int m_runs = 0;
};

void set_factors(const DialFactors& factors, AdjustSettings& adjust) {
  adjust.inertia = factors.inertia;
  adjust.stiffness = factors.stiffness;
  adjust.weight = factors.gravity;
  adjust.damping_factor = factors.damping;
}

// The factors that the dials' formulas give for a body that has run as it is.
DialFactors first_factors(const DialRatios& asked, const AdjustRun& base,
                          const TuneOptions& options, const std::string& file) {
  DialBody body = base.body;
  body.amplitude = base.record.moved() ? base.reading.amplitude : 0;
  body.sag = base.reading.sag > 1e-9 * base.reading.amplitude ? base.reading.sag : 0;
  try {
    DialFactors factors = find_factors(asked, body);
    if (options.inertia) factors.inertia = *options.inertia;
    return factors;
  } catch (const Error& error) {
    throw_input_error(file, "body.adjust", error.what());
  }
}

std::string described(int pass, const TuneOptions& options, const DialFactors& factors) {
  return fmt::format("pass {} of at most {}, stiffness {:.4g}, damping {:.4g}, inertia {:.4g}",
                     pass, passes_of(options), factors.stiffness, factors.damping, factors.inertia);
}

}  // namespace

TuneReport tune(const std::shared_ptr<const Character>& character, Scene& scene, const Clip* clip,
                const std::string& file, const TuneOptions& options) {
  const auto say = [&](const std::string& what, const DialReading& reading) {
    if (options.say) options.say(line_of(what, reading));
  };
  TuneReport report;
  AdjustSettings& adjust = scene.body.adjust;
  const DialRatios asked = ratios_of(adjust);
  // Equilibria depend on weight over stiffness alone: where that stays, those of one run serve all
  // others.
  auto path = std::make_shared<EquilibriumPath>();
  double path_weight = adjust.regions.empty() && adjust.keys.empty() ? 1 : -1;
  const AdjustRun base = measure(character, untouched(scene), clip, file, options, {.path = path});
  report.before = base.reading;
  report.signal_before = base.record.signal(base.mode);
  report.solved = 1;
  say("as it is", base.reading);
  if (!adjusts(adjust) && !options.inertia) {
    report.after = report.before;
    report.signal_after = report.signal_before;
    return report;
  }
  DialFactors factors = first_factors(asked, base, options, file);
  double closest = std::numeric_limits<double>::infinity();
  Calibration calibration(factors);
  for (int pass = 1; pass <= passes_of(options); ++pass) {
    Scene trial = scene;
    set_factors(factors, trial.body.adjust);
    const double weight = factors.gravity / factors.stiffness;
    if (std::abs(weight - path_weight) > 1e-12) {
      path = std::make_shared<EquilibriumPath>();
      path_weight = weight;
      ++report.solved;
    }
    const AdjustRun run =
        measure(character, trial, clip, file, options, {.path = path, .mode = base.mode}, pass + 1);
    say(described(pass, options, factors), run.reading);
    const DialRatios off = missing(asked, base.reading, run.reading);
    report.passes.push_back({factors, run.reading});
    if (const double far = distance(off, options.tolerance); far < closest) {
      closest = far;
      report.factors = factors;
      report.after = run.reading;
      report.signal_after = run.record.signal(base.mode);
    }
    if (closest <= 1) break;
    factors = calibration.next(off);
  }
  report.close_enough = options.inertia || closest <= 1;
  set_factors(report.factors, adjust);
  return report;
}

}  // namespace supple
