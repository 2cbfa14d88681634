// A sparse lattice of cubic cells: only blocks of 4x4x4 cells that hold matter, or a node of a cell
// with matter, are stored. Node (i, j, k) is the lower corner of cell (i, j, k) and lies in the
// same block; the upper corners of a block's cells lie in up to seven neighbours, found by a table.
//
// Blocks are grouped into tiles of 4x4x4 blocks, in lattices of many blocks up to 8x16x16, of few
// 2x4x4: these are the pieces of parallel work, gone through row by row along y. A tile's cells add
// to nodes of its own blocks directly and to nodes of blocks of other tiles through ghosts: one
// face of 4x4 nodes each, added by the owner afterwards in a fixed order, so that sums have the
// same bits for any number of threads. Blocks that only hold nodes, where a tile would have no
// others, belong to a tile below.
#pragma once

#include <array>
#include <bit>
#include <optional>
#include <span>
#include <vector>

#include "supple/math/types.h"

namespace supple {

inline constexpr int block_side = 4;       ///< cells along a block
inline constexpr size_t block_cells = 64;  ///< cells, and nodes, of a block
inline constexpr size_t ghost_size = 16;   ///< nodes of a ghost's face
inline constexpr size_t most_places = 8;   ///< columns side by side in a tile
inline constexpr size_t most_height = 16;  ///< blocks of a column
/// Nodes are asked for so many blocks before they are read.
inline constexpr size_t asked_before = 3;

/// Where sums for ghosts of a tile lie until they are complete: rows of odd and even numbers in
/// turns, each with the next height in y too where the tile has no such row, then those of the
/// tile's last row, where ghosts beyond it in y are as well.
inline constexpr int32_t row_ghosts = 2 * (most_places + most_height + 1);
inline constexpr int32_t last_row_ghosts = row_ghosts / 2 + (most_places + 1) * (most_height + 1);
inline constexpr int32_t ghost_places = 2 * row_ghosts + last_row_ghosts;

/// A face of nodes that a tile's cells add to in a block of another tile.
struct GhostFace {
  int32_t block = 0;
  uint8_t axis = 0;    ///< the nodes with coordinate 0 along this axis
  uint16_t place = 0;  ///< of its sums until its row is done, below ghost_places
};

/// Blocks of a tile with the same y: where its blocks, columns and ghosts begin. Those of the next
/// row begin where they end. Once all its columns are visited its sums are complete.
struct TileRow {
  uint32_t block = 0, column = 0, ghost = 0;
};

/// Blocks with cells above each other in a tile, with none below or above. Sums for nodes of the
/// columns beside it in x and y are handed over where those have the same levels.
struct BlockColumn {
  uint32_t block = 0;    ///< the lowest one; the others follow
  uint8_t height = 0;    ///< in blocks
  uint8_t level = 0;     ///< height of the lowest one above the tile's lowest blocks
  uint8_t place = 0;     ///< in x, from the tile's first blocks on
  bool feeds_x = false;  ///< hands over to the column in x
  bool feeds_y = false;  ///< hands over to the column in y
  bool first = false;    ///< no other column adds to its nodes but by handing over
};

/// A cell or node by its block and its place in it (x fastest).
struct LatticePlace {
  int32_t block = -1;
  int32_t local = 0;
};

/// Cells with matter, their nodes, and the tables that connect them.
class SparseLattice {
 public:
  SparseLattice() = default;

  /// A lattice of the given cells, in any order, repeats allowed. Coordinates may be negative. Its
  /// tiles have 2^`shifts` blocks along each axis, at most most_places along x and most_height
  /// along z; by default a shape that is swift for as many blocks.
  explicit SparseLattice(std::span<const Vec3i> cells, std::optional<Vec3i> shifts = {});

  /// A lattice of the given blocks (in units of blocks) with one bit per cell with matter.
  SparseLattice(std::vector<Vec3i> blocks, std::vector<uint64_t> cells,
                std::optional<Vec3i> shifts = {});

