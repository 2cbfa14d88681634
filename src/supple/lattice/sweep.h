// One pass over a tile's cells: nodal values in, nodal sums out. Cells are visited a plane of 4x4
// at a time, in the Hadamard basis of their corners: for one component and corner signs s, the mode
// m of the eight corner values u is the sum of ±u, with the sign of s on the axes m names. There
// the gradient at the centre is a scaling of modes x, y, z, and the edge springs of the stabilised
// element are diagonal; half the transform is shared between a plane's two cells.
// Included per target, after plane.h.
#if defined(SUPPLE_LATTICE_SWEEP_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef SUPPLE_LATTICE_SWEEP_PER_TARGET
#undef SUPPLE_LATTICE_SWEEP_PER_TARGET
#else
#define SUPPLE_LATTICE_SWEEP_PER_TARGET
#endif

#include "supple/lattice/sweep_plan.h"
#include "supple/math/plane.h"
#include "supple/math/small.h"

SUPPLE_KERNELS_BEGIN

/// Modes within a plane of nodes, of the cells' lower or upper corners: for each component the
/// modes 1, x, y, xy, 16 cells each.
template <class Scalar>
struct PlaneModes {
  Scalar of[3][4][plane_size];
};

/// The modes of one component of a cell's corners; mode 1 is left out, as rigid translation.
template <class T>
struct CellModes {
  T x, y, z, xy, xz, yz, xyz;
};

/// Modes of component `c` of the cells at `lane` from the planes below and above.
template <class Scalar>
HWY_INLINE CellModes<Wide<Scalar>> cell_modes(const PlaneModes<Scalar>& low,
                                              const PlaneModes<Scalar>& high, size_t c,
                                              size_t lane) {
  const auto l1 = load(low.of[c][0] + lane), h1 = load(high.of[c][0] + lane);
  const auto lx = load(low.of[c][1] + lane), hx = load(high.of[c][1] + lane);
  const auto ly = load(low.of[c][2] + lane), hy = load(high.of[c][2] + lane);
  const auto lxy = load(low.of[c][3] + lane), hxy = load(high.of[c][3] + lane);
  return {lx + hx, ly + hy, h1 - l1, lxy + hxy, hx - lx, hy - ly, hxy - lxy};
}

/// Adds a cell's modes to the plane below it and sets them in the plane above.
template <class Scalar>
HWY_INLINE void spread_modes(const CellModes<Wide<Scalar>>& m, PlaneModes<Scalar>& low,
                             PlaneModes<Scalar>& high, size_t c, size_t lane) {
  const auto add = [lane](Scalar* to, Wide<Scalar> value) {
    store(load(to + lane) + value, to + lane);
  };
  add(low.of[c][0], -m.z);
  add(low.of[c][1], m.x - m.xz);
  add(low.of[c][2], m.y - m.yz);
  add(low.of[c][3], m.xy - m.xyz);
  store(m.z, high.of[c][0] + lane);
  store(m.x + m.xz, high.of[c][1] + lane);
  store(m.y + m.yz, high.of[c][2] + lane);
  store(m.xy + m.xyz, high.of[c][3] + lane);
}

/// A plane of nodes and its neighbours in x, y, and both, at component 0.
template <class Scalar>
struct NodePlanes {
  Scalar *own, *x, *y, *xy;

  HWY_INLINE NodePlanes moved(size_t numbers) const {
    return {own + numbers, x + numbers, y + numbers, xy + numbers};
  }
};

