// Partial elimination in small dense symmetric matrices, compiled for every instruction set.
#pragma once

#include <cstddef>

namespace supple {

/// Numbers that a row of such a matrix is filled up to a multiple of.
inline constexpr size_t row_tile = 8;

/// Eliminates the first `pivots` unknowns of the symmetric positive matrix [A F; Fᵀ G], of which
/// the upper triangle counts: G becomes G - Fᵀ A⁻¹ F. Rows have `stride` numbers, a multiple of
/// row_tile; `pivots` and `size` are multiples of 3. What is below the diagonal is overwritten.
void eliminate(double* matrix, size_t stride, size_t pivots, size_t size);

}  // namespace supple