  /// Number of blocks; also the number of the block that stands for "none", whose nodes are always
  /// 0.
  size_t block_count() const { return blocks.size(); }
  /// Number of tiles.
  size_t tile_count() const { return tiles.size() - 1; }
  /// Number of cells with matter.
  size_t cell_count() const;
  /// Number of nodes of cells with matter.
  size_t node_count() const;

  /// The block with these coordinates (in blocks), or -1.
  int32_t find_block(const Vec3i& block) const;
  /// The place of a cell or node; its block is -1 where no block is stored.
  LatticePlace place(const Vec3i& coordinates) const;
  /// The coordinates of a cell or node.
  Vec3i coordinates(int32_t block, int32_t local) const {
    return blocks[static_cast<size_t>(block)] * block_side +
           Vec3i(local & 3, (local >> 2) & 3, local >> 4);
  }
  /// Whether a cell holds matter.
  bool has_cell(const Vec3i& cell) const;
  /// The eight corner nodes of a cell, x fastest.
  std::array<LatticePlace, 8> corners(int32_t block, int32_t local) const;

  std::vector<Vec3i> blocks;        ///< coordinates in units of blocks, tile by tile
  std::vector<uint64_t> cells;      ///< one bit per cell with matter, per block
  std::vector<uint64_t> nodes;      ///< one bit per node of such a cell, per block
  std::vector<int32_t> cell_slots;  ///< running number of blocks that have cells; -1 for others
  size_t slot_count = 0;            ///< number of blocks that have cells
  Vec3i tile_shifts{2, 2, 2};       ///< logarithms of the blocks along a tile
  std::vector<uint32_t> tiles{0};   ///< first block of every tile, and the total

  std::vector<BlockColumn> columns;      ///< of all tiles, as their blocks come
  std::vector<TileRow> rows;             ///< of all tiles, and one that is empty
  std::vector<uint32_t> row_offsets{0};  ///< first row of every tile, and the total
  std::vector<uint8_t> fresh;            ///< 1 for blocks of columns that are `first`
  std::vector<uint8_t> complete;         ///< 1 for those of them that get nothing from other tiles

  /// Blocks at +x, +y, +z (bits 0, 1, 2 of the index); block_count() where there is none.
  std::vector<std::array<int32_t, 8>> upper;

  /// Where a block's cells add to nodes of its upper blocks: a block of the same tile, or ~place
  /// of a ghost; ~ghost_places where nothing is added.
  std::vector<std::array<int32_t, 8>> targets;

  std::vector<uint32_t> asked_offsets;  ///< first entry of `asked` per block, and the total
  /// Blocks whose nodes a pass through a tile's cells reads for the first time in the tile,
  /// asked_before blocks after it comes to a block.
  std::vector<uint32_t> asked;

  std::vector<uint32_t> ghost_offsets{0};  ///< first ghost of every tile, and the total
  std::vector<GhostFace> ghosts;
  std::vector<uint32_t> incoming_offsets;  ///< first entry of `incoming` per block, and the total
  std::vector<uint32_t> incoming;          ///< ghosts to be added to each block, rising

 private:
  void find_nodes();
  void number_blocks();
  void make_tiles();
  void connect();
  void find_columns();
  void find_asked();
  void plan_sums();

  std::vector<std::pair<Vec3i, int32_t>> m_numbers;  // blocks by coordinates, x fastest
};

/// Splits the bits of a block's cells or nodes moved by one along the axes of `direction` (bits 0,
/// 1, 2 for x, y, z) over the blocks they land in: entry d lies in the upper block d.
std::array<uint64_t, 8> move_bits(uint64_t bits, int direction);

/// Calls visit(local) for every bit that is set, rising.
template <class Visit>
void for_bits(uint64_t bits, const Visit& visit) {
  for (; bits != 0; bits &= bits - 1) visit(static_cast<int32_t>(std::countr_zero(bits)));
}

/// Floor of a / b for positive b.
inline int32_t floor_div(int32_t a, int32_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

/// Floor of every coordinate divided by b.
inline Vec3i floor_div(const Vec3i& a, int32_t b) {
  return {floor_div(a[0], b), floor_div(a[1], b), floor_div(a[2], b)};
}

}  // namespace supple
