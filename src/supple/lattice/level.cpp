#include "supple/lattice/level.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <bit>
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

namespace {

// Entries of group i of those that lie one after the other.
template <class T>
std::span<const T> part_of(const std::vector<T>& all, const std::vector<uint32_t>& offsets,
                           size_t i) {
  return std::span(all).subspan(offsets[i], offsets[i + 1] - offsets[i]);
}

}  // namespace

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
    std::vector<uint32_t> to;
    for (uint32_t g = m_lattice.ghost_offsets[t]; g < m_lattice.ghost_offsets[t + 1]; ++g)
      to.push_back(tile_of(m_lattice.ghosts[g].block));
    std::sort(to.begin(), to.end());
    to.erase(std::unique(to.begin(), to.end()), to.end());
    for (const uint32_t r : to) senders[r].push_back(t);
    m_receivers.insert(m_receivers.end(), to.begin(), to.end());
    m_receiver_offsets.push_back(static_cast<uint32_t>(m_receivers.size()));
  }
  for (const std::vector<uint32_t>& from : senders) {
    m_senders.insert(m_senders.end(), from.begin(), from.end());
    m_sender_offsets.push_back(static_cast<uint32_t>(m_senders.size()));
  }
  m_handed = std::vector<HandedTile>(tiles);
  m_plan = sweep_plan(m_lattice);
  plan_rows();
  plan_runs();
}

void Level::plan_rows() {
  const auto height = [&](uint32_t row) { return m_lattice.blocks[m_lattice.rows[row].block][1]; };
  for (size_t t = 0; t < m_lattice.tile_count(); ++t) {
    for (uint32_t r = m_lattice.row_offsets[t]; r < m_lattice.row_offsets[t + 1]; ++r) {
      // Of each tile that adds to this one, the last row up to the height of this row.
      for (uint32_t i = m_sender_offsets[t]; i < m_sender_offsets[t + 1]; ++i) {
        const uint32_t first = m_lattice.row_offsets[m_senders[i]];
        uint32_t end = m_lattice.row_offsets[m_senders[i] + 1];
        while (end > first && height(end - 1) > height(r)) --end;
        if (end > first) m_awaited.push_back(end - 1);
      }
      m_awaited_offsets.push_back(static_cast<uint32_t>(m_awaited.size()));
    }
    const size_t sums = 1 + m_lattice.row_offsets[t + 1] - m_lattice.row_offsets[t];
    m_sum_offsets.push_back(m_sum_offsets.back() + (sums + sums_line - 1) / sums_line * sums_line);
  }
  m_swept = std::vector<PassFlag>(m_lattice.rows.size());
  m_tile_sums.resize(m_sum_offsets.back());
}

