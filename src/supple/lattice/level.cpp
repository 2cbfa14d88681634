#include "supple/lattice/level.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <span>

#include "supple/lattice/elasticity_kernels.h"
#include "supple/math/streaming.h"

namespace supple {

template <>
AlignedArray<float>& Level::ghosts<float>() const {
  m_ghosts.resize(m_lattice.ghosts.size() * ghost_record);
  return m_ghosts;
}

template <>
AlignedArray<double>& Level::ghosts<double>() const {
  m_double_ghosts.resize(m_lattice.ghosts.size() * ghost_record);
  return m_double_ghosts;
}

Level::Level(SparseLattice lattice, double spacing)
    : m_lattice(std::move(lattice)), m_spacing(spacing) {
  const size_t blocks = m_lattice.block_count(), slots = m_lattice.slot_count;
  free = m_lattice.nodes;
  materials.assign(slots * material_block, 0);
  cells.assign(slots * cell_block, 0);
  inverse_diagonal = x = b = direction = sums = BlockVector<float>(blocks);
  ghosts<float>();
  plan_tiles();
}

void Level::plan_tiles() {
  const size_t tiles = m_lattice.tile_count();
  const auto tile_of = [&](int32_t block) {
    const auto after = std::upper_bound(m_lattice.tiles.begin(), m_lattice.tiles.end(),
                                        static_cast<uint32_t>(block));
    return static_cast<uint32_t>(after - m_lattice.tiles.begin() - 1);
  };
  std::vector<std::vector<uint32_t>> senders(tiles);
  for (uint32_t t = 0; t < tiles; ++t) {
    std::vector<uint32_t> to = {t};
    for (uint32_t g = m_lattice.ghost_offsets[t]; g < m_lattice.ghost_offsets[t + 1]; ++g)
      to.push_back(tile_of(m_lattice.ghosts[g].block));
    std::sort(to.begin(), to.end());
    to.erase(std::unique(to.begin(), to.end()), to.end());
    for (const uint32_t r : to)
      if (r != t) senders[r].push_back(t);
    m_receivers.insert(m_receivers.end(), to.begin(), to.end());
    m_receiver_offsets.push_back(static_cast<uint32_t>(m_receivers.size()));
  }
  for (const std::vector<uint32_t>& from : senders) {
    m_senders.insert(m_senders.end(), from.begin(), from.end());
    m_sender_offsets.push_back(static_cast<uint32_t>(m_senders.size()));
  }
  m_waiting = std::vector<std::atomic<uint32_t>>(tiles);
  m_done = std::vector<std::atomic<int32_t>>(tiles);
  m_late_sums.assign(m_lattice.rows.size(), 0);
  m_late_done.assign(m_lattice.rows.size(), 0);
  plan_runs();
}

void Level::plan_runs() {
  const SweepPlan plan = sweep_plan(m_lattice);
  const auto& incoming = m_lattice.incoming_offsets;
  const auto is_late = [&](uint32_t b) { return incoming[b] != incoming[b + 1]; };
  for (size_t t = 0; t < m_lattice.tile_count(); ++t) {
    const uint32_t first = m_lattice.tiles[t];
    m_rings.push_back(static_cast<uint32_t>(sums_ring(plan, t)));
    for (uint32_t r = m_lattice.row_offsets[t]; r < m_lattice.row_offsets[t + 1]; ++r) {
      const uint32_t end = m_lattice.rows[r + 1].block;
      for (uint32_t b = m_lattice.rows[r].block; b < end; b = m_runs.back().end) {
        SumRun run = {b, b + 1, is_late(b)};
        const uint32_t stop = std::min(end, b + m_rings[t] - (b - first) % m_rings[t]);
        while (run.end < stop && is_late(run.end) == run.late) ++run.end;
        m_runs.push_back(run);
      }
      m_run_offsets.push_back(static_cast<uint32_t>(m_runs.size()));
    }
  }
}

template <class Scalar>
FinishInput<Scalar> Level::finish_input(const Scalar* from) const {
  return {m_lattice.incoming_offsets.data(),
          m_lattice.incoming.data(),
          m_lattice.ghosts.data(),
          ghosts<Scalar>().data(),
          free.data(),
          masses.empty() ? nullptr : masses.data(),
          from};
}

// The sums of a pass over the cells, then finish(input, begin, end) for all blocks, as early as can
// be, while they are in the cache: with their row for those that get nothing from other tiles, and
// for the others, which are late, once all tiles that add to them, and read x there, are through
// with rows up to theirs. That is looked at after each row, and for what is left then, by the last
// of those tiles. Adds up what finish returns, in a fixed order.
template <class Scalar, class Finish>
class Level::Sweep {
 public:
  Sweep(const Level& level, const BlockVector<Scalar>& from, BlockVector<Scalar>& y,
        std::array<const void*, 4> needed, const Finish& finish, SumPlace place)
      : m_level(level),
        m_lattice(level.m_lattice),
        m_from(from),
        m_y(y),
        m_finish(finish),
        m_in_place(place == SumPlace::in_place),
        m_streams(place == SumPlace::beside_streamed),
        m_at_once(level.extras.empty()),
        m_plan(sweep_plan(level.m_lattice)),
        m_input(level.finish_input(from.data())),
        m_ghosts(level.ghosts<Scalar>().data()) {
    m_plan.later = needed;
    m_plan.asks = m_lattice.slot_count >= level.asks_from;
  }

