#include "supple/mesh/sparse_lattice.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

#include "supple/core/parallel.h"

namespace supple {
namespace {

// Larger tiles share less with others, and long columns are swift. But tiles are what is done at
// the same time: a full box gets eight or more of them, if it is not of very few blocks. The shapes
// do not depend on the number of threads, and so neither do sums. By the number of blocks with
// cells.
Vec3i tile_shifts_for(size_t blocks) {
  if (blocks >= 32768) return {3, 4, 4};
  if (blocks >= 8192) return {3, 3, 3};
  if (blocks >= 2048) return {3, 2, 3};
  if (blocks > 128 || blocks <= 32) return {2, 2, 2};
  return {1, 2, 2};
}

// The tile a block lies in.
Vec3i tile_of(const Vec3i& block, const Vec3i& shifts) {
  return {block[0] >> shifts[0], block[1] >> shifts[1], block[2] >> shifts[2]};
}

// The first block of a tile.
Vec3i shifted_up(const Vec3i& tile, const Vec3i& shifts) {
  return {tile[0] * (1 << shifts[0]), tile[1] * (1 << shifts[1]), tile[2] * (1 << shifts[2])};
}

// Blocks in the order of their coordinates, x fastest.
struct ByCoordinates {
  bool operator()(const Vec3i& a, const Vec3i& b) const {
    return std::tie(a[2], a[1], a[0]) < std::tie(b[2], b[1], b[0]);
  }
  template <class T>
  bool operator()(const std::pair<Vec3i, T>& a, const std::pair<Vec3i, T>& b) const {
    return (*this)(a.first, b.first);
  }
};

Vec3i offset(int direction) { return {direction & 1, (direction >> 1) & 1, direction >> 2}; }

int32_t local_index(const Vec3i& coordinates, const Vec3i& block) {
  const Vec3i l = coordinates - block * block_side;
  return l[0] + 4 * l[1] + 16 * l[2];
}

}  // namespace

std::array<uint64_t, 8> move_bits(uint64_t bits, int direction) {
  constexpr uint64_t last_column = 0x8888888888888888, last_row = 0xF000F000F000F000;
  std::array<uint64_t, 8> result = {bits};
  if (direction & 1) {
    result[1] = (result[0] & last_column) >> 3;
    result[0] = (result[0] & ~last_column) << 1;
  }
  if (direction & 2)
    for (const size_t d : {0, 1}) {
      result[d + 2] = (result[d] & last_row) >> 12;
      result[d] = (result[d] & ~last_row) << 4;
    }
  if (direction & 4)
    for (const size_t d : {0, 1, 2, 3}) {
      result[d + 4] = result[d] >> 48;
      result[d] = result[d] << 16;
    }
  return result;
}

SparseLattice::SparseLattice(std::span<const Vec3i> given, std::optional<Vec3i> shifts) {
  std::vector<std::pair<Vec3i, uint64_t>> parts;
  for (const Vec3i& cell : given) {
    const Vec3i block = floor_div(cell, block_side);
    const uint64_t bit = uint64_t{1} << local_index(cell, block);
    if (!parts.empty() && parts.back().first == block)
      parts.back().second |= bit;
    else
      parts.emplace_back(block, bit);
  }
  std::sort(parts.begin(), parts.end(), ByCoordinates());
  std::vector<Vec3i> own_blocks;
  std::vector<uint64_t> own_cells;
  for (const auto& [block, bits] : parts) {
    if (own_blocks.empty() || own_blocks.back() != block) {
      own_blocks.push_back(block);
      own_cells.push_back(0);
    }
    own_cells.back() |= bits;
  }
  *this = SparseLattice(std::move(own_blocks), std::move(own_cells), shifts);
}

SparseLattice::SparseLattice(std::vector<Vec3i> given, std::vector<uint64_t> bits,
                             std::optional<Vec3i> shifts)
    : blocks(std::move(given)), cells(std::move(bits)) {
  const auto full = std::count_if(cells.begin(), cells.end(), [](uint64_t b) { return b != 0; });
  tile_shifts = shifts.value_or(tile_shifts_for(static_cast<size_t>(full)));
  // Sweeps have room for no more.
  tile_shifts[0] = std::min(tile_shifts[0], std::countr_zero(most_places));
  tile_shifts[2] = std::min(tile_shifts[2], std::countr_zero(most_height));
  find_nodes();
  make_tiles();
  connect();
  find_columns();
  find_asked();
  plan_sums();
}

size_t SparseLattice::cell_count() const {
  return std::transform_reduce(cells.begin(), cells.end(), size_t{0}, std::plus<>(),
                               [](uint64_t m) { return static_cast<size_t>(std::popcount(m)); });
}

size_t SparseLattice::node_count() const {
  return std::transform_reduce(nodes.begin(), nodes.end(), size_t{0}, std::plus<>(),
                               [](uint64_t m) { return static_cast<size_t>(std::popcount(m)); });
}

int32_t SparseLattice::find_block(const Vec3i& block) const {
  const auto at = std::lower_bound(
      m_numbers.begin(), m_numbers.end(), block,
      [](const auto& entry, const Vec3i& wanted) { return ByCoordinates()(entry.first, wanted); });
  return at != m_numbers.end() && at->first == block ? at->second : -1;
}

LatticePlace SparseLattice::place(const Vec3i& coordinates) const {
  const Vec3i block = floor_div(coordinates, block_side);
  return {find_block(block), local_index(coordinates, block)};
}

bool SparseLattice::has_cell(const Vec3i& cell) const {
  const LatticePlace at = place(cell);
  return at.block >= 0 && ((cells[static_cast<size_t>(at.block)] >> at.local) & 1) != 0;
}

std::array<LatticePlace, 8> SparseLattice::corners(int32_t block, int32_t local) const {
  std::array<LatticePlace, 8> result;
  const Vec3i l(local & 3, (local >> 2) & 3, local >> 4);
  for (int d = 0; d < 8; ++d) {
    const Vec3i at = l + offset(d);
    const int across = (at[0] >> 2) | (at[1] >> 2) << 1 | (at[2] >> 2) << 2;
    result[static_cast<size_t>(d)] = {
        upper[static_cast<size_t>(block)][static_cast<size_t>(across)],
        (at[0] & 3) + 4 * (at[1] & 3) + 16 * (at[2] & 3)};
  }
  return result;
}

// Drops blocks without cells and adds those that only hold nodes; marks the nodes of all cells.
void SparseLattice::find_nodes() {
  std::vector<std::pair<Vec3i, uint64_t>> marks, with_cells;
  for (size_t b = 0; b < blocks.size(); ++b) {
    if (cells[b] != 0) with_cells.emplace_back(blocks[b], cells[b]);
    std::array<uint64_t, 8> touched = {};
    for (int d = 0; d < 8; ++d) {
      const std::array<uint64_t, 8> moved = move_bits(cells[b], d);
      for (size_t n = 0; n < 8; ++n) touched[n] |= moved[n];
    }
    for (int n = 0; n < 8; ++n)
      if (touched[static_cast<size_t>(n)] != 0)
        marks.emplace_back(blocks[b] + offset(n), touched[static_cast<size_t>(n)]);
  }
  for (auto* list : {&marks, &with_cells}) std::sort(list->begin(), list->end(), ByCoordinates());
  blocks.clear();
  cells.clear();
  size_t next = 0;
  for (const auto& [block, bits] : marks) {
    if (blocks.empty() || blocks.back() != block) {
      const bool has = next < with_cells.size() && with_cells[next].first == block;
      blocks.push_back(block);
      nodes.push_back(0);
      cells.push_back(has ? with_cells[next++].second : 0);
    }
    nodes.back() |= bits;
  }
  number_blocks();
  slot_count = with_cells.size();
}

// Makes the table that finds blocks by coordinates.
void SparseLattice::number_blocks() {
  m_numbers.resize(blocks.size());
  for (size_t b = 0; b < blocks.size(); ++b) m_numbers[b] = {blocks[b], static_cast<int32_t>(b)};
  std::sort(m_numbers.begin(), m_numbers.end(), ByCoordinates());
}

// Puts blocks in order, tile by tile, within a tile row by row and column by column. Tiles without
// cells would have nothing to do but to wait for others: their blocks belong to a tile below. They
// come after the blocks with cells they are nodes of, so that a tile's first block lies within it.
void SparseLattice::make_tiles() {
  std::vector<Vec3i> busy, owners(blocks.size());
  for (size_t b = 0; b < blocks.size(); ++b)
    if (cells[b] != 0) busy.push_back(tile_of(blocks[b], tile_shifts));
  std::sort(busy.begin(), busy.end(), ByCoordinates());
  busy.erase(std::unique(busy.begin(), busy.end()), busy.end());
  for (size_t b = 0; b < blocks.size(); ++b) {
    owners[b] = tile_of(blocks[b], tile_shifts);
    if (std::binary_search(busy.begin(), busy.end(), owners[b], ByCoordinates())) continue;
    for (const int d : {1, 2, 4, 3, 5, 6, 7}) {
      const int32_t below = find_block(blocks[b] - offset(d));
      if (below < 0 || cells[static_cast<size_t>(below)] == 0) continue;
      owners[b] = tile_of(blocks[static_cast<size_t>(below)], tile_shifts);
      break;
    }
  }
  std::vector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t i, size_t j) {
    const Vec3i &s = owners[i], &t = owners[j], &a = blocks[i], &b = blocks[j];
    return std::tie(s[2], s[1], s[0], a[1], a[0], a[2]) <
           std::tie(t[2], t[1], t[0], b[1], b[0], b[2]);
  });
  const auto reorder = [&](auto& list) {
    auto sorted = list;
    for (size_t i = 0; i < order.size(); ++i) sorted[i] = list[order[i]];
    list = std::move(sorted);
  };
  reorder(blocks);
  reorder(cells);
  reorder(nodes);
  reorder(owners);
  number_blocks();
  tiles.assign(1, 0);
  row_offsets.assign(1, 0);
  rows.clear();
  int32_t slot = 0;
  cell_slots.clear();
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    cell_slots.push_back(cells[b] != 0 ? slot++ : -1);
    const bool new_tile = b > 0 && owners[b] != owners[b - 1];
    if (new_tile) {
      tiles.push_back(b);
      row_offsets.push_back(static_cast<uint32_t>(rows.size()));
    }
    if (b == 0 || new_tile || blocks[b][1] != blocks[b - 1][1]) rows.push_back({b, 0, 0});
  }
  if (!blocks.empty()) {
    tiles.push_back(static_cast<uint32_t>(blocks.size()));
    row_offsets.push_back(static_cast<uint32_t>(rows.size()));
  }
  rows.push_back({static_cast<uint32_t>(blocks.size()), 0, 0});
}

