// What the runs of a calibration share, and what each tells about its dynamics.
#pragma once

#include <memory>
#include <optional>

#include "supple/adjust/dials.h"
#include "supple/adjust/swing_record.h"
#include "supple/sim/scene.h"

namespace supple {

/// Given to a body through its settings by whoever wants to measure it.
struct AdjustRun {
  std::shared_ptr<EquilibriumPath> path = {};  ///< equilibria to use or to record; null for none

  /// The mode whose swing is measured, or else, and then filled by finish(), that which swings
  /// most.
  std::optional<size_t> mode = {};
  SwingRecord record = {};   ///< filled by the run
  DialBody body = {};        ///< filled: what dials' formulas know of the body
  DialReading reading = {};  ///< filled by finish(): what was measured
};

/// A body whose dynamics can be measured.
class Adjustable {
 public:
  virtual ~Adjustable() = default;

  /// Completes the reading of a run that has ended: frequency and half-life by a pluck, and sag
  /// from equilibria, where the trajectory did not show them.
  virtual void finish(AdjustRun& run) = 0;
};

/// The bodies that have dials, for messages.
inline constexpr const char* adjustable_bodies =
    "bodies of type 'tets' with \"dynamics\": \"implicit\" in body.tets, and of type 'lattice' "
    "with an \"integrator\" other than 'plain' in body.lattice";

/// The ratios of a scene's dials.
DialRatios ratios_of(const AdjustSettings& settings);

/// Whether a scene's dials ask for anything.
bool adjusts(const AdjustSettings& settings);

/// Whether a scene asks for an amplitude whose inertia has yet to be found.
bool needs_tuning(const AdjustSettings& settings);

}  // namespace supple
