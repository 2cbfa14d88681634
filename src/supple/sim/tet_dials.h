// The dials of a body of tetrahedra.
#pragma once

#include "supple/sim/body_dials.h"
#include "supple/sim/tet_model.h"
#include "supple/tets/tet_system.h"

namespace supple {

/// Dials of one body.
class TetDials : public BodyDials {
 public:
  /// For a body that is `base` without them, in steps of h seconds. Throws an input error naming
  /// `file` for what is not possible.
  TetDials(const BodySettings& settings, const TetModel& model, const TetSystemModel& base,
           double h, bool sags, const std::string& file);

  /// The model with what differs over the body.
  TetSystemModel adjusted(TetSystemModel base) const;
};

}  // namespace supple