/// The modes of component c of a plane of nodes. Planes are read where they are needed: read all at
/// first, they are too many for the registers.
template <class Scalar>
HWY_INLINE void gather_modes(const PlaneShifter<Scalar>& shifter,
                             const NodePlanes<const Scalar>& nodes, size_t c,
                             PlaneModes<Scalar>& modes) {
  const size_t at = c * block_cells;
  const Plane<Scalar> px = load_plane(nodes.x + at);
  const Plane<Scalar> up_x = shifter.shift_y(px, load_plane(nodes.xy + at));
  const Plane<Scalar> p = load_plane(nodes.own + at);
  const Plane<Scalar> right = shifter.shift_x(p, px);
  const Plane<Scalar> low_sum = p + right, low_difference = right - p;
  const Plane<Scalar> up = shifter.shift_y(p, load_plane(nodes.y + at));
  const Plane<Scalar> both = shifter.shift_x(up, up_x);
  const Plane<Scalar> high_sum = up + both, high_difference = both - up;
  store_plane(low_sum + high_sum, modes.of[c][0]);
  store_plane(low_difference + high_difference, modes.of[c][1]);
  store_plane(high_sum - low_sum, modes.of[c][2]);
  store_plane(high_difference - low_difference, modes.of[c][3]);
}

/// What the sums of a column of blocks leave for the columns beside it, per plane of nodes and
/// component. For the column in x, values at the right corners of its cells, with what the columns
/// at -y left for them. For the column in y, those at the upper corners of its cells' last row:
/// what right and left corners have in common, and what right ones have more and left ones less.
/// All 0 where there is none.
inline constexpr size_t carry_planes = block_side * most_height + 1;
template <class Scalar>
struct CarryX {
  Scalar of[3][plane_size];
};
template <class Scalar>
struct CarryY {
  Scalar common[3][4], apart[3][4];
};

/// The transpose of gather_modes: the sums at a plane of nodes of modes of component c at a plane
/// of cells' corners and of what the columns before left. Leaves the rest for the columns after.
template <class Scalar>
HWY_INLINE Plane<Scalar> scatter_modes(const PlaneShifter<Scalar>& shifter, const Plane<Scalar>& m,
                                       const Plane<Scalar>& mx, const Plane<Scalar>& my,
                                       const Plane<Scalar>& mxy, size_t c, CarryX<Scalar>& carry_x,
                                       CarryY<Scalar>& carry_y) {
  // Upper corners give to the row above, in sums and differences of right and left ones.
  const Plane<Scalar> high = m + my, high_x = mx + mxy;
  const Plane<Scalar> common = m - my + shifter.push_y(high, last_row(carry_y.common[c]));
  const Plane<Scalar> apart = mx - mxy + shifter.push_y(high_x, last_row(carry_y.apart[c]));
  const Plane<Scalar> right = common + apart;
  store_last_row(high, carry_y.common[c]);
  store_last_row(high_x, carry_y.apart[c]);
  const Plane<Scalar> sum = common - apart + shifter.push_x(right, load_plane(carry_x.of[c]));
  store_plane(right, carry_x.of[c]);
  return sum;
}

/// The same of modes in memory, all components, put at the nodes.
template <class Scalar>
HWY_INLINE void scatter_modes(const PlaneShifter<Scalar>& shifter, const PlaneModes<Scalar>& modes,
                              CarryX<Scalar>& carry_x, CarryY<Scalar>& carry_y, Scalar* nodes) {
  for (size_t c = 0; c < 3; ++c)
    store_plane(
        scatter_modes(shifter, load_plane(modes.of[c][0]), load_plane(modes.of[c][1]),
                      load_plane(modes.of[c][2]), load_plane(modes.of[c][3]), c, carry_x, carry_y),
        nodes + c * block_cells);
}

/// Adds what a column left for the one in x to the nodes, and takes it out.
template <class Scalar>
HWY_INLINE void flush_x(const PlaneShifter<Scalar>& shifter, CarryX<Scalar>& carry,
                        Scalar* next_x) {
  const Plane<Scalar> zero = Plane<Scalar>::zero();
  for (size_t c = 0; c < 3; ++c) {
    add_plane(shifter.push_x(zero, load_plane(carry.of[c])), next_x + c * block_cells);
    store_plane(zero, carry.of[c]);
  }
}

