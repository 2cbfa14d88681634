// Turning a scene's dials: runs it as it is, then with what the dials' formulas say, and corrects
// the factors until what is measured is what was asked for.
#pragma once

#include <functional>

#include "supple/rig/character.h"
#include "supple/sim/adjust_run.h"
#include "supple/sim/session.h"

namespace supple {

/// How dials are turned.
struct TuneOptions {
  double tolerance = 0.01;                      ///< of the amplitude, relative
  int passes = 4;                               ///< runs that correct the factors, at most
  std::function<void(const std::string&)> say;  ///< told after every run, if given
  std::function<void()> check;                  ///< asked in every frame; may throw to stop
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

/// Runs the scene's body once, and measures it.
AdjustRun measure(const std::shared_ptr<const Character>& character, const Scene& scene,
                  const Clip* clip, const std::string& file, const TuneOptions& options,
                  std::shared_ptr<EquilibriumPath> path = {});

/// Finds the factors for the ratios of `scene.body.adjust`, and puts them there. Throws an input
/// error naming `file` when they ask for something that is not possible.
TuneReport tune(const std::shared_ptr<const Character>& character, Scene& scene, const Clip* clip,
                const std::string& file, const TuneOptions& options);

}  // namespace supple