// Neighbours.
void SparseLattice::connect() {
  const auto none = static_cast<int32_t>(blocks.size());
  upper.resize(blocks.size());
  parallel_for(blocks.size(), 256, [&](size_t begin, size_t end) {
    for (size_t b = begin; b < end; ++b)
      for (int d = 0; d < 8; ++d) {
        const int32_t at = d == 0 ? static_cast<int32_t>(b) : find_block(blocks[b] + offset(d));
        upper[b][static_cast<size_t>(d)] = at < 0 ? none : at;
      }
  });
}

// Columns of blocks, and which of them hand sums over to others.
void SparseLattice::find_columns() {
  columns.clear();
  std::vector<uint8_t> heights(blocks.size() + 1, 0);  // of the columns that start at a block
  std::vector<uint32_t> tile_ends;
  size_t row = 0;
  for (size_t t = 0; t + 1 < tiles.size(); ++t) {
    for (uint32_t b = tiles[t]; b < tiles[t + 1];) {
      if (rows[row].block == b) rows[row++].column = static_cast<uint32_t>(columns.size());
      uint32_t top = b;
      if (cells[b] != 0) do
          ++top;
        while (top < tiles[t + 1] && cells[top] != 0 &&
               upper[top - 1][4] == static_cast<int32_t>(top));
      if (top > b) {
        const Vec3i in_tile = blocks[b] - shifted_up(tile_of(blocks[b], tile_shifts), tile_shifts);
        heights[b] = static_cast<uint8_t>(top - b);
        columns.push_back(
            {b, heights[b], static_cast<uint8_t>(in_tile[2]), static_cast<uint8_t>(in_tile[0])});
        tile_ends.push_back(tiles[t + 1]);
      }
      b = std::max(top, b + 1);
    }
  }
  rows.back().column = static_cast<uint32_t>(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    BlockColumn& column = columns[i];
    const auto feeds = [&](int32_t next) {
      const auto at = static_cast<uint32_t>(next);
      return at > column.block && at < tile_ends[i] && heights[at] == column.height;
    };
    column.feeds_x = feeds(upper[column.block][1]);
    column.feeds_y = feeds(upper[column.block][2]);
  }
  // Blocks to which a column adds directly.
  std::vector<uint8_t> added(blocks.size() + 1, 0);
  for (const BlockColumn& column : columns)
    for (uint32_t b = column.block; b < column.block + column.height; ++b)
      for (size_t d = 1; d < 8; ++d)
        if (((d & 1) != 0 && !column.feeds_x) || ((d & 2) != 0 && !column.feeds_y))
          added[static_cast<size_t>(upper[b][d])] = 1;
  fresh.assign(blocks.size(), 0);
  for (BlockColumn& column : columns) {
    const auto begin = added.begin() + column.block;
    column.first = std::none_of(begin, begin + column.height, [](uint8_t a) { return a != 0; });
    std::fill_n(fresh.begin() + column.block, column.height, column.first ? 1 : 0);
  }
}