/// Adds what a column left for the one in y to the nodes, and takes it out.
template <class Scalar>
HWY_INLINE void flush_y(const PlaneShifter<Scalar>& shifter, CarryY<Scalar>& carry, Scalar* next_y,
                        Scalar* next_xy) {
  for (size_t c = 0; c < 3; ++c) {
    const Plane<Scalar> common = last_row(carry.common[c]), apart = last_row(carry.apart[c]);
    const Plane<Scalar> right = common + apart, zero = Plane<Scalar>::zero();
    Scalar row[4], last[4];
    store_last_row(common - apart + shifter.push_x(right, zero), row);
    store_last_row(right, last);
    add_row(row, next_y + c * block_cells);
    next_xy[c * block_cells] += last[3];
    store_last_row(zero, carry.common[c]);
    store_last_row(zero, carry.apart[c]);
  }
}

/// Keeps one face of a ghost block of a tile.
template <class Scalar>
HWY_INLINE void keep_ghost(const Scalar* block, uint8_t axis, Scalar* to) {
  for (size_t c = 0; c < 3; ++c, block += block_cells, to += ghost_size) {
    if (axis == 2)
      store_plane(load_plane(block), to);
    else if (axis == 1)
      for (size_t k = 0; k < 4; ++k) std::memcpy(to + 4 * k, block + 16 * k, 4 * sizeof(Scalar));
    else
      store_first_columns(block, to);
  }
}

/// Empties what is kept of a ghost block.
template <class Scalar>
HWY_INLINE void clear_ghost(Scalar* block, uint8_t axis) {
  if (axis != 2)
    std::memset(block, 0, vector_block * sizeof(Scalar));
  else
    for (size_t c = 0; c < 3; ++c) store_plane(Plane<Scalar>::zero(), block + c * block_cells);
}

/// What a visitor in turns leaves from its first stage for its second; nothing for others.
template <class Visitor, bool in_turns>
struct PushOf {
  struct Type {};
};
template <class Visitor>
struct PushOf<Visitor, true> {
  using Type = typename Visitor::Push;
};

/// A pass over the cells of a tile, up one column of blocks after the other.
///
/// The stresses of a plane of cells are a chain of multiplications that wait for each other. Most
/// of the rest are sums. So both are made in turns: while stresses of one plane are made, what the
/// plane before pushes is added up, and the modes of the plane after next are gathered.
template <bool writes, bool finishes, class Scalar, class Visitor>
struct TileSweep {
  const SweepPlan& plan;
  const Scalar* x;
  SweepOutput<Scalar> to;
  Visitor& visitor;
  size_t first;                       ///< block of the tile
  size_t mask;                        ///< the sums of block b of the tile are at b & mask
  size_t carried;                     ///< planes of nodes of a column
  const TileRow* row = nullptr;       ///< that is visited; the next one begins where it ends
  size_t later = 0;                   ///< vectors of the plan that will be needed and are asked for
  const Scalar* later_at[4] = {};     ///< how far in each
  uint32_t asked = 0, asked_end = 0;  ///< of the plan, from the block that is visited
  size_t places = 0;                  ///< for which there are carries, in x
  WideDouble whole_sum{0.0};          ///< of x times the product of whole blocks
  PlaneShifter<Scalar> shifter;

  // Of plane j, at j % 4: modes of its nodes, and what its cells push.
  struct alignas(64) Turn {
    PlaneModes<Scalar> in;
    typename PushOf<Visitor, Visitor::in_turns>::Type push;

    HWY_INLINE void leave_out_nodes() { std::memset(&in, 0, sizeof(in)); }
    HWY_INLINE void leave_out_cells() { std::memset(&push, 0, sizeof(push)); }
  };
  Turn turns[4];
  alignas(64) PlaneModes<Scalar> out[writes && !Visitor::in_turns ? 4 : 1];
  alignas(64) CarryX<Scalar> carry_x[writes ? carry_planes : 1];
  alignas(64) CarryY<Scalar> carry_y[writes ? most_places : 1][carry_planes];
  alignas(64) Scalar aside[writes ? vector_block : 1];
  alignas(64) Scalar beyond[writes ? (ghost_places + 1) * vector_block : 1];

