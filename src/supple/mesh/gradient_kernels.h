// Deformation gradients of three fields at many nodes, compiled for every instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace supple {

/// Sums over neighbours: those of node n are from offsets[n] on.
struct GradientSums {
  const uint32_t* offsets = nullptr;
  const int32_t* nodes = nullptr;
  const double* gradients = nullptr;  ///< three per neighbour, 1/m, and a fourth number
};

/// Writes Σ x gᵀ of three fields, of three numbers per node each, at nodes `begin` to `end`: row k
/// has number k of all nodes, `stride` apart; numbers are those of field, row and column, the last
/// fastest.
void sum_gradients(const GradientSums& sums, const double* const* fields, size_t begin, size_t end,
                   size_t stride, double* out);

}  // namespace supple
