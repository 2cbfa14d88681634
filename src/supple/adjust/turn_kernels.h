// How the material at many nodes turns, compiled for every instruction set.
#pragma once

#include <cstddef>

namespace supple {

/// Nodes that are looked at together; a multiple of the lanes of any instruction set.
inline constexpr size_t turn_block = 256;

/// For a block of nodes: rows of deformation gradients with their first and second derivatives in
/// time (27 rows of turn_block numbers), from which follow rotations (9 rows), angular velocities
/// and their derivatives (3 rows each, rad/s and rad/s²).
struct TurnBlock {
  double gradients[27][turn_block];
  double rotations[9][turn_block];
  double rates[3][turn_block];
  double changes[3][turn_block];
  double sound[turn_block];  ///< 1 where these are right, 0 where gradients are flat or mirrored
};

/// Finds the turning of the first `count` nodes of a block, as node_turn() does.
void find_turns(TurnBlock& block, size_t count);

}  // namespace supple