  HWY_INLINE TileSweep(const SweepPlan& tables, const Scalar* from,
                       const SweepOutput<Scalar>& output, Visitor& v, size_t first_block)
      : plan(tables),
        x(from),
        to(output),
        visitor(v),
        first(first_block),
        mask(output.ring - 1),
        carried(block_side * plan.height + 1) {
    if (plan.asks)
      while (later < plan.later.size() && plan.later[later] != nullptr) ++later;
  }

  /// Where the nodes of a block begin among the sums.
  HWY_INLINE Scalar* sums(int32_t target) {
    return target >= 0 ? to.sums + ((static_cast<size_t>(target) - first) & mask) * vector_block
                       : beyond + static_cast<size_t>(~target) * vector_block;
  }

  /// Empties what columns add to in a row.
  HWY_INLINE void clear_row(const TileRow* at) {
    for (size_t b = at[0].block; b < at[1].block; ++b)
      if (plan.fresh[b] == 0)
        std::memset(to.sums + ((b - first) & mask) * vector_block, 0,
                    vector_block * sizeof(Scalar));
    for (size_t g = at[0].ghost; g < at[1].ghost; ++g)
      clear_ghost(beyond + plan.ghosts[g].place * vector_block, plan.ghosts[g].axis);
  }

  /// Visits the cells of a row.
  HWY_INLINE void visit_row(const TileRow* which) {
    row = which;
    if (to.starts) to.starts(row);
    for (size_t i = row[0].column; i < row[1].column; ++i) visit_column(plan.columns[i]);
  }

  /// Hands over the sums of the row.
  HWY_INLINE void finish_row() {
    for (size_t g = row[0].ghost; g < row[1].ghost; ++g)
      keep_ghost(beyond + plan.ghosts[g].place * vector_block, plan.ghosts[g].axis,
                 to.ghosts + g * ghost_record);
    if (to.done) to.done(row);
  }

  /// Where the sums of a plane go, and whether they are those of a whole block, which is for passes
  /// that make products alone: then with the nodes they are multiplied with.
  struct PlaneSums {
    CarryX<Scalar>* in_x;
    CarryY<Scalar>* in_y;
    Scalar* own;
    const Scalar* nodes = nullptr;
    bool whole = false;
  };

  /// The nodes of a block and of those in x, y, and both: d = 0, or of those above them: d = 4.
  HWY_INLINE NodePlanes<const Scalar> nodes_of(size_t block, size_t d) const {
    const int32_t* blocks = plan.upper[block].data() + d;
    const auto of = [&](size_t i)
                        HWY_ATTR { return x + static_cast<size_t>(blocks[i]) * vector_block; };
    return {of(0), of(1), of(2), of(3)};
  }

  /// Gathers all modes of a plane of nodes.
  HWY_INLINE void gather(const NodePlanes<const Scalar>& nodes, PlaneModes<Scalar>& modes) {
    for (size_t c = 0; c < 3; ++c) gather_modes(shifter, nodes, c, modes);
  }

  HWY_INLINE void visit_column(const BlockColumn& column) {
    if constexpr (writes)
      for (; places <= column.place; ++places)
        std::memset(carry_y[places], 0, carried * sizeof(carry_y[0][0]));
    if constexpr (Visitor::reads) {
      const NodePlanes<const Scalar> lowest = nodes_of(column.block, 0);
      gather(lowest, turns[0].in);
      gather(lowest.moved(plane_size), turns[1].in);
    }
    const PlaneSums begin = {carry_x + (writes ? 4 * column.level : 0),
                             carry_y[writes ? column.place : 0] + 4 * column.level, nullptr};
    PlaneSums highest;
    if constexpr (Visitor::in_turns)
      highest = visit_planes_in_turns(column, begin);
    else
      highest = visit_planes(column, begin);
    if constexpr (writes) {
      Scalar* above = sums(plan.targets[column.block + column.height - 1][4]);
      for (size_t c = 0; c < 3; ++c)
        add_plane(load_plane(highest.own + c * block_cells), above + c * block_cells);
      flush(column);
    }
  }

