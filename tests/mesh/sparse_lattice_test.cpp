// The tables of sparse lattices against brute force on sets of cells.
#include "supple/mesh/sparse_lattice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>

namespace supple {
namespace {

using Key = std::array<int32_t, 3>;
using Cells = std::set<Key>;

Key key(const Vec3i& v) { return {v[0], v[1], v[2]}; }
Vec3i vec(const Key& k) { return {k[0], k[1], k[2]}; }

// Division that rounds down, by way of doubles.
int32_t down(int32_t a, int32_t b) { return static_cast<int32_t>(std::floor(a / double(b))); }
Key block_of(const Key& c) { return {down(c[0], 4), down(c[1], 4), down(c[2], 4)}; }
// The tile of a cell in a lattice of so many blocks with cells.
Key tile_of(const Key& c, size_t blocks) {
  const Key side = blocks >= 32768                ? Key{32, 64, 64}
                   : blocks >= 8192               ? Key{32, 32, 32}
                   : blocks >= 2048               ? Key{32, 16, 32}
                   : blocks > 32 && blocks <= 128 ? Key{8, 16, 16}
                                                  : Key{16, 16, 16};
  return {down(c[0], side[0]), down(c[1], side[1]), down(c[2], side[2])};
}
int32_t local_of(const Key& c) {
  const Key b = block_of(c);
  return (c[0] - 4 * b[0]) + 4 * (c[1] - 4 * b[1]) + 16 * (c[2] - 4 * b[2]);
}

Cells random_cells(unsigned seed, int low, int high, double fill) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> chance(0, 1);
  Cells cells;
  for (int z = low; z < high; ++z)
    for (int y = low; y < high; ++y)
      for (int x = low; x < high; ++x)
        if (chance(random) < fill) cells.insert({x, y, z});
  return cells;
}

// Sets of all kinds: thin, dense, far apart, at coordinates of both signs, a single cell, a full
// box across a corner of tiles.
std::vector<Cells> many_sets() {
  std::vector<Cells> sets;
  sets.push_back({{0, 0, 0}});
  sets.push_back({{-1, -1, -1}});
  sets.push_back({{15, 15, 15}});
  sets.push_back({{1000000, -1000000, 77}, {-2000001, 3, 5}, {15, -17, 31}});
  sets.push_back(random_cells(1, -19, 21, 0.02));
  sets.push_back(random_cells(2, -9, 12, 0.3));
  sets.push_back(random_cells(3, -6, 5, 0.9));
  sets.push_back(random_cells(4, 10, 22, 1));
  sets.push_back(random_cells(5, -40, -10, 0.005));
  // Of so many blocks that tiles are larger, full of holes.
  sets.push_back(random_cells(6, -31, 33, 0.012));
  sets.push_back(random_cells(7, -53, 55, 0.012));
  sets.push_back(random_cells(8, -80, 79, 0.02));
  return sets;
}

SparseLattice lattice_of(const Cells& cells, unsigned seed = 1) {
  std::vector<Vec3i> list;
  for (const Key& c : cells) list.push_back(vec(c));
  for (size_t i = 0; i < cells.size(); i += 3) list.push_back(list[i]);  // repeats are allowed
  std::shuffle(list.begin(), list.end(), std::mt19937(seed));
  return SparseLattice(list);
}

std::set<Key> nodes_of(const Cells& cells) {
  std::set<Key> nodes;
  for (const Key& c : cells)
    for (int i = 0; i < 8; ++i)
      nodes.insert({c[0] + (i & 1), c[1] + (i >> 1 & 1), c[2] + (i >> 2)});
  return nodes;
}

TEST(SparseLattice, HoldsExactlyTheGivenCellsAndTheirNodes) {
  for (const Cells& cells : many_sets()) {
    const SparseLattice l = lattice_of(cells);
    const std::set<Key> nodes = nodes_of(cells);
    EXPECT_EQ(l.cell_count(), cells.size());
    EXPECT_EQ(l.node_count(), nodes.size());
    Cells found_cells;
    std::set<Key> found_nodes, blocks;
    for (size_t b = 0; b < l.block_count(); ++b) {
      EXPECT_TRUE(blocks.insert(key(l.blocks[b])).second) << "a block twice";
      EXPECT_NE(l.nodes[b], 0u) << "a block without nodes";
      for (int32_t n = 0; n < 64; ++n) {
        const Vec3i at = l.coordinates(static_cast<int32_t>(b), n);
        EXPECT_EQ(l.has_cell(at), (l.cells[b] >> n & 1) != 0);
        if (l.cells[b] >> n & 1) found_cells.insert(key(at));
        if (l.nodes[b] >> n & 1) found_nodes.insert(key(at));
      }
    }
    EXPECT_EQ(found_cells, cells);
    EXPECT_EQ(found_nodes, nodes);
  }
}

TEST(SparseLattice, FindsPlacesAndCorners) {
  for (const Cells& cells : many_sets()) {
    const SparseLattice l = lattice_of(cells);
    for (const Key& node : nodes_of(cells)) {
      const LatticePlace at = l.place(vec(node));
      ASSERT_GE(at.block, 0);
      EXPECT_EQ(key(l.blocks[static_cast<size_t>(at.block)]), block_of(node));
      EXPECT_EQ(at.local, local_of(node));
      EXPECT_EQ(key(l.coordinates(at.block, at.local)), node);
    }
    for (const Key& cell : cells) {
      const LatticePlace at = l.place(vec(cell));
      const auto corners = l.corners(at.block, at.local);
      for (int i = 0; i < 8; ++i) {
        const LatticePlace& c = corners[static_cast<size_t>(i)];
        EXPECT_EQ(l.coordinates(c.block, c.local), vec(cell) + Vec3i(i & 1, i >> 1 & 1, i >> 2));
      }
    }
    EXPECT_EQ(l.place({50000, 50000, 50000}).block, -1);
    EXPECT_FALSE(l.has_cell({50000, 50000, 50000}));
    EXPECT_FALSE(l.has_cell({-50000, 2, 3}));
  }
}

TEST(SparseLattice, OrderOfTheInputDoesNotMatter) {
  const Cells cells = random_cells(7, -20, 20, 0.1);
  const SparseLattice a = lattice_of(cells, 1), b = lattice_of(cells, 2);
  EXPECT_EQ(a.blocks, b.blocks);
  EXPECT_EQ(a.cells, b.cells);
  EXPECT_EQ(a.upper, b.upper);
  EXPECT_EQ(a.targets, b.targets);
  EXPECT_EQ(a.incoming, b.incoming);
  // The other constructor: blocks with bits, empty ones among them.
  std::vector<Vec3i> blocks = a.blocks;
  std::vector<uint64_t> bits = a.cells;
  std::reverse(blocks.begin(), blocks.end());
  std::reverse(bits.begin(), bits.end());
  const SparseLattice c(blocks, bits);
  EXPECT_EQ(a.blocks, c.blocks);
  EXPECT_EQ(a.nodes, c.nodes);
  EXPECT_EQ(a.cell_slots, c.cell_slots);
}

TEST(SparseLattice, TilesSlotsAndNeighboursAreThoseOfTheCoordinates) {
  for (const Cells& cells : many_sets()) {
    const SparseLattice l = lattice_of(cells);
    ASSERT_EQ(l.tiles.front(), 0u);
    ASSERT_EQ(l.tiles.back(), l.block_count());
    const auto tile = [&](size_t b) { return tile_of(key(l.blocks[b] * 4), l.slot_count); };
    std::map<Key, int32_t> numbers;
    std::set<Key> busy, seen;
    for (size_t b = 0; b < l.block_count(); ++b) {
      numbers.emplace(key(l.blocks[b]), static_cast<int32_t>(b));
      if (l.cells[b] != 0) busy.insert(tile(b));
    }
    for (size_t t = 0; t < l.tile_count(); ++t) {
      ASSERT_LT(l.tiles[t], l.tiles[t + 1]);
      const Key own = tile(l.tiles[t]);
      EXPECT_TRUE(seen.insert(own).second) << "a tile twice";
      EXPECT_TRUE(busy.contains(own)) << "a tile without cells";
      for (size_t b = l.tiles[t]; b < l.tiles[t + 1]; ++b) {
        if (tile(b) == own) continue;
        // Only nodes, of a tile that has no cells; cells of the own tile touch them.
        EXPECT_EQ(l.cells[b], 0u);
        EXPECT_FALSE(busy.contains(tile(b)));
        bool touched = false;
        for (int d = 1; d < 8; ++d) {
          const auto below = numbers.find(key(l.blocks[b] - Vec3i(d & 1, d >> 1 & 1, d >> 2)));
          touched |= below != numbers.end() && l.cells[static_cast<size_t>(below->second)] != 0 &&
                     tile(static_cast<size_t>(below->second)) == own;
        }
        EXPECT_TRUE(touched);
      }
    }
    EXPECT_EQ(seen, busy);
    int32_t slot = 0;
    for (size_t b = 0; b < l.block_count(); ++b) {
      EXPECT_EQ(l.cell_slots[b], l.cells[b] != 0 ? slot++ : -1);
      for (int d = 0; d < 8; ++d) {
        const Vec3i next = l.blocks[b] + Vec3i(d & 1, d >> 1 & 1, d >> 2);
        const auto found = numbers.find(key(next));
        EXPECT_EQ(l.upper[b][static_cast<size_t>(d)],
                  found == numbers.end() ? static_cast<int32_t>(l.block_count()) : found->second);
      }
    }
    EXPECT_EQ(l.slot_count, static_cast<size_t>(slot));
  }
}

TEST(SparseLattice, RowsAreTheBlocksOfATileWithTheSameY) {
  for (const Cells& cells : many_sets()) {
    const SparseLattice l = lattice_of(cells);
    ASSERT_EQ(l.row_offsets.size(), l.tiles.size());
    for (size_t t = 0; t < l.tile_count(); ++t) {
      EXPECT_EQ(l.rows[l.row_offsets[t]].block, l.tiles[t]);
      EXPECT_EQ(l.rows[l.row_offsets[t]].ghost, l.ghost_offsets[t]);
      for (size_t r = l.row_offsets[t]; r < l.row_offsets[t + 1]; ++r) {
        const TileRow &row = l.rows[r], &next = l.rows[r + 1];
        ASSERT_LT(row.block, next.block);
        const int32_t y = l.blocks[row.block][1];
        for (size_t b = row.block; b < next.block; ++b) EXPECT_EQ(l.blocks[b][1], y);
        if (r + 1 < l.row_offsets[t + 1]) {
          EXPECT_LT(y, l.blocks[next.block][1]);
        }
        size_t full = 0, in_columns = 0;
        for (size_t b = row.block; b < next.block; ++b) full += l.cells[b] != 0;
        for (size_t c = row.column; c < next.column; ++c) {
          EXPECT_GE(l.columns[c].block, row.block);
          EXPECT_LE(l.columns[c].block + l.columns[c].height, next.block);
          in_columns += l.columns[c].height;
        }
        EXPECT_EQ(in_columns, full);
      }
    }
    EXPECT_EQ(l.rows.back().block, l.block_count());
    EXPECT_EQ(l.rows.back().column, l.columns.size());
    EXPECT_EQ(l.rows.back().ghost, l.ghosts.size());
  }
}

// All blocks that hold corners of a tile's cells are asked for once, three blocks with cells before
// the first one that needs them, or two where it only needs them above itself; with the tile's
// first block where there are not so many before.
TEST(SparseLattice, NodesAreAskedForBeforeTheyAreRead) {
  for (const Cells& cells : many_sets()) {
    const SparseLattice l = lattice_of(cells);
    ASSERT_EQ(l.asked_offsets.size(), l.block_count() + 1);
    EXPECT_EQ(l.asked_offsets.back(), l.asked.size());
    size_t total = 0;
    for (size_t t = 0; t < l.tile_count(); ++t) {
      std::vector<uint32_t> visited;
      std::map<uint32_t, std::pair<size_t, bool>> first;  // which visit, and whether above it
      for (uint32_t b = l.tiles[t]; b < l.tiles[t + 1]; ++b) {
        if (l.cells[b] == 0) continue;
        for (int z = 0; z < 2; ++z)
          for (int y = 0; y < 2; ++y)
            for (int x = 0; x < 2; ++x) {
              const int32_t u = l.find_block(l.blocks[b] + Vec3i(x, y, z));
              if (u >= 0) first.try_emplace(static_cast<uint32_t>(u), visited.size(), z == 1);
            }
        visited.push_back(b);
      }
      std::multimap<uint32_t, uint32_t> asked;
      for (uint32_t b = l.tiles[t]; b < l.tiles[t + 1]; ++b)
        for (uint32_t i = l.asked_offsets[b]; i < l.asked_offsets[b + 1]; ++i)
          asked.emplace(l.asked[i], b);
      total += asked.size();
      ASSERT_EQ(asked.size(), first.size());
      for (const auto& [block, need] : first) {
        const size_t before = need.second ? 2 : 3;
        const size_t at = need.first >= before ? need.first - before : 0;
        ASSERT_EQ(asked.count(block), 1u);
        EXPECT_EQ(asked.find(block)->second, visited[at]);
      }
    }
    EXPECT_EQ(total, l.asked.size());
  }
}

// Every cell adds a number to each of its corners by way of targets, ghosts and incoming lists, row
// by row, with ghosts in places that are used again and again; the sums must be those of a plain
// loop, for any numbers.
TEST(SparseLattice, SumsByWayOfGhostsAreThePlainOnes) {
  for (const Cells& cells : many_sets()) {
    const SparseLattice l = lattice_of(cells);
    const auto number = [](const Key& cell, int corner) {
      return static_cast<int64_t>(cell[0]) * 31 + cell[1] * 1009 + cell[2] * 7919 + corner * 57;
    };
    std::map<Key, int64_t> expected;
    std::vector<std::array<int64_t, 64>> sums(l.block_count());
    for (auto& s : sums) s.fill(0);
    std::vector<std::array<int64_t, 64>> ghosts(l.ghosts.size());
    std::vector<std::array<int64_t, 64>> places(static_cast<size_t>(ghost_places));
    std::vector<int64_t> owners(static_cast<size_t>(ghost_places), -1);
    const auto open_row = [&](size_t r) {
      for (uint32_t g = l.rows[r].ghost; g < l.rows[r + 1].ghost; ++g) {
        ASSERT_LT(l.ghosts[g].place, ghost_places);
        ASSERT_EQ(owners[l.ghosts[g].place], -1) << "two ghosts at the same place";
        owners[l.ghosts[g].place] = g;
        places[l.ghosts[g].place].fill(0);
      }
    };
    for (size_t t = 0; t < l.tile_count(); ++t) {
      open_row(l.row_offsets[t]);
      for (size_t r = l.row_offsets[t]; r < l.row_offsets[t + 1]; ++r) {
        const bool is_last = r + 1 == l.row_offsets[t + 1];
        if (!is_last) open_row(r + 1);
        // A row's cells add to it and the next one alone.
        const size_t open_end = l.rows[is_last ? r + 1 : r + 2].block;
        for (size_t b = l.rows[r].block; b < l.rows[r + 1].block; ++b)
          for (int32_t n = 0; n < 64; ++n) {
            if (!(l.cells[b] >> n & 1)) continue;
            const Key cell = key(l.coordinates(static_cast<int32_t>(b), n));
            for (int i = 0; i < 8; ++i) {
              const Key node = {cell[0] + (i & 1), cell[1] + (i >> 1 & 1), cell[2] + (i >> 2)};
              expected[node] += number(cell, i);
              const Key from = block_of(cell), to = block_of(node);
              const auto d = static_cast<size_t>((to[0] - from[0]) | (to[1] - from[1]) << 1 |
                                                 (to[2] - from[2]) << 2);
              const int32_t target = l.targets[b][d];
              ASSERT_NE(target, ~ghost_places) << "a sum would be lost";
              const auto local = static_cast<size_t>(local_of(node));
              if (target >= 0) {
                ASSERT_GE(target, static_cast<int32_t>(l.rows[r].block));
                ASSERT_LT(target, static_cast<int32_t>(open_end));
                sums[static_cast<size_t>(target)][local] += number(cell, i);
              } else {
                const auto place = static_cast<size_t>(~target);
                ASSERT_NE(owners[place], -1) << "a ghost that is not open";
                ASSERT_EQ(key(l.blocks[static_cast<size_t>(
                              l.ghosts[static_cast<size_t>(owners[place])].block)]),
                          to);
                places[place][local] += number(cell, i);
              }
            }
          }
        for (uint32_t g = l.rows[r].ghost; g < l.rows[r + 1].ghost; ++g) {
          ghosts[g] = places[l.ghosts[g].place];
          owners[l.ghosts[g].place] = -1;
        }
      }
    }
    // Owners add the faces they were left.
    size_t added = 0;
    for (size_t b = 0; b < l.block_count(); ++b)
      for (uint32_t e = l.incoming_offsets[b]; e < l.incoming_offsets[b + 1]; ++e, ++added) {
        const uint32_t g = l.incoming[e];
        if (e > l.incoming_offsets[b]) {
          EXPECT_LT(l.incoming[e - 1], g);
        }
        ASSERT_EQ(l.ghosts[g].block, static_cast<int32_t>(b));
        for (int32_t n = 0; n < 64; ++n) {
          const int32_t along[3] = {n & 3, n >> 2 & 3, n >> 4};
          const int64_t value = ghosts[g][static_cast<size_t>(n)];
          if (along[l.ghosts[g].axis] == 0)
            sums[b][static_cast<size_t>(n)] += value;
          else {
            EXPECT_EQ(value, 0) << "a ghost has more than its face";
          }
        }
      }
    EXPECT_EQ(added, l.ghosts.size());
    for (size_t b = 0; b < l.block_count(); ++b)
      for (int32_t n = 0; n < 64; ++n) {
        const auto found = expected.find(key(l.coordinates(static_cast<int32_t>(b), n)));
        EXPECT_EQ(sums[b][static_cast<size_t>(n)], found == expected.end() ? 0 : found->second);
      }
  }
}

TEST(SparseLattice, NothingIsALattice) {
  const SparseLattice none, empty{std::span<const Vec3i>()};
  for (const SparseLattice* l : {&none, &empty}) {
    EXPECT_EQ(l->block_count(), 0u);
    EXPECT_EQ(l->tile_count(), 0u);
    EXPECT_EQ(l->cell_count(), 0u);
    EXPECT_EQ(l->place({0, 0, 0}).block, -1);
  }
}

TEST(MoveBits, LandInTheBlocksOfTheMovedCells) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    const uint64_t bits = trial < 64 ? uint64_t{1} << trial : random() & random();
    for (int d = 0; d < 8; ++d) {
      std::array<uint64_t, 8> expected = {};
      for (int n = 0; n < 64; ++n) {
        if (!(bits >> n & 1)) continue;
        const Key moved = {(n & 3) + (d & 1), (n >> 2 & 3) + (d >> 1 & 1), (n >> 4) + (d >> 2)};
        const Key block = block_of(moved);
        expected[static_cast<size_t>(block[0] | block[1] << 1 | block[2] << 2)] |=
            uint64_t{1} << local_of(moved);
      }
      EXPECT_EQ(move_bits(bits, d), expected) << std::hex << bits << " " << d;
    }
  }
}

TEST(FloorDiv, RoundsDown) {
  for (int32_t a = -40; a <= 40; ++a)
    for (int32_t b = 1; b <= 9; ++b) EXPECT_EQ(floor_div(a, b), down(a, b)) << a << " " << b;
}

}  // namespace
}  // namespace supple