void Level::plan_runs() {
  const auto& incoming = m_lattice.incoming_offsets;
  const auto is_late = [&](uint32_t b) { return incoming[b] != incoming[b + 1]; };
  for (size_t t = 0; t < m_lattice.tile_count(); ++t) {
    const uint32_t first = m_lattice.tiles[t];
    m_rings.push_back(static_cast<uint32_t>(sums_ring(m_plan, t)));
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
//
// All threads read this, and its caller writes it each time: it is short, as lines of the cache
// that one core has written take another one a tenth of a microsecond or two. Tables are the
// level's.
template <class Scalar, class Finish>
class alignas(cache_line) Level::Sweep {
 public:
  Sweep(const Level& level, const Scalar* from, Scalar* y, std::array<const void*, 4> needed,
        const Finish& finish, SumPlace place)
      : m_level(level),
        m_from(from),
        m_y(y),
        m_ghosts(level.ghosts<Scalar>().data()),
        m_pass(++level.m_passes.count),
        m_in_place(place == SumPlace::in_place),
        m_streams(place == SumPlace::beside_streamed),
        m_at_once(level.extras.empty()),
        m_finish(finish),
        m_needed(needed) {}

  double run() {
    const SparseLattice& lattice = m_level.m_lattice;
    // Threads find this at once, not by way of a loop's body.
    run_on_team(
        lattice.tile_count(), static_cast<size_t>(thread_count()),
        [](const void* sweep, size_t t) { static_cast<const Sweep*>(sweep)->sweep_tile(t); }, this);
    if (m_at_once) return total();
    m_level.extras.add_product(lattice, m_from, m_y);
    const FinishInput<Scalar> input = m_level.finish_input(m_from);
    return sum_over_blocks(lattice.block_count(),
                           [&](size_t begin, size_t end) { return m_finish(input, begin, end); });
  }

 private:
  // A tile that is gone through: where its sums are, what finishing them takes, and what the blocks
  // that are not late sum up to.
  struct Tile {
    size_t number, ring;
    Scalar* sums;
    FinishInput<Scalar> input;
    double early_sum = 0;
  };

  void sweep_tile(size_t t) const {
    thread_local AlignedArray<Scalar> scratch;
    for (size_t i = m_level.m_sum_offsets[t]; i < m_level.m_sum_offsets[t + 1]; i += sums_line)
      prefetch_to_write(&m_level.m_tile_sums[i]);
    const size_t first = m_level.m_lattice.tiles[t];
    Tile tile{t, m_level.m_rings[t], m_y + first * vector_block, m_level.finish_input(m_from)};
    SweepOutput<Scalar> out{.ghosts = m_ghosts};
    WholeBlocks<Scalar> whole{m_level.free.data(), m_y};
    if (m_streams && m_at_once && m_level.masses.empty()) {
      out.whole = &whole;
      tile.input.complete = m_level.m_lattice.complete.data();
    }
    if (!m_in_place) {
      scratch.resize(tile.ring * vector_block);
      tile.sums = tile.input.sums = scratch.data();
      tile.input.streams = m_streams;
      out.ring = tile.ring;
    }
    SweepPlan plan = m_level.m_plan;
    plan.later = m_needed;
    plan.asks = m_level.m_lattice.slot_count >= m_level.asks_from;
    const auto start = [&](const TileRow* row) { start_row(tile, number_of(row)); };
    const auto finish = [&](const TileRow* row) { finish_row(tile, number_of(row)); };
    out.sums = tile.sums;
    if (!plan.asks) out.starts = row_call(start);
    out.done = row_call(finish);
    apply_tile(plan, t, m_level.cells.data(), m_level.hourglass, m_from, out);
    early_sum(t) = tile.early_sum + whole.sum;
    if (m_streams) flush_streamed();
    if (m_at_once) end_tile(tile);
  }

  // Asks for what other threads look at once a row is done, as they may have it in their caches,
  // and for what they leave for the row before, which is finished with this one: whether it is
  // there is seen then, as looking now would have to be waited for.
  void start_row(const Tile& tile, size_t row) const {
    prefetch_to_write(&m_level.m_swept[row]);
    const TileRow* at = &m_level.m_lattice.rows[row];
    for (size_t i = at[0].ghost * ghost_record; i < at[1].ghost * ghost_record;
         i += cache_line / sizeof(Scalar))
      prefetch_to_write(m_ghosts + i);
    if (m_in_place && row > first_row(tile.number)) ask_late(row - 1);
    if (m_in_place && row + 1 == end_row(tile.number)) ask_late(row);
  }

  // Finishes a row of a tile whose sums are complete but for what other tiles may still add. Where
  // late blocks lie in y they have time until the next row is done, and ghosts to come meanwhile.
  void finish_row(Tile& tile, size_t row) const {
    m_level.m_swept[row].pass.store(m_pass, std::memory_order_release);
    const bool ready = m_at_once && !m_in_place && is_ready(row);
    LateSum& late = late_sum(tile.number, row);
    late = {0, true};
    for (const SumRun& run : runs_of(row))
      if (run.late) {
        late.done = ready;
        finish_run(tile, run, ready, late.sum);
      } else {
        finish_run(tile, run, m_at_once, tile.early_sum);
      }
    // What a row was to wait for those before it have waited for too.
    if (ready || (m_in_place && m_at_once && row > first_row(tile.number) && is_ready(row - 1)))
      finish_late(tile.number, row);
  }

  // Finishes a run whose sums are complete, or puts them where they wait for the rest.
  void finish_run(Tile& tile, const SumRun& run, bool complete, double& sum) const {
    const size_t first = m_level.m_lattice.tiles[tile.number];
    const size_t first_sum = run.begin - (run.begin - first) % tile.ring;
    tile.input.first_sum = first_sum;
    if (complete)
      sum += m_finish(tile.input, run.begin, run.end);
    else if (!m_in_place)
      std::memcpy(m_y + run.begin * vector_block,
                  tile.sums + (run.begin - first_sum) * vector_block,
                  (run.end - run.begin) * vector_block * sizeof(Scalar));
  }

  // Asks for what other tiles leave for a row, and for whether it is there.
  void ask_late(size_t row) const {
    const SparseLattice& lattice = m_level.m_lattice;
    for (const uint32_t awaited : part_of(m_level.m_awaited, m_level.m_awaited_offsets, row))
      prefetch_to_read(&m_level.m_swept[awaited]);
    for (const SumRun& run : runs_of(row))
      for (uint32_t i = lattice.incoming_offsets[run.begin]; i < lattice.incoming_offsets[run.end];
           ++i)
        for (size_t n = 0; n < ghost_record; n += cache_line / sizeof(Scalar))
          prefetch_to_read(m_ghosts + lattice.incoming[i] * ghost_record + n);
  }

  // Whether all that a row gets from other tiles is there.
  bool is_ready(size_t row) const {
    return all_swept(part_of(m_level.m_awaited, m_level.m_awaited_offsets, row),
                     [](uint32_t awaited) { return awaited; });
  }

  // Whether all tiles are through that add to a tile.
  bool is_complete(size_t t) const {
    return all_swept(part_of(m_level.m_senders, m_level.m_sender_offsets, t),
                     [&](uint32_t sender) { return end_row(sender) - 1; });
  }

  template <class RowOf>
  bool all_swept(std::span<const uint32_t> all, const RowOf& row_of) const {
    return std::all_of(all.begin(), all.end(), [&](uint32_t i) {
      return m_level.m_swept[row_of(i)].pass.load(std::memory_order_seq_cst) == m_pass;
    });
  }

  // Ends the pass through a tile. Late blocks that still wait for other tiles are finished by the
  // last one of these: it says that it is through, then looks which tiles wait; one that waits says
  // so, then looks whether all are through. All in one order, so one at least sees the other.
  void end_tile(const Tile& tile) const {
    const size_t t = tile.number;
    m_level.m_swept[end_row(t) - 1].pass.store(m_pass, std::memory_order_seq_cst);
    for (const uint32_t to : part_of(m_level.m_receivers, m_level.m_receiver_offsets, t))
      if (m_level.m_handed[to].handed.load(std::memory_order_seq_cst) == m_pass) take_over(to);
    const auto is_done = [&](const LateSum& late) { return late.done; };
    const LateSum* late = &late_sum(t, first_row(t));
    if (std::all_of(late, late + (end_row(t) - first_row(t)), is_done)) return;
    if (is_complete(t)) return finish_late(t, end_row(t));
    m_level.m_handed[t].handed.store(m_pass, std::memory_order_seq_cst);
    take_over(t);
  }

  // Finishes what is left of a tile if it is complete and nobody else does.
  void take_over(size_t t) const {
    if (is_complete(t) &&
        m_level.m_handed[t].taken.exchange(m_pass, std::memory_order_acq_rel) != m_pass)
      finish_late(t, end_row(t));
  }

  // Finishes late blocks of a tile's rows below `end` that are waiting for it.
  void finish_late(size_t t, size_t end) const {
    const FinishInput<Scalar> input = m_level.finish_input(m_from);
    for (size_t r = first_row(t); r < end; ++r) {
      LateSum& late = late_sum(t, r);
      if (late.done) continue;
      late.done = true;
      for (const SumRun& run : runs_of(r))
        if (run.late) late.sum += m_finish(input, run.begin, run.end);
    }
  }

  // All sums, those of late blocks last, row by row.
  double total() const {
    const size_t tiles = m_level.m_lattice.tile_count();
    double sum = 0;
    for (size_t t = 0; t < tiles; ++t) sum += early_sum(t);
    for (size_t t = 0; t < tiles; ++t)
      for (size_t r = first_row(t); r < end_row(t); ++r) sum += late_sum(t, r).sum;
    return sum;
  }

  size_t number_of(const TileRow* row) const {
    return static_cast<size_t>(row - m_level.m_lattice.rows.data());
  }
  size_t first_row(size_t t) const { return m_level.m_lattice.row_offsets[t]; }
  size_t end_row(size_t t) const { return m_level.m_lattice.row_offsets[t + 1]; }
  double& early_sum(size_t t) const { return m_level.m_tile_sums[m_level.m_sum_offsets[t]].sum; }
  LateSum& late_sum(size_t t, size_t row) const {
    return m_level.m_tile_sums[m_level.m_sum_offsets[t] + 1 + row - first_row(t)];
  }
  std::span<const SumRun> runs_of(size_t row) const {
    return part_of(m_level.m_runs, m_level.m_run_offsets, row);
  }

  const Level& m_level;
  const Scalar* m_from;
  Scalar* m_y;
  Scalar* m_ghosts;
  int64_t m_pass;
  bool m_in_place, m_streams;
  bool m_at_once;  // blocks are finished with their rows, as no springs or matrices add to them
  Finish m_finish;
  std::array<const void*, 4> m_needed;
};

template <class Scalar, class Finish>
double Level::sweep(const BlockVector<Scalar>& from, BlockVector<Scalar>& y,
                    std::array<const void*, 4> needed, const Finish& finish, SumPlace place) const {
  return Sweep<Scalar, Finish>(*this, from.data(), y.data(), needed, finish, place).run();
}

template <class Scalar>
double Level::product(const BlockVector<Scalar>& from, BlockVector<Scalar>& y) const {
  const bool streams = m_lattice.slot_count >= streams_from;
  return sweep(
      from, y, {streams ? nullptr : y.data()},
      [to = y.data()](const FinishInput<Scalar>& input, size_t begin, size_t end) {
        return finish_product(input, begin, end, to);
      },
      streams ? SumPlace::beside_streamed : SumPlace::in_place);
}
template double Level::product(const BlockVector<float>&, BlockVector<float>&) const;
template double Level::product(const BlockVector<double>&, BlockVector<double>&) const;

template <class Scalar>
double Level::residual(const BlockVector<Scalar>& right, const BlockVector<Scalar>& from,
                       BlockVector<Scalar>& y) const {
  return sweep(from, y, {right.data(), y.data()},
               [right = right.data(), to = y.data()](const FinishInput<Scalar>& input, size_t begin,
                                                     size_t end) {
                 return finish_residual(input, begin, end, right, to);
               });
}
template double Level::residual(const BlockVector<float>&, const BlockVector<float>&,
                                BlockVector<float>&) const;
template double Level::residual(const BlockVector<double>&, const BlockVector<double>&,
                                BlockVector<double>&) const;

void Level::smooth(const SmoothStep& step, const BlockVector<float>& from,
                   BlockVector<float>& y) const {
  const float* direction =
      step.before == nullptr || step.before == step.x ? step.direction : step.before;
  sweep(from, y, {step.b, step.inverse_diagonal, direction},
        [step, to = y.data()](const FinishInput<float>& input, size_t begin, size_t end) {
          finish_smoothing(input, begin, end, step, to);
          return 0.0;
        });
}

void Level::start_diagonal(size_t tile, RowCall linearise) {
  diagonal_tile(m_plan, tile, cells.data(), hourglass,
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