  double run() {
    const size_t tiles = m_lattice.tile_count();
    for (size_t t = 0; t < tiles; ++t) await_senders(t);
    const double early = parallel_reduce(
        tiles, 1, 0.0, [&](size_t t, size_t) { return sweep_tile(t); },
        [](double a, double b) { return a + b; });
    if (m_at_once)
      return std::accumulate(m_level.m_late_sums.begin(), m_level.m_late_sums.end(), early);
    m_level.extras.add_product(m_lattice, m_from.data(), m_y.data());
    return sum_over_blocks(m_lattice.block_count(),
                           [&](size_t begin, size_t end) { return m_finish(m_input, begin, end); });
  }

 private:
  // A tile that is gone through: where its sums are, and what its blocks that are not late give.
  struct Tile {
    size_t number;
    size_t ring;
    Scalar* sums;
    FinishInput<Scalar> input;
    double sum = 0;
  };

  void await_senders(size_t t) {
    m_level.m_waiting[t].store(m_level.m_sender_offsets[t + 1] - m_level.m_sender_offsets[t] + 1,
                               std::memory_order_relaxed);
    m_level.m_done[t].store(std::numeric_limits<int32_t>::min(), std::memory_order_relaxed);
  }

  double sweep_tile(size_t t) {
    thread_local AlignedArray<Scalar> scratch;
    const size_t first = m_lattice.tiles[t];
    Tile tile{t, m_level.m_rings[t], m_y.data() + first * vector_block, m_input};
    SweepOutput<Scalar> out{.ghosts = m_ghosts};
    if (!m_in_place) {
      scratch.resize(tile.ring * vector_block);
      tile.sums = tile.input.sums = scratch.data();
      tile.input.streams = m_streams;
      out.ring = tile.ring;
    }
    const auto finish = [&](const TileRow* row) { finish_row(tile, row); };
    out.sums = tile.sums;
    out.done = row_call(finish);
    apply_tile(m_plan, t, m_level.cells.data(), m_level.hourglass, m_from.data(), out);
    if (m_streams) flush_streamed();
    if (m_at_once) release_receivers(t);
    return tile.sum;
  }

  // Finishes a row of a tile whose sums are complete but for what other tiles may still add.
  void finish_row(Tile& tile, const TileRow* row) {
    m_level.m_done[tile.number].store(m_lattice.blocks[row->block][1], std::memory_order_release);
    const auto number = static_cast<size_t>(row - m_lattice.rows.data());
    const size_t first = m_lattice.tiles[tile.number];
    const bool ready = m_at_once && is_ready(tile.number, row);
    double& late_sum = m_level.m_late_sums[number] = 0;
    m_level.m_late_done[number] = ready ? 1 : 0;
    for (const SumRun& run : runs_of(number)) {
      const size_t first_sum = run.begin - (run.begin - first) % tile.ring;
      tile.input.first_sum = first_sum;
      if (m_at_once && (ready || !run.late))
        (run.late ? late_sum : tile.sum) += m_finish(tile.input, run.begin, run.end);
      else if (!m_in_place)
        std::memcpy(m_y.data() + run.begin * vector_block,
                    tile.sums + (run.begin - first_sum) * vector_block,
                    (run.end - run.begin) * vector_block * sizeof(Scalar));
    }
    // What this row was to wait for those before it have waited for too.
    if (ready) finish_late(m_lattice.row_offsets[tile.number], number);
  }