  /// Visits a column's planes of cells one after the other; its highest sums are put aside.
  HWY_INLINE PlaneSums visit_planes(const BlockColumn& column, PlaneSums at) {
    if constexpr (writes) std::memset(&out[0], 0, sizeof(out[0]));
    for (size_t b = column.block; b < column.block + column.height; ++b) {
      at.own = sums_of(b, column);
      for (size_t k = 0; k < 4; ++k, ++at.in_x, ++at.in_y) {
        visitor.cells(static_cast<size_t>(plan.cell_slots[b]), k, turns[k].in,
                      turns[(k + 1) % 4].in, out[writes ? k : 0], out[writes ? (k + 1) % 4 : 0]);
        if constexpr (Visitor::reads)
          gather(nodes_of(b, k / 2 * 4).moved((k + 2) % 4 * plane_size), turns[(k + 2) % 4].in);
        if constexpr (writes) {
          scatter_modes(shifter, out[k], *at.in_x, *at.in_y, at.own);
          at.own += plane_size;
        }
      }
      if constexpr (writes) take_over(b, column);
    }
    at.own = aside;
    if constexpr (writes) scatter_modes(shifter, out[0], *at.in_x, *at.in_y, at.own);
    return at;
  }

  /// Where a pass up a column in turns is: the planes of nodes below and above the plane of cells
  /// it comes to, `now` and `next`, the one below them, and the one to be gathered, which takes the
  /// place of the one below that; sums of `now`, and of `before`.
  struct Place {
    Turn *before, *now, *next, *after;
    PlaneSums at, last;
    size_t number;  ///< of the plane of cells, from the lattice's first on
    NodePlanes<const Scalar> nodes = {}, above = {};  ///< that are gathered, and two planes on
  };

  /// The same in turns.
  HWY_INLINE PlaneSums visit_planes_in_turns(const BlockColumn& column, const PlaneSums& lowest) {
    Place p = {&turns[3],
               &turns[0],
               &turns[1],
               &turns[2],
               lowest,
               lowest,
               4 * static_cast<size_t>(plan.cell_slots[column.block])};
    Wide<Scalar> sum(Scalar(0));
    p.before->leave_out_cells();
    p.before->leave_out_nodes();
    const size_t top = column.block + column.height;
    for (size_t i = 0; i < later; ++i)
      later_at[i] = static_cast<const Scalar*>(plan.later[i]) + column.block * vector_block;
    for (size_t b = column.block; b < top; ++b) {
      place_sums(b, column, p.at);
      p.nodes = nodes_of(b, 0).moved(2 * plane_size);
      p.above = nodes_of(b, 4);
      if (plan.asks) {
        asked = plan.asked_offsets[b];
        asked_end = plan.asked_offsets[b + 1];
      }
      size_t k = 0;
      if (b == column.block) visit_in_turns<false>(p, k++, sum);
      // One plane in the program for all of them: processors foresee what an instruction reads next
      // if there are not too many to watch.
      for (; k < 4; ++k) {
        visit_in_turns<true>(p, k, sum);
        if (k == 0) take_over(b - 1, column);
      }
      if (plan.asks) ask_ghosts(b);
    }
    for (size_t c = 0; c < 3; ++c) add_up(c, *p.after, *p.before, *p.now, p.last, sum);
    take_over(top - 1, column);
    p.at.own = aside;
    p.at.whole = false;
    p.now->leave_out_cells();
    p.next->leave_out_nodes();
    for (size_t c = 0; c < 3; ++c) add_up(c, *p.before, *p.now, *p.next, p.at, sum);
    if constexpr (finishes) whole_sum += widened(sum);
    return p.at;
  }

