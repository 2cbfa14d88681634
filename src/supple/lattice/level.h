// One level of the multigrid hierarchy: a lattice, its linearised elasticity, and the products with
// it. All loops run on all threads and give the same bits for any number of them.
#pragma once

#include <atomic>

#include "supple/core/cache_line.h"
#include "supple/lattice/block_vector.h"
#include "supple/lattice/extra_cells.h"
#include "supple/lattice/transfer_kernels.h"
#include "supple/lattice/vector_kernels.h"
#include "supple/material/differential.h"

namespace supple {

/// A lattice with linearised elasticity, fixed nodes, springs and masses.
class Level {
 public:
  /// `spacing` is the side of a cell in metres; all nodes are free, without material.
  Level(SparseLattice lattice, double spacing);

  const SparseLattice& lattice() const { return m_lattice; }
  double spacing() const { return m_spacing; }

  /// y = A x, 0 at fixed nodes; returns xᵀ A x.
  template <class Scalar>
  double product(const BlockVector<Scalar>& x, BlockVector<Scalar>& y) const;

  /// y = b - A x, 0 at fixed nodes; returns |y|².
  template <class Scalar>
  double residual(const BlockVector<Scalar>& b, const BlockVector<Scalar>& x,
                  BlockVector<Scalar>& y) const;

  /// direction = momentum direction + weight D⁻¹ (b - A x), x += direction; `sums` is scratch.
  void smooth(const SmoothStep& step, const BlockVector<float>& x, BlockVector<float>& sums) const;

  /// Starts D⁻¹ with the linearisation of a tile's cells, which `linearise` makes row by row.
  void start_diagonal(size_t tile, RowCall linearise);

  /// Sets D⁻¹ from what was started for all tiles, springs, matrices and masses.
  void finish_diagonal();

  /// The element matrix of a cell from its linearisation, in newtons per metre.
  CellMatrix cell_matrix(LatticePlace cell) const;

  std::vector<uint64_t> free;     ///< one bit per node that may move, per block
  AlignedArray<float> materials;  ///< mu h / 8 and lambda h / 16 per cell, material_block per slot
  AlignedArray<float> cells;      ///< linearisations, cell_block per slot
  AlignedArray<float> rest_traces;  ///< traces of S without pressure, 64 per slot; empty for 3
  /// What cells' deformation gradients are multiplied with on the right, where cells are stretched
  /// in the body's rest shape: xx yy zz yz xz xy of 64 cells, stretch_block per slot; empty for
  /// none. The linearised operator leaves it out but for rotations and stiffness.
  AlignedArray<float> rest_stretches;
  AlignedArray<float> point_rests;  ///< the same of the eight points of each cell; empty for 3
  AlignedArray<float> gradients;    ///< mean deformation gradients; empty on the finest level
  AlignedArray<float> masses;       ///< added to the diagonal, one per node; empty for none
  ExtraCells extras;
  float hourglass = 1;        ///< 0 for plain one-point quadrature
  bool eight_points = false;  ///< every cell has a matrix, of eight-point quadrature
  float inversion = 0;        ///< what cells inside out have against it, in units of 2 mu + lambda
  float flat = 0;             ///< how thin they are where that begins, of their thickness at rest
  /// So many blocks with cells make products so large that they are gone from the cache before they
  /// are read; they are then written past it.
  size_t streams_from = 8192;
  /// Lattices of fewer blocks with cells are in the cache: asking for nodes ahead only takes time.
  size_t asks_from = 1024;
  BlockVector<float> inverse_diagonal;
  double largest_eigenvalue = 2;  ///< of D⁻¹ A, an estimate

  BlockVector<float> x, b, direction, sums;  ///< work vectors of the cycle
  TransferPlan transfer;                     ///< to the next coarser level

 private:
  // Where the sums of a row are until they are finished: beside y, which is written past the cache
  // or not, or in y.
  enum class SumPlace { beside, beside_streamed, in_place };
  template <class Scalar, class Finish>
  class Sweep;
  template <class Scalar, class Finish>
  double sweep(const BlockVector<Scalar>& x, BlockVector<Scalar>& y,
               std::array<const void*, 4> needed, const Finish& finish,
               SumPlace place = SumPlace::beside) const;
  template <class Scalar>
  FinishInput<Scalar> finish_input(const Scalar* x) const;
  template <class Scalar>
  AlignedArray<Scalar>& ghosts() const;

