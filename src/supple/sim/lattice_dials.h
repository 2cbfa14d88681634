// The dials of a body of lattice cells.
#pragma once

#include "supple/lattice/lattice_dynamics.h"
#include "supple/sim/body_dials.h"

namespace supple {

/// Dials of one body.
class LatticeDials : public BodyDials {
 public:
  /// For a body that is `base` without them, in steps of h seconds. Throws an input error naming
  /// `file` for what is not possible.
  LatticeDials(const BodySettings& settings, const FleshModel& model,
               const LatticeDynamicsModel& base, double h, bool sags, const std::string& file);

  /// The model with what differs over the body.
  LatticeDynamicsModel adjusted(LatticeDynamicsModel base) const;

 private:
  double m_elastic_share = 1;  // of the lowest mode's energy
};

/// The method of steps whose dynamics can be adjusted.
StepMethod step_method(LatticeSteps steps);

}  // namespace supple
