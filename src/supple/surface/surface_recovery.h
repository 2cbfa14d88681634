// The way back for objects that were turned inside out, flattened, collapsed or scrambled. Matching
// regions alone finds back too, as a rule, but takes long where regions are small beside the
// object, and may rest inside out. So an object in distress is also drawn to its rest shape as a
// whole, until it has found back. A deviation from [Diziol 2011], which leaves it to the regions.
#pragma once

#include <vector>

#include "supple/surface/surface_model.h"

namespace supple {

struct SurfaceState;

/// What tells that an object is in distress.
struct SurfaceDistress {
  size_t inverted = 0;      ///< regions turned inside out or collapsed
  double volume_ratio = 1;  ///< least volume of a kept shell, as a part of what it should be
};

/// Leads objects back; holds nothing that lasts.
class SurfaceRecovery {
 public:
  explicit SurfaceRecovery(const SurfaceModel& model) : m_model(model) {}

  /// Decides for an object whether it is being led back: writes to state.recovering.
  void judge(size_t object, const SurfaceDistress& distress, SurfaceState& state) const;

  /// Draws an object that is being led back a part of the way to its rest shape as a whole, and its
  /// motion to that of a rigid body; held particles (weight 1) stay. Lets go of it when it is
  /// there.
  void lead_back(size_t object, double dt, std::span<const float> held, SurfaceState& state) const;

 private:
  const SurfaceModel& m_model;
};

}  // namespace supple
