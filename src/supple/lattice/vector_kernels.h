// Loops over vectors on a lattice, compiled for every instruction set: linear combinations, sums,
// and what follows a pass over the cells (ghosts added, fixed nodes taken out, masses, smoothing).
#pragma once

#include "supple/lattice/sweep_plan.h"

namespace supple {

/// What turns the raw sums of a pass over the cells into a product with the whole operator.
template <class Scalar>
struct FinishInput {
  const uint32_t* incoming_offsets = nullptr;
  const uint32_t* incoming = nullptr;
  const GhostFace* faces = nullptr;
  const Scalar* ghosts = nullptr;
  const uint64_t* free = nullptr;  ///< one bit per node that may move, per block
  const float* masses = nullptr;   ///< added to the diagonal, one per node; null for none
  const Scalar* x = nullptr;       ///< the vector the operator is applied to
  Scalar* sums = nullptr;          ///< raw sums where they are not in y: from block first_sum on
  size_t first_sum = 0;
  const uint8_t* complete = nullptr;  ///< 1 for blocks that sweeps finish; null if they do not
  bool streams = false;  ///< whether products go past the cache, from sums that are not in y
};

/// Makes y = A x of the raw sums for blocks [begin, end), 0 at fixed nodes; returns xᵀ A x there.
template <class Scalar>
double finish_product(const FinishInput<Scalar>& input, size_t begin, size_t end, Scalar* y);

/// Makes y = b - A x of the raw sums for blocks [begin, end), 0 at fixed nodes; returns |y|²
/// there.
template <class Scalar>
double finish_residual(const FinishInput<Scalar>& input, size_t begin, size_t end, const Scalar* b,
                       Scalar* y);

/// One step of a polynomial smoother, vectors at the start of the lattice.
struct SmoothStep {
  const float* b = nullptr;
  const float* inverse_diagonal = nullptr;  ///< 0 at fixed nodes
  const float* before = nullptr;  ///< the direction of the step before, may be x; null for 0
  float* direction = nullptr;     ///< null if no step needs it
  float* x = nullptr;
  float momentum = 0;
  float weight = 0;
};

/// direction = momentum before + weight D⁻¹ (b - A x), x += direction, with the sums of A x in y.
void finish_smoothing(const FinishInput<float>& input, size_t begin, size_t end,
                      const SmoothStep& step, float* y);

/// The first step of a smoother, from x = 0: x = weight D⁻¹ b, for numbers [begin, end); returns
/// the sum of b · x there.
double start_smoothing(const SmoothStep& step, size_t begin, size_t end);

/// Inverse of a diagonal: 1 / (y + mass) at free nodes, 0 elsewhere, with the raw sums in y.
void finish_diagonal(const FinishInput<float>& input, size_t begin, size_t end, float* y);

/// Sum of a · b over [begin, end).
template <class Scalar>
double dot_range(const Scalar* a, const Scalar* b, size_t begin, size_t end);

/// y += factor x over [begin, end).
template <class Scalar, class Other>
void add_scaled_range(Scalar factor, const Other* x, Scalar* y, size_t begin, size_t end);

/// y = x + factor y over [begin, end).
template <class Scalar, class Other>
void scale_add_range(const Other* x, Scalar factor, Scalar* y, size_t begin, size_t end);

/// y += factor x, and the sum of y · y, over [begin, end).
template <class Scalar>
double add_scaled_norm_range(Scalar factor, const Scalar* x, Scalar* y, size_t begin, size_t end);

}  // namespace supple
