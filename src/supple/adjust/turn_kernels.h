// How the material at many nodes turns, compiled for every instruction set.
#pragma once

#include <cstddef>

namespace supple {

/// Nodes that are looked at together; a multiple of the lanes of any instruction set.
inline constexpr size_t turn_block = 256;

/// Room for a row of a block. Rows a power of two apart would push each other out of the cache.
inline constexpr size_t turn_row = turn_block + 8;

/// Deformation gradients of a block of nodes with their first and second derivatives in time, as
/// rows of numbers, nine each.
struct GradientBlock {
  double rows[27][turn_row];
  double sound[turn_row];  ///< 1 where turns follow, 0 where gradients are flat or mirrored
};

/// How the frames of a block of nodes turn, as rows of numbers, and what they are scaled by.
struct FrameBlock {
  double rates[3][turn_row], changes[3][turn_row];  ///< rad/s, rad/s²
  double force[turn_row];    ///< what accelerations are multiplied by to get forces, kg
  double damping[turn_row];  ///< part of the frame's motion that damping leaves out
  double masses[turn_row];   ///< kg
};

/// Finds the turning of the first `count` nodes of a block, as node_turn() does.
void find_turns(GradientBlock& gradients, FrameBlock& frames, size_t count);

/// What is known of the nodes in a stage, three numbers for each.
struct StageNodes {
  const double* p = nullptr;  ///< equilibria, with their velocities and accelerations
  const double* v = nullptr;
  const double* a = nullptr;
  const double* x = nullptr;       ///< positions, m
  const double* still = nullptr;   ///< velocities are rate (x - still), m
  double rate = 0;                 ///< 1/s
  const double* outer = nullptr;   ///< forces without scaling, N
  const double* before = nullptr;  ///< forces as they were, N
  double counts = 0;               ///< m/s²: what changes of accelerations count
  double* forces = nullptr;        ///< N
  double* reference = nullptr;     ///< velocity that damping is relative to, m/s
};

/// Sets forces and references of nodes `first` on, which are the first `count` of a block; says
/// whether any force counts as changed.
bool scale_forces(const FrameBlock& frames, size_t first, size_t count, const StageNodes& nodes);

}  // namespace supple