  // Whether all that tile t gets from others up to a row of it is there.
  bool is_ready(size_t t, const TileRow* row) const {
    const int32_t height = m_lattice.blocks[row->block][1];
    const auto senders = m_level.m_senders.begin();
    return std::all_of(senders + m_level.m_sender_offsets[t],
                       senders + m_level.m_sender_offsets[t + 1], [&](uint32_t sender) {
                         return m_level.m_done[sender].load(std::memory_order_acquire) >= height;
                       });
  }

  // Says that a tile is done, and finishes what waited for it alone.
  void release_receivers(size_t t) {
    m_level.m_done[t].store(std::numeric_limits<int32_t>::max(), std::memory_order_release);
    for (uint32_t r = m_level.m_receiver_offsets[t]; r < m_level.m_receiver_offsets[t + 1]; ++r) {
      const uint32_t to = m_level.m_receivers[r];
      if (m_level.m_waiting[to].fetch_sub(1, std::memory_order_acq_rel) == 1)
        finish_late(m_lattice.row_offsets[to], m_lattice.row_offsets[to + 1]);
    }
  }

  // Finishes late blocks of rows [begin, end) of a tile that are waiting for it.
  void finish_late(size_t begin, size_t end) {
    for (size_t r = begin; r < end; ++r) {
      if (m_level.m_late_done[r] != 0) continue;
      m_level.m_late_done[r] = 1;
      for (const SumRun& run : runs_of(r))
        if (run.late) m_level.m_late_sums[r] += m_finish(m_input, run.begin, run.end);
    }
  }

  std::span<const SumRun> runs_of(size_t row) const {
    return std::span(m_level.m_runs)
        .subspan(m_level.m_run_offsets[row],
                 m_level.m_run_offsets[row + 1] - m_level.m_run_offsets[row]);
  }

