// How the material at a node turns: the rotation of its deformation gradient, with its first and
// second derivative in time.
#pragma once

#include "supple/math/types.h"

namespace supple {

/// Turning of the material at a node.
struct NodeTurn {
  Mat3d rotation = Mat3d::Identity();  ///< R
  Vec3d rate = Vec3d::Zero();          ///< ω with Ṙ Rᵀ = [ω]×, rad/s, in the world's axes
  Vec3d change = Vec3d::Zero();        ///< its derivative, rad/s²
};

/// The turning of a deformation gradient F with derivatives dF (1/s) and ddF (1/s²): R of its polar
/// decomposition, and derivatives of that as in [Barbič 2011]. Where F is so flat that its rotation
/// is not smooth, material is taken not to turn.
NodeTurn node_turn(const Mat3d& f, const Mat3d& df, const Mat3d& ddf);

}  // namespace supple
