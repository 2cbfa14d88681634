// Turning a scene's dials: runs it as it is, then with what the dials' formulas say, and corrects
// the factors until what is measured is what was asked for.
#pragma once

#include <functional>
#include <optional>

#include "supple/rig/character.h"
#include "supple/sim/adjust_run.h"
#include "supple/sim/session.h"

namespace supple {

/// How far a calibration is.
struct TuneProgress {
  int run = 1, runs = 1;      ///< the run on its way, from 1, and how many there may be at most
  int frame = 0, frames = 1;  ///< of this run, that are done, and all of them
};

/// How dials are turned.
struct TuneOptions {
  double tolerance = 0.01;  ///< of the amplitude, relative
  int passes = 4;           ///< runs that correct the factors, at most

  /// Takes this factor of inertia instead of looking for one: dials are turned by their formulas,
  /// and the scene runs once.
  std::optional<double> inertia;
  std::function<void(const std::string&)> say;          ///< told after every run, if given
  std::function<void(const TuneProgress&)> progressed;  ///< told every frame; may throw to stop
};

/// One run of a calibration.
struct TunePass {
  DialFactors factors;
  DialReading reading;
};

/// What came out.
struct TuneReport {
  DialReading before, after;
  DialFactors factors;  ///< those that were found
  std::vector<TunePass> passes;
  int solved = 0;            ///< runs in which equilibria were solved for
  bool close_enough = true;  ///< all are within the tolerance
  std::vector<std::pair<double, double>> signal_before, signal_after;  ///< of the loudest mode
};

/// Runs the scene's body once, as the `number`th run of a calibration that shares `given` with it,
/// and measures it.
AdjustRun measure(const std::shared_ptr<const Character>& character, const Scene& scene,
                  const Clip* clip, const std::string& file, const TuneOptions& options,
                  AdjustRun given = {}, int number = 1);

/// Finds the factors for the ratios of `scene.body.adjust`, and puts them there. Throws an input
/// error naming `file` when they ask for something that is not possible.
TuneReport tune(const std::shared_ptr<const Character>& character, Scene& scene, const Clip* clip,
                const std::string& file, const TuneOptions& options);

}  // namespace supple