  // Blocks of a row of a tile that lie together among its sums and either all get sums from other
  // tiles, or none. Always the same, as what is summed over them depends on it.
  struct SumRun {
    uint32_t begin = 0, end = 0;
    bool late = false;
  };

  // How many passes there were. What lies beside it would go from thread to thread with it.
  struct alignas(cache_line) PassCount {
    int64_t count = 0;
  };
  // Numbers of passes, each of which has a cache line of its own, as other threads look at it.
  struct alignas(cache_line) PassFlag {
    std::atomic<int64_t> pass{0};
  };
  // A tile whose late blocks are left to the last of the tiles they wait for.
  struct alignas(cache_line) HandedTile {
    std::atomic<int64_t> handed{0}, taken{0};  // passes in which it was
  };
  // What the late blocks of a row sum up to, once they are finished.
  struct LateSum {
    double sum = 0;
    bool done = false;
  };
  static constexpr size_t sums_line = cache_line / sizeof(LateSum);

  void plan_tiles();
  void plan_rows();
  void plan_runs();

  SparseLattice m_lattice;
  SweepPlan m_plan;  // the lattice's tables
  double m_spacing;
  // Tiles that get sums from a tile; the other way round.
  std::vector<uint32_t> m_receivers, m_receiver_offsets{0}, m_senders, m_sender_offsets{0};
  // Rows of other tiles that late blocks of a row wait for.
  std::vector<uint32_t> m_awaited, m_awaited_offsets{0};
  mutable PassCount m_passes;
  mutable std::vector<PassFlag> m_swept;     // per row: the last pass its cells were visited in
  mutable std::vector<HandedTile> m_handed;  // per tile
  // Tile by tile from where each one begins, at a cache line too: what the blocks that are not late
  // sum up to, then the late ones row by row.
  mutable AlignedArray<LateSum> m_tile_sums;
  std::vector<size_t> m_sum_offsets{0};
  mutable AlignedArray<float> m_ghosts;
  mutable AlignedArray<double> m_double_ghosts;
  std::vector<SumRun> m_runs;              // row by row
  std::vector<uint32_t> m_run_offsets{0};  // first run of every row, and the total
  std::vector<uint32_t> m_rings;           // per tile: as sums_ring() says
};

/// Sum over blocks of a partial result per range of blocks, in fixed order.
template <class Map>
double sum_over_blocks(size_t blocks, const Map& map) {
  return parallel_reduce(blocks, blocks_per_range, 0.0, map,
                         [](double a, double b) { return a + b; });
}

/// Sum of a · b.
template <class Scalar>
double dot(const BlockVector<Scalar>& a, const BlockVector<Scalar>& b) {
  return sum_over_blocks(a.blocks(), [&](size_t begin, size_t end) {
    return dot_range(a.data(), b.data(), begin * vector_block, end * vector_block);
  });
}

/// Sum of a · b for vectors of the same or of different precision.
inline double dot_mixed(const BlockVector<float>& a, const BlockVector<float>& b) {
  return dot(a, b);
}
double dot_mixed(const BlockVector<double>& a, const BlockVector<float>& b);

/// y = D⁻¹ x, for the inverse of a diagonal; returns x · y.
double multiply(const BlockVector<float>& inverse_diagonal, const BlockVector<float>& x,
                BlockVector<float>& y);

/// y += factor x.
template <class Scalar, class Other>
void add_scaled(Scalar factor, const BlockVector<Other>& x, BlockVector<Scalar>& y) {
  parallel_for(x.blocks(), blocks_per_range, [&](size_t begin, size_t end) {
    add_scaled_range(factor, x.data(), y.data(), begin * vector_block, end * vector_block);
  });
}

/// y += factor x; returns |y|².
template <class Scalar>
double add_scaled_norm(Scalar factor, const BlockVector<Scalar>& x, BlockVector<Scalar>& y) {
  return sum_over_blocks(x.blocks(), [&](size_t begin, size_t end) {
    return add_scaled_norm_range(factor, x.data(), y.data(), begin * vector_block,
                                 end * vector_block);
  });
}

/// y = x + factor y.
template <class Scalar, class Other>
void scale_add(const BlockVector<Other>& x, Scalar factor, BlockVector<Scalar>& y) {
  parallel_for(x.blocks(), blocks_per_range, [&](size_t begin, size_t end) {
    scale_add_range(x.data(), factor, y.data(), begin * vector_block, end * vector_block);
  });
}

}  // namespace supple
