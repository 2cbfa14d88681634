// The cell loops of corotated elasticity on a lattice, compiled for every instruction set. All work
// on one tile, or a part of it; tiles may run at the same time.
#pragma once

#include "supple/lattice/sweep_plan.h"
#include "supple/material/differential.h"

namespace supple {

/// sums = K x of a tile's cells, from their linearisations. `hourglass` is 1 for the stabilised
/// element, 0 for plain one-point quadrature.
void apply_tile(const SweepPlan& plan, size_t tile, const float* cells, float hourglass,
                const float* x, SweepOutput<float> out);
/// The same on vectors of doubles.
void apply_tile(const SweepPlan& plan, size_t tile, const float* cells, float hourglass,
                const double* x, SweepOutput<double> out);

/// sums = the diagonal of K of a tile's cells.
void diagonal_tile(const SweepPlan& plan, size_t tile, const float* cells, float hourglass,
                   SweepOutput<float> out);

/// What force_tile needs besides positions.
struct ForceInput {
  const float* materials = nullptr;  ///< mu h / 8 of 64 cells, then lambda h / 16, per slot
  const float* cells = nullptr;      ///< linearisations with the materials instead; null for none
  const float* offsets = nullptr;  ///< added to the deformation gradients, per slot; null for none
  double spacing = 1;              ///< side of a cell, in metres
  double hourglass = 1;
  double inversion = 0;                   ///< stiffness of cells inside out against it, as in Level
  double flat = 0;                        ///< where that begins, as in Level
  const float* rest_traces = nullptr;     ///< of cells without pressure, 64 per slot; null for 3
  const float* rest_stretches = nullptr;  ///< as in Level; null for none
};

/// sums = the gradient of a tile's elastic energy in the node positions `x` (in metres); returns
/// the energy in joules. Null sums leave the gradient out.
double force_tile(const SweepPlan& plan, size_t tile, const ForceInput& input, const double* x,
                  SweepOutput<double> out);

/// The deformation gradients of the cells of a row of a tile, from node positions: gradient_block
/// numbers for each of its blocks that have cells, one after the other. They are multiplied with
/// `rest_stretches`, as in Level, on the right; null for none.
void gradient_row(const SweepPlan& plan, const TileRow* row, double spacing, const double* x,
                  const float* rest_stretches, float* gradients);

/// Linearises the cells of one block about given deformation gradients (gradient_block numbers):
/// writes the block's cell data but for the materials, which it reads there; mu it raises in cells
/// that are inside out. `rest_traces`, of this block, `inversion` and `flat` as in ForceInput.
void linearise_block(const float* gradients, const DifferentialRule<float>& rule,
                     const float* rest_traces, float inversion, float flat, float* cells);

}  // namespace supple
