// Eight-point Gauss quadrature on the finest level of a lattice, for comparison: energy, force and
// linearisation, in which every cell has an element matrix of its own among the level's extra cells
// and no part in the level's other elasticity. All loops give the same bits for any number of
// threads. Coarse levels have the stabilised element as always: they only precondition.
#pragma once

#include "supple/lattice/gauss_kernels.h"
#include "supple/lattice/level.h"

namespace supple {

/// Bytes that a cell takes for its element matrix.
inline constexpr size_t gauss_cell_bytes = sizeof(MatrixCell);

/// Gives every cell of a level a matrix, all 0, and makes the level one of eight-point quadrature.
void use_eight_points(Level& level);

/// Elastic energy at node positions x (in metres), in joules.
double gauss_energy(const Level& level, const BlockVector<double>& x);

/// Sets the elastic force in newtons, 0 at fixed nodes; returns the energy.
double gauss_force(const Level& level, const BlockVector<double>& x, BlockVector<double>& force);

/// Sets the matrices of all cells about x.
void linearise_gauss(Level& level, const BlockVector<double>& x, Differential kind);

/// Makes the pressure at every point answer to the volume at x; returns the largest change of a
/// rest.
double keep_gauss_volume(Level& level, const BlockVector<double>& x, VolumeAnswer answer);

}  // namespace supple
