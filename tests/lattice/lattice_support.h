// Small lattices and states for tests of the lattice body.
#pragma once

#include <random>

#include "supple/lattice/lattice_system.h"

namespace supple::testing {

/// A box of cells with one corner at the origin.
inline std::vector<Vec3i> box_cells(int nx, int ny, int nz) {
  std::vector<Vec3i> cells;
  for (int z = 0; z < nz; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) cells.emplace_back(x, y, z);
  return cells;
}

/// A ragged set of cells that reaches over blocks, tiles and negative coordinates.
inline std::vector<Vec3i> ragged_cells(uint32_t seed, int size, double fill) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> chance(0, 1);
  std::vector<Vec3i> cells;
  for (int z = -3; z < size; ++z)
    for (int y = -2; y < size; ++y)
      for (int x = -5; x < size; ++x)
        if (chance(random) < fill) cells.emplace_back(x, y, z);
  return cells;
}

/// Calls visit(place, coordinates) for every node.
template <class Visit>
void for_nodes(const SparseLattice& l, const Visit& visit) {
  for (size_t b = 0; b < l.block_count(); ++b)
    for (int32_t n = 0; n < 64; ++n)
      if (l.nodes[b] >> n & 1)
        visit(LatticePlace{static_cast<int32_t>(b), n}, l.coordinates(static_cast<int32_t>(b), n));
}

/// Moves every node by numbers between -amount and amount.
inline void shake(const SparseLattice& l, double amount, uint32_t seed, BlockVector<double>& x) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> part(-amount, amount);
  for_nodes(l, [&](LatticePlace at, const Vec3i&) {
    x.set(at, x.at(at) + Vec3d(part(random), part(random), part(random)));
  });
}

}  // namespace supple::testing
