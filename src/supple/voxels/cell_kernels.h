// The inner loops of voxel bodies, compiled for every instruction set: cells side by side in lanes,
// 24 x 24 matrices against the corners' vectors in frames that turn with the cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace supple {

inline constexpr size_t cell_group = 16;                      ///< cells side by side
inline constexpr size_t matrix_group = 24 * 24 * cell_group;  ///< numbers of a group's matrices
inline constexpr size_t vector_group = 24 * cell_group;       ///< of its corners' vectors
inline constexpr size_t frame_group = 9 * cell_group;         ///< of its frames, row by row
inline constexpr size_t edge_group = 12 * cell_group;         ///< of its edges' weights, by axis
inline constexpr size_t corner_group = 8 * cell_group;        ///< of single numbers of its corners

/// The tables of the cells, group after group; the last group is filled up with copies of a cell.
struct CellTables {
  size_t groups = 0;
  const int32_t* corners = nullptr;  ///< 8 per cell: where the node's x is among the nodes' numbers
  const float* frames = nullptr;     ///< rotations from rest to now
  const float* edges = nullptr;      ///< 12 per cell: how much each edge counts
  const float* empty = nullptr;      ///< 8 per cell: 0 for corners that count, else a large number
};

/// products = R A Rᵀ x per cell, for the cells' matrices A (all of one group: entry by entry) and
/// frames R; x has three numbers per node. Groups [begin, end).
void multiply_cells(const CellTables& tables, const float* matrices, const float* x,
                    float* products, size_t begin, size_t end);

/// forces = -R K (Rᵀ x - rest) per cell with sides of `side` metres, in newtons; x are positions in
/// metres, from any origin that is not far away.
void cell_forces(const CellTables& tables, const float* matrices, const float* x, float side,
                 float* forces, size_t begin, size_t end);

/// The mean gradients of cells at positions x times their side, row by row, from their mean edges
/// [Nesme 2006, section 4.1]. Means are weighted by where the matter is: corners far from any may
/// be anywhere. `volumes` gets, cell by cell, the least volume of a cube with the edges at one of
/// the corners that count; returns the least of all of these and of the gradients' determinants.
float cell_gradients(const CellTables& tables, const float* x, float* gradients, float* volumes,
                     size_t begin, size_t end);

/// Replaces gradients by the rotations nearest to them; cells inside out have one as well.
void turn_cells(float* frames, size_t begin, size_t end);

/// Where the corners' vectors of cells are added up, node after node.
struct NodeSums {
  const uint32_t* offsets = nullptr;  ///< first entry of every node, and the total
  const uint32_t* entries =
      nullptr;  ///< where a corner's x is; y and z follow after a group's lanes
};

/// out = sums of the cells' vectors at nodes [begin, end), three numbers per node.
void add_up_cells(const NodeSums& sums, const float* products, float* out, size_t begin,
                  size_t end);

}  // namespace supple