// Where a pass is when it asks for nodes that are new in a tile. Those above a block are read half
// a block later than the others.
void SparseLattice::find_asked() {
  const size_t none = blocks.size();
  std::vector<std::pair<uint32_t, uint32_t>> asks;        // where, for which block
  std::vector<size_t> seen(blocks.size(), tiles.size());  // last tile in which it was
  std::vector<uint32_t> visited;
  for (size_t t = 0; t + 1 < tiles.size(); ++t) {
    visited.clear();
    for (uint32_t b = tiles[t]; b < tiles[t + 1]; ++b) {
      if (cells[b] == 0) continue;
      visited.push_back(b);
      for (size_t d = 0; d < 8; ++d) {
        const auto u = static_cast<size_t>(upper[b][d]);
        if (u == none || seen[u] == t) continue;
        seen[u] = t;
        const size_t before = asked_before - (d < 4 ? 0 : 1);
        asks.emplace_back(visited[visited.size() - 1 - std::min(visited.size() - 1, before)],
                          static_cast<uint32_t>(u));
      }
    }
  }
  std::sort(asks.begin(), asks.end());
  asked_offsets.assign(blocks.size() + 1, 0);
  asked.clear();
  for (const auto& [at, block] : asks) {
    ++asked_offsets[at + 1];
    asked.push_back(block);
  }
  std::partial_sum(asked_offsets.begin(), asked_offsets.end(), asked_offsets.begin());
}

