// Pieces of a lattice that nothing holds, whose stiffness is singular.
#pragma once

#include <vector>

#include "supple/lattice/level.h"

namespace supple {

/// Which nodes of a level belong to pieces that nothing holds, 64 per block.
std::vector<bool> floating_nodes(const Level& level);

}  // namespace supple