  /// Visits plane k of the cells of a block, gathers `nodes` and, if it follows a plane, adds up
  /// the sums below that; then goes on by a plane.
  template <bool follows>
  HWY_INLINE void visit_in_turns(Place& p, size_t k, Wide<Scalar>& sum) {
    const auto meanwhile = [&](size_t step) HWY_ATTR __attribute__((always_inline)) {
      // What is gathered takes the place of what is added up last here.
      if (step % 2 == 1)
        gather_modes(shifter, p.nodes, step / 2, p.after->in);
      else if constexpr (follows)
        add_up(step / 2, *p.after, *p.before, *p.now, p.last, sum);
      if (step == 3) ask_ahead(k);
    };
    visitor.push(p.number, p.now->in, p.next->in, p.now->push, meanwhile);
    Turn* free = p.before;
    p.before = p.now;
    p.now = p.next;
    p.next = p.after;
    p.after = free;
    p.last = p.at;
    p.at = {p.at.in_x + 1, p.at.in_y + 1, p.at.own + plane_size, p.at.nodes, p.at.whole};
    if constexpr (finishes) p.at.nodes += plane_size;
    p.nodes = k == 1 ? p.above : p.nodes.moved(plane_size);
    ++p.number;
  }

  /// Component c of the sums at a plane of nodes.
  HWY_INLINE void add_up(size_t c, const Turn& below, const Turn& own, const Turn& above,
                         const PlaneSums& at, Wide<Scalar>& sum) {
    visitor.add_up(
        c, below, own, above,
        [&](const Plane<Scalar>& m, const Plane<Scalar>& mx, const Plane<Scalar>& my,
            const Plane<Scalar>& mxy) HWY_ATTR __attribute__((always_inline)) {
          put_sums(c, scatter_modes(shifter, m, mx, my, mxy, c, *at.in_x, *at.in_y), at, sum);
        });
  }

  /// Puts component c of the sums at a plane of nodes where they go; those of a whole block as a
  /// product, which is multiplied with x and added to `sum`.
  HWY_INLINE void put_sums(size_t c, const Plane<Scalar>& sums, const PlaneSums& at,
                           Wide<Scalar>& sum) {
    const size_t first_node = c * block_cells;
    if (!finishes || !at.whole) return store_plane(sums, at.own + first_node);
    for (size_t r = 0; r < Plane<Scalar>::registers; ++r) {
      const size_t lane = first_node + r * Wide<Scalar>::lanes;
      sum = mul_add(sums.part[r], load(at.nodes + lane), sum);
      stream(sums.part[r], at.own + lane);
    }
  }

  /// Asks for a quarter of the nodes that are new in the tile a few blocks farther on, and for a
  /// quarter of what comes after the row in a block of it.
  HWY_INLINE void ask_ahead(size_t k) {
    for (size_t i = asked; i < asked_end; ++i) {
      const Scalar* plane = x + plan.asked[i] * vector_block + k * plane_size;
      for (size_t c = 0; c < vector_block; c += block_cells) prefetch(plane + c, plane_size);
    }
    for (size_t i = 0; i < later; ++i) {
      prefetch(later_at[i], vector_block / 4);
      later_at[i] += vector_block / 4;
    }
  }

  /// Asks for what other tiles leave for a block.
  HWY_INLINE void ask_ghosts(size_t b) {
    for (uint32_t i = plan.incoming_offsets[b]; i < plan.incoming_offsets[b + 1]; ++i)
      prefetch(to.ghosts + plan.incoming[i] * ghost_record, ghost_record);
  }

  /// Makes the sums of a block's nodes go where they are to be, from the lowest plane on.
  HWY_INLINE void place_sums(size_t b, const BlockColumn& column, PlaneSums& at) {
    if constexpr (finishes) {
      at.nodes = x + b * vector_block;
      at.whole = is_whole(plan.complete, to.whole->free, b);
    }
    at.own = at.whole ? to.whole->y + b * vector_block : sums_of(b, column);
  }

