// Trilinear transfer between a lattice and the one with cells twice as large: prolongation, and
// restriction as its transpose.
#pragma once

#include "supple/lattice/sweep_plan.h"

namespace supple {

/// How the blocks of two lattices lie in each other. Entries equal to the block count stand for a
/// missing block, whose nodes are 0.
struct TransferPlan {
  std::vector<int32_t> parents;                   ///< coarse block of every fine block
  std::vector<std::array<int32_t, 27>> children;  ///< fine blocks around every coarse block: -1, 0,
                                                  ///< 1 along x, then y, then z, in fine blocks
                                                  ///< from the coarse block's first one
};

/// Connects a fine lattice with the coarse one whose cells are pairs along each axis.
TransferPlan plan_transfer(const SparseLattice& fine, const SparseLattice& coarse);

/// fine += P coarse at free nodes of fine blocks [begin, end).
void prolong_blocks(const SparseLattice& fine, const SparseLattice& coarse,
                    const TransferPlan& plan, const uint64_t* free, const float* from, float* to,
                    size_t begin, size_t end);

/// coarse = Pᵀ fine at free nodes of coarse blocks [begin, end), 0 elsewhere.
void restrict_blocks(const TransferPlan& plan, const uint64_t* free, const float* from, float* to,
                     size_t begin, size_t end);

}  // namespace supple