  const Level& m_level;
  const SparseLattice& m_lattice;
  const BlockVector<Scalar>& m_from;
  BlockVector<Scalar>& m_y;
  const Finish& m_finish;
  bool m_in_place, m_streams;
  bool m_at_once;  // blocks are finished with their rows, as no springs or matrices add to them
  SweepPlan m_plan;
  FinishInput<Scalar> m_input;
  Scalar* m_ghosts;
};

template <class Scalar, class Finish>
double Level::sweep(const BlockVector<Scalar>& from, BlockVector<Scalar>& y,
                    std::array<const void*, 4> needed, const Finish& finish, SumPlace place) const {
  return Sweep<Scalar, Finish>(*this, from, y, needed, finish, place).run();
}

template <class Scalar>
double Level::product(const BlockVector<Scalar>& from, BlockVector<Scalar>& y) const {
  const bool streams = m_lattice.slot_count >= streams_from;
  return sweep(
      from, y, {streams ? nullptr : y.data()},
      [&](const FinishInput<Scalar>& input, size_t begin, size_t end) {
        return finish_product(input, begin, end, y.data());
      },
      streams ? SumPlace::beside_streamed : SumPlace::in_place);
}
template double Level::product(const BlockVector<float>&, BlockVector<float>&) const;
template double Level::product(const BlockVector<double>&, BlockVector<double>&) const;

template <class Scalar>
double Level::residual(const BlockVector<Scalar>& right, const BlockVector<Scalar>& from,
                       BlockVector<Scalar>& y) const {
  return sweep(from, y, {right.data(), y.data()},
               [&](const FinishInput<Scalar>& input, size_t begin, size_t end) {
                 return finish_residual(input, begin, end, right.data(), y.data());
               });
}
template double Level::residual(const BlockVector<float>&, const BlockVector<float>&,
                                BlockVector<float>&) const;
template double Level::residual(const BlockVector<double>&, const BlockVector<double>&,
                                BlockVector<double>&) const;

void Level::smooth(const SmoothStep& step, const BlockVector<float>& from,
                   BlockVector<float>& y) const {
  sweep(from, y, {step.b, step.inverse_diagonal, step.direction},
        [&](const FinishInput<float>& input, size_t begin, size_t end) {
          finish_smoothing(input, begin, end, step, y.data());
          return 0.0;
        });
}

void Level::start_diagonal(size_t tile, RowCall linearise) {
  diagonal_tile(sweep_plan(m_lattice), tile, cells.data(), hourglass,
                {.sums = inverse_diagonal.data() + m_lattice.tiles[tile] * vector_block,
                 .ghosts = m_ghosts.data(),
                 .starts = linearise});
}

void Level::finish_diagonal() {
  extras.add_diagonal(m_lattice, inverse_diagonal.data());
  const FinishInput<float> input = finish_input<float>(nullptr);
  parallel_for(m_lattice.block_count(), blocks_per_range, [&](size_t begin, size_t end) {
    supple::finish_diagonal(input, begin, end, inverse_diagonal.data());
  });
}

double dot_mixed(const BlockVector<double>& a, const BlockVector<float>& b) {
  return sum_over_blocks(a.blocks(), [&](size_t begin, size_t end) {
    double sum = 0;
    for (size_t i = begin * vector_block; i < end * vector_block; ++i)
      sum += a[i] * static_cast<double>(b[i]);
    return sum;
  });
}

double multiply(const BlockVector<float>& inverse_diagonal, const BlockVector<float>& from,
                BlockVector<float>& y) {
  const SmoothStep step{
      .b = from.data(), .inverse_diagonal = inverse_diagonal.data(), .x = y.data(), .weight = 1};
  return sum_over_blocks(from.blocks(), [&](size_t begin, size_t end) {
    return start_smoothing(step, begin * vector_block, end * vector_block);
  });
}

// Corner blocks K_ij = c_ij I + R (lambda s_i s_jᵀ - [s_i] L [s_j]) Rᵀ, with corner signs s, and
// c_ij of the edge springs: 12 stiffness on the diagonal, -4 along cell edges.
CellMatrix Level::cell_matrix(LatticePlace cell) const {
  const int32_t slot = m_lattice.cell_slots[static_cast<size_t>(cell.block)];
  const float* from = cells.data() + static_cast<size_t>(slot) * cell_block;
  const auto number = [&](size_t n) {
    return static_cast<double>(from[cell_index(n, static_cast<size_t>(cell.local))]);
  };
  const Mat3d r = Quatd(number(3), number(0), number(1), number(2)).normalized().toRotationMatrix();
  Mat3d l;
  l << number(4), number(9), number(8), number(9), number(5), number(7), number(8), number(7),
      number(6);
  const double stiffness = number(10), lambda = number(11);
  const auto skew = [](const Vec3d& v) {
    Mat3d m;
    m << 0, -v[2], v[1], v[2], 0, -v[0], -v[1], v[0], 0;
    return m;
  };
  const auto signs = [](int i) {
    return Vec3d((i & 1) * 2 - 1, ((i >> 1) & 1) * 2 - 1, (i >> 2) * 2 - 1);
  };
  // Weights of the edge springs by the number of axes in which two corners differ; without the
  // hourglass modes only sᵢ·sⱼ is left of them.
  CellMatrix result;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) {
      const int apart = std::popcount(static_cast<unsigned>(i ^ j));
      const double whole = apart == 0 ? 12 : apart == 1 ? -4 : 0;
      const double plain = signs(i).dot(signs(j));
      const double spring = stiffness * (plain + static_cast<double>(hourglass) * (whole - plain));
      const Mat3d block =
          r * (lambda * signs(i) * signs(j).transpose() - skew(signs(i)) * l * skew(signs(j))) *
              r.transpose() +
          spring * Mat3d::Identity();
      result.block<3, 3>(3 * i, 3 * j) = block.cast<float>();
    }
  return result;
}

}  // namespace supple
