// The inverse static solve: given the shape a body is to have under its weight, what cells must be
// without stress, so that this shape is an equilibrium.
//
// With the nodes where they are to be, a cell pulls by the gradient F A, where F is that of the
// nodes (1 in the shape that was modelled) and A the stretch of the cell in that shape. Rotations
// on the right of F A are of no account to an isotropic material, so that A is symmetric, six
// numbers per cell. In rounds, K dx = f says how nodes would move under the forces f that are
// left; instead the cells are stretched as that motion would have stretched them, which leaves the
// nodes where they are and balances f to first order.
//
// Cells are stretched as a whole, so that what bends within a cell (its hourglass modes) is not
// reached: in a bar of four cells across, held at one end, a fiftieth of the sag.
//
// Supports are springs that pull nodes to places (bones, the rig): their part of f, k dx, stays
// with them as a force they are loaded with, `support`. What is left when the rounds end goes there
// too, so that forces balance exactly, whatever was found.
#pragma once

#include "supple/lattice/lattice_system.h"

namespace supple {

/// How long to look for a rest shape, and within which bounds.
struct RestShapeOptions {
  int rounds = 20;
  double tolerance = 1e-3;   ///< of what the forces left would do, relative to the weight
  double most = 1.6;         ///< largest stretch of a cell, and the inverse of the least
  bool keep_volume = false;  ///< cells' pressure is that of LatticeSystem::keep_volume
  VolumeAnswer answer = VolumeAnswer::plain;  ///< then, as there
};

/// How it went.
struct RestShapeReport {
  int rounds = 0;
  double left = 0;     ///< what the forces left would move in the end, relative to the weight
  double stretch = 0;  ///< the largest entry of A - 1
};

/// Finds the stretches at rest with which a system whose nodes are at `x`, where its pulls want
/// them, balances `weight` (in newtons). `pulls` is the stiffness of the system's pulls (newtons
/// per metre, one per node in blocks of 64). Sets `support`, the forces at nodes (in newtons) that
/// are to act besides weight and stresses for balance at `x`.
RestShapeReport find_rest_shape(LatticeSystem& system, const LatticeSystem::Positions& x,
                                const LatticeSystem::Positions& weight,
                                std::span<const float> pulls, const RestShapeOptions& options,
                                LatticeSystem::Positions& support);

}  // namespace supple
