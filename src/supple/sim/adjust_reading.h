// What a run tells of a body's dynamics once it has ended, whatever the body is made of.
#pragma once

#include "supple/sim/adjust_run.h"
#include "supple/sim/body_dials.h"

namespace supple {

/// How large a body is, and its time step.
struct ReadingScale {
  double length = 0;  ///< m
  double step = 0;    ///< s
};

/// Completes the reading of a run: frequency and half-life by a pluck in the pose of `drive`, and
/// sag from equilibria with and without weight, where the trajectory did not show them. The body is
/// put back afterwards.
template <class S>
void finish_reading(AdjustedBody<S>& body, const AdjustedDrive& drive, const BodyDials& dials,
                    const DialFactors& factors, const ReadingScale& scale, AdjustRun& run);

}  // namespace supple
