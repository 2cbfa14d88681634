// The inner loops of tetrahedral bodies, compiled for every instruction set: elements side by side
// in lanes, in single and double precision.
#pragma once

#include <cstddef>
#include <cstdint>

#include "supple/material/law.h"

namespace supple {

inline constexpr size_t tet_group = 16;                ///< elements side by side
inline constexpr size_t force_group = 12 * tet_group;  ///< numbers of a group's corner forces

/// Which elements' deformation is diagonalised, where the law asks for it.
enum class Diagonalise {
  all,        ///< every element's
  selective,  ///< groups with an element beyond the limits [Kim 2011, §3.3]; invertible StVK only
};

/// The tables of the elements, group after group; the last group is filled up with copies of an
/// element of no volume.
template <class Scalar>
struct TetTables {
  Law law = Law::invertible_stvk;
  Diagonalise diagonalise = Diagonalise::selective;
  const int32_t* corners = nullptr;  ///< 4 per element: where the node's x is among the numbers
  const Scalar* inverse = nullptr;  ///< 9 per element: [X1 - X0, X2 - X0, X3 - X0]⁻¹, row by row
  const Scalar* volume = nullptr;   ///< of the matter in every element, m³
  const Scalar* mu = nullptr;       ///< Pa
  const Scalar* lambda = nullptr;   ///< Pa
  Scalar lower = 0, upper = 0, keep = 0;  ///< of LawLimits
};

/// Elastic forces at the corners of the elements of groups [begin, end), in newtons [Kim 2011,
/// eq. 3 and 11]; `x` has three numbers per node, metres from any origin that is not far away. In
/// the result every number of a group's elements lies side by side: x, y, z of corner 0, then of 1,
/// 2, 3. The forces of an element's corners add up to nothing.
void tet_forces(const TetTables<float>& tables, const float* x, float* forces, size_t begin,
                size_t end);
void tet_forces(const TetTables<double>& tables, const double* x, double* forces, size_t begin,
                size_t end);

/// Where the corners of nodes are in the result of tet_forces.
struct TetSums {
  const uint32_t* offsets = nullptr;  ///< first entry of every node, and the total
  const uint32_t* entries = nullptr;  ///< where a corner's x is; y and z follow after a group
};

/// Adds the forces of the corners of nodes [begin, end) to `out`, three numbers per node.
void add_tet_forces(const TetSums& sums, const float* forces, double* out, size_t begin,
                    size_t end);
void add_tet_forces(const TetSums& sums, const double* forces, double* out, size_t begin,
                    size_t end);

}  // namespace supple
