// The tables of a sparse lattice as kernels see them, and how vectors and cell data lie in memory.
#pragma once

#include <algorithm>
#include <bit>

#include "supple/mesh/sparse_lattice.h"

namespace supple {

/// Numbers of a vector per block: x of all 64 nodes, then y, then z.
inline constexpr size_t vector_block = 3 * block_cells;
/// Numbers of a ghost: x, y, z of its face.
inline constexpr size_t ghost_record = 3 * ghost_size;
/// Numbers of a cell's linearisation: rotation (quaternion x y z w of length √2), L (xx yy zz yz xz
/// xy), and the material as `stiffness` mu h / 8 and lambda h / 16; L is scaled by h / 16 too.
inline constexpr size_t cell_numbers = 12;
/// Numbers of a plane of 4x4 cells, and of all cells of a block: 16 of each kind in turns, plane by
/// plane, so that a sweep up a column reads on and on.
inline constexpr size_t cell_plane = cell_numbers * 16;
inline constexpr size_t cell_block = block_side * cell_plane;

/// Where number n of a block's cell lies.
inline constexpr size_t cell_index(size_t n, size_t cell) {
  return (cell / 16) * cell_plane + n * 16 + cell % 16;
}
/// Numbers of the materials of a block: mu h / 8 of 64 cells, then lambda h / 16.
inline constexpr size_t material_block = 2 * block_cells;
/// Numbers of the deformation gradients of a block, row by row, 64 cells each.
inline constexpr size_t gradient_block = 9 * block_cells;
inline constexpr size_t stretch_block = 6 * block_cells;

/// A lattice's tables.
struct SweepPlan {
  const uint32_t* tiles = nullptr;
  const int32_t* cell_slots = nullptr;
  const BlockColumn* columns = nullptr;
  const TileRow* rows = nullptr;
  const uint32_t* row_offsets = nullptr;
  const uint8_t* fresh = nullptr;
  const uint8_t* complete = nullptr;
  const std::array<int32_t, 8>* upper = nullptr;
  const std::array<int32_t, 8>* targets = nullptr;
  const uint32_t* asked_offsets = nullptr;
  const uint32_t* asked = nullptr;
  const GhostFace* ghosts = nullptr;
  const uint32_t* incoming_offsets = nullptr;
  const uint32_t* incoming = nullptr;
  size_t blocks = 0;
  size_t height = 0;  ///< of a tile, in blocks
  bool asks = true;   ///< whether nodes are worth asking for ahead, as they are not in the cache
  /// Vectors that will be needed once a row is done, null after the last: what lies in its blocks
  /// is asked for meanwhile.
  std::array<const void*, 4> later = {};
};

/// Something to call with a row of a tile; nothing if empty.
struct RowCall {
  void (*function)(const void* context, const TileRow* row) = nullptr;
  const void* context = nullptr;

  explicit operator bool() const { return function != nullptr; }
  void operator()(const TileRow* row) const { function(context, row); }
};

/// A call of f(row), which must outlive it.
template <class F>
RowCall row_call(const F&&) = delete;
template <class F>
RowCall row_call(const F& f) {
  return {[](const void* context, const TileRow* row) { (*static_cast<const F*>(context))(row); },
          &f};
}

/// So many blocks, a power of two, hold the sums of any two rows of a tile one after the other.
inline size_t sums_ring(const SweepPlan& plan, size_t tile) {
  const TileRow *row = plan.rows + plan.row_offsets[tile],
                *end = plan.rows + plan.row_offsets[tile + 1];
  uint32_t most = 0;
  for (; row != end; ++row)
    most = std::max(most, (row + 1 == end ? end : row + 2)->block - row->block);
  return std::bit_ceil(most);
}

/// What makes products of sums that are complete when a pass comes to write them, in blocks all of
/// whose nodes are free: those go past the cache, to where they are wanted, and not to the sums.
template <class Scalar>
struct WholeBlocks {
  const uint64_t* free = nullptr;  ///< one bit per node that may move, per block
  Scalar* y = nullptr;             ///< the product A x, from the lattice's first block on
  double sum = 0;                  ///< is set to xᵀ A x there
};

/// Whether that is so for a block: `complete` as SparseLattice has it.
inline bool is_whole(const uint8_t* complete, const uint64_t* free, size_t block) {
  return complete[block] != 0 && free[block] == ~uint64_t{0};
}

/// Where a pass over a tile writes its nodal sums: `sums` from the tile's first block on, and
/// ghosts from the lattice's first on.
template <class Scalar>
struct SweepOutput {
  Scalar* sums = nullptr;
  Scalar* ghosts = nullptr;
  RowCall starts = {};  ///< called before a row's cells are visited
  RowCall done = {};    ///< called once a row's sums are complete, which are overwritten later
  size_t ring = 0;  ///< there are sums of so many blocks, as sums_ring() says; 0 for the whole tile
  WholeBlocks<Scalar>* whole = nullptr;  ///< null for sums in all blocks
};

/// The tables of a lattice, which must outlive them.
inline SweepPlan sweep_plan(const SparseLattice& l) {
  return {l.tiles.data(),
          l.cell_slots.data(),
          l.columns.data(),
          l.rows.data(),
          l.row_offsets.data(),
          l.fresh.data(),
          l.complete.data(),
          l.upper.data(),
          l.targets.data(),
          l.asked_offsets.data(),
          l.asked.data(),
          l.ghosts.data(),
          l.incoming_offsets.data(),
          l.incoming.data(),
          l.block_count(),
          size_t{1} << l.tile_shifts[2]};
}

}  // namespace supple