// Where every tile's cells add to nodes beyond the tile, and who adds those sums up.
void SparseLattice::plan_sums() {
  const auto none = static_cast<int32_t>(blocks.size());
  targets.resize(blocks.size());
  ghost_offsets.assign(1, 0);
  ghosts.clear();
  std::vector<uint32_t> counts(blocks.size() + 1, 0);
  for (size_t t = 0; t + 1 < tiles.size(); ++t) {
    const auto first = static_cast<int32_t>(tiles[t]), end = static_cast<int32_t>(tiles[t + 1]);
    std::vector<int32_t> beyond;
    for (int32_t b = first; b < end; ++b)
      if (cells[static_cast<size_t>(b)] != 0)
        for (const int32_t u : upper[static_cast<size_t>(b)])
          if (u != none && (u < first || u >= end)) beyond.push_back(u);
    // By rows of the tile: a row's are those beside it, and farther on where the next one is not.
    const auto row_begin = rows.begin() + row_offsets[t],
               row_end = rows.begin() + row_offsets[t + 1];
    const auto row_of = [&](int32_t u) {
      const int32_t y = blocks[static_cast<size_t>(u)][1];
      return std::partition_point(row_begin + 1, row_end,
                                  [&](const TileRow& r) { return blocks[r.block][1] <= y; }) -
             row_begin - 1;
    };
    const auto before = [&](int32_t a, int32_t b) {
      return std::pair(row_of(a), a) < std::pair(row_of(b), b);
    };
    std::sort(beyond.begin(), beyond.end(), before);
    beyond.erase(std::unique(beyond.begin(), beyond.end()), beyond.end());
    const Vec3i tile = tile_of(blocks[static_cast<size_t>(first)], tile_shifts);
    const std::ptrdiff_t row_count = row_end - row_begin;
    const auto first_of = static_cast<uint32_t>(ghosts.size());
    std::ptrdiff_t row = -1;
    for (const int32_t u : beyond) {
      while (row < row_of(u)) row_begin[++row].ghost = static_cast<uint32_t>(ghosts.size());
      const Vec3i away = tile_of(blocks[static_cast<size_t>(u)], tile_shifts) - tile;
      const int axis = away[2] != 0 ? 2 : away[1] != 0 ? 1 : 0;
      const std::ptrdiff_t turn = row + 1 == row_count ? 2 : row & 1;
      const std::ptrdiff_t place =
          turn * row_ghosts + static_cast<std::ptrdiff_t>(ghosts.size()) - row_begin[row].ghost;
      ghosts.push_back({u, static_cast<uint8_t>(axis), static_cast<uint16_t>(place)});
      ++counts[static_cast<size_t>(u) + 1];
    }
    while (++row < row_count) row_begin[row].ghost = static_cast<uint32_t>(ghosts.size());
    ghost_offsets.push_back(static_cast<uint32_t>(ghosts.size()));
    for (int32_t b = first; b < end; ++b)
      for (size_t d = 0; d < 8; ++d) {
        const int32_t u = upper[static_cast<size_t>(b)][d];
        int32_t target = u;
        if (u == none || cells[static_cast<size_t>(b)] == 0)
          target = ~ghost_places;
        else if (u < first || u >= end)
          target =
              ~ghosts[first_of + static_cast<size_t>(
                                     std::lower_bound(beyond.begin(), beyond.end(), u, before) -
                                     beyond.begin())]
                   .place;
        targets[static_cast<size_t>(b)][d] = target;
      }
  }
  rows.back().ghost = static_cast<uint32_t>(ghosts.size());
  std::partial_sum(counts.begin(), counts.end(), counts.begin());
  incoming_offsets = counts;
  incoming.resize(ghosts.size());
  for (uint32_t g = 0; g < ghosts.size(); ++g)
    incoming[counts[static_cast<size_t>(ghosts[g].block)]++] = g;
  complete.assign(blocks.size(), 0);
  for (size_t b = 0; b < blocks.size(); ++b)
    complete[b] = fresh[b] != 0 && incoming_offsets[b] == incoming_offsets[b + 1] ? 1 : 0;
}

}  // namespace supple