  /// Where the sums of a block's nodes go at first.
  HWY_INLINE Scalar* sums_of(size_t b, const BlockColumn& column) {
    if constexpr (!writes) return nullptr;
    return column.first ? sums(plan.targets[b][0]) : aside;
  }

  /// Adds sums of a block's nodes that were put aside to those that were there before.
  HWY_INLINE void take_over(size_t b, const BlockColumn& column) {
    if (column.first) return;
    Scalar* own = sums(plan.targets[b][0]);
    for (size_t i = 0; i < vector_block; i += plane_size) add_plane(load_plane(aside + i), own + i);
  }

  /// Adds what no other column takes over from this one to the nodes beside it.
  HWY_INLINE void flush(const BlockColumn& column) {
    if (column.feeds_x && column.feeds_y) return;
    CarryX<Scalar>* in_x = carry_x + 4 * column.level;
    CarryY<Scalar>* in_y = carry_y[column.place] + 4 * column.level;
    for (size_t h = 0; h <= column.height; ++h) {
      const size_t top = h == column.height;
      const int32_t* targets = plan.targets[column.block + h - top].data() + 4 * top;
      Scalar *next_x = sums(targets[1]), *next_y = sums(targets[2]), *next_xy = sums(targets[3]);
      for (size_t k = 0; k < (top ? 1 : 4); ++k) {
        const size_t at = k * plane_size;
        if (!column.feeds_x) flush_x(shifter, in_x[4 * h + k], next_x + at);
        if (!column.feeds_y) flush_y(shifter, in_y[4 * h + k], next_y + at, next_xy + at);
      }
    }
  }
};

/// Visits all cells of a tile: `visitor.cells(slot, plane, low, high, out_low, out_high)` per plane
/// of cells; Visitor::reads says whether it needs `x`. With `writes`, the nodal sums of what the
/// visitor puts out replace those of `out`, and the tile's ghosts.
///
/// A visitor with Visitor::in_turns has two functions instead: `push(slot, plane, low, high, out,
/// meanwhile)` for a plane of cells, which calls meanwhile(i), i from 0 to 5, wherever it would
/// have to wait, and `add_up(c, in, below, above, use)` for a plane of nodes between two planes of
/// cells, which calls use with the modes of component c.
template <bool writes, bool finishes = false, class Scalar, class Visitor>
HWY_INLINE void sweep_tile(const SweepPlan& plan, size_t tile, const Scalar* x,
                           const SweepOutput<Scalar>& out, Visitor& visitor) {
  TileSweep<writes, finishes, Scalar, Visitor> sweep(plan, x, out, visitor, plan.tiles[tile]);
  const TileRow *row = plan.rows + plan.row_offsets[tile],
                *end = plan.rows + plan.row_offsets[tile + 1];
  if constexpr (writes) {
    sweep.clear_row(row);
    std::memset(sweep.carry_x, 0, sweep.carried * sizeof(sweep.carry_x[0]));
  }
  for (; row != end; ++row) {
    // Columns add to the next row too.
    if constexpr (writes)
      if (row + 1 != end) sweep.clear_row(row + 1);
    sweep.visit_row(row);
    if constexpr (writes) sweep.finish_row();
  }
  if constexpr (finishes) out.whole->sum = sum_of_lanes(sweep.whole_sum);
}

/// Visits the cells of one row of a tile with a visitor that puts out no sums.
template <class Scalar, class Visitor>
HWY_INLINE void sweep_row(const SweepPlan& plan, const TileRow* row, const Scalar* x,
                          Visitor& visitor) {
  TileSweep<false, false, Scalar, Visitor> sweep(plan, x, {}, visitor, row->block);
  sweep.visit_row(row);
}

SUPPLE_KERNELS_END

#endif
