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

/// The modes of one plane of nodes; `own`, `x`, `y`, `xy` are the planes in the block itself and in
/// its neighbours, at the start of component 0.
template <class Scalar>
HWY_INLINE void gather_modes(const PlaneShifter<Scalar>& shifter, const Scalar* own,
                             const Scalar* next_x, const Scalar* next_y, const Scalar* next_xy,
                             PlaneModes<Scalar>& modes) {
  for (size_t c = 0; c < 3; ++c) {
    const size_t at = c * block_cells;
    const Plane<Scalar> p = load_plane(own + at), px = load_plane(next_x + at);
    const Plane<Scalar> py = load_plane(next_y + at), pxy = load_plane(next_xy + at);
    const Plane<Scalar> right = shifter.shift_x(p, px);
    const Plane<Scalar> up = shifter.shift_y(p, py);
    const Plane<Scalar> both = shifter.shift_x(up, shifter.shift_y(px, pxy));
    const Plane<Scalar> low_sum = p + right, low_difference = right - p;
    const Plane<Scalar> high_sum = up + both, high_difference = both - up;
    store_plane(low_sum + high_sum, modes.of[c][0]);
    store_plane(low_difference + high_difference, modes.of[c][1]);
    store_plane(high_sum - low_sum, modes.of[c][2]);
    store_plane(high_difference - low_difference, modes.of[c][3]);
  }
}

/// The transpose of gather_modes: adds modes of a plane of cells' corners to the nodes.
template <class Scalar>
HWY_INLINE void scatter_modes(const PlaneShifter<Scalar>& shifter, const PlaneModes<Scalar>& modes,
                              Scalar* own, Scalar* next_x, Scalar* next_y, Scalar* next_xy) {
  for (size_t c = 0; c < 3; ++c) {
    const size_t at = c * block_cells;
    const Plane<Scalar> m = load_plane(modes.of[c][0]), mx = load_plane(modes.of[c][1]);
    const Plane<Scalar> my = load_plane(modes.of[c][2]), mxy = load_plane(modes.of[c][3]);
    const Plane<Scalar> low = m - my, high = m + my, low_x = mx - mxy, high_x = mx + mxy;
    Plane<Scalar> sum = low - low_x, sum_x = low + low_x;
    Plane<Scalar> sum_y, sum_xy, beyond, rest;
    shifter.unshift_y(high - high_x, sum, sum_y);
    shifter.unshift_y(high + high_x, sum_x, sum_xy);
    shifter.unshift_x(sum_x, sum, beyond);
    shifter.unshift_x(sum_xy, sum_y, rest);
    add_plane(sum, own + at);
    add_plane(beyond, next_x + at);
    add_plane(sum_y, next_y + at);
    add_plane(rest, next_xy + at);
  }
}

/// Keeps one face of every ghost block of a tile.
template <class Scalar>
HWY_INLINE void keep_ghost(const Scalar* block, uint8_t axis, Scalar* to) {
  for (size_t c = 0; c < 3; ++c, block += block_cells, to += ghost_size)
    for (size_t i = 0; i < ghost_size; ++i)
      to[i] = axis == 2 ? block[i] : axis == 1 ? block[(i >> 2) * 16 + (i & 3)] : block[i * 4];
}

/// Visits all cells of a tile: `visitor.cells(slot, plane, low, high, out_low, out_high)` per plane
/// of cells; Visitor::reads says whether it needs `x`. With `writes`, the nodal sums of what the
/// visitor puts out replace `y`, from the tile's first block on, and the tile's ghosts.
template <bool writes, class Scalar, class Visitor>
HWY_INLINE void sweep_tile(const SweepPlan& plan, size_t tile, const Scalar* x, Scalar* y,
                           Scalar* ghosts, Visitor& visitor) {
  const PlaneShifter<Scalar> shifter;
  const size_t first = plan.tiles[tile], end = plan.tiles[tile + 1];
  const size_t first_ghost = plan.ghost_offsets[tile];
  const size_t ghost_count = plan.ghost_offsets[tile + 1] - first_ghost;
  constexpr size_t ghost_blocks = writes ? most_ghosts + 1 : 1;
  alignas(64) Scalar beyond[ghost_blocks * vector_block];
  if constexpr (writes) {
    std::memset(y, 0, (end - first) * vector_block * sizeof(Scalar));
    std::memset(beyond, 0, ghost_count * vector_block * sizeof(Scalar));
  }
  alignas(64) PlaneModes<Scalar> in[5], out[5];
  for (size_t b = first; b < end; ++b) {
    const int32_t slot = plan.cell_slots[b];
    if (slot < 0) continue;
    if constexpr (Visitor::reads) {
      prefetch(x + (b + 2) * vector_block, vector_block);
      const Scalar* from[8];
      for (size_t d = 0; d < 8; ++d)
        from[d] = x + static_cast<size_t>(plan.upper[b][d]) * vector_block;
      for (size_t k = 0; k < 4; ++k) {
        const size_t at = k * plane_size;
        gather_modes(shifter, from[0] + at, from[1] + at, from[2] + at, from[3] + at, in[k]);
      }
      gather_modes(shifter, from[4], from[5], from[6], from[7], in[4]);
    }

    if constexpr (writes) std::memset(&out[0], 0, sizeof(out[0]));
    for (size_t k = 0; k < 4; ++k)
      visitor.cells(static_cast<size_t>(slot), k, in[k], in[k + 1], out[k], out[k + 1]);

    if constexpr (writes) {
      Scalar* to[8];
      for (size_t d = 0; d < 8; ++d) {
        const int32_t target = plan.targets[b][d];
        to[d] = target >= 0 ? y + (static_cast<size_t>(target) - first) * vector_block
                            : beyond + static_cast<size_t>(~target) * vector_block;
      }
      for (size_t k = 0; k < 4; ++k) {
        const size_t at = k * plane_size;
        scatter_modes(shifter, out[k], to[0] + at, to[1] + at, to[2] + at, to[3] + at);
      }
      scatter_modes(shifter, out[4], to[4], to[5], to[6], to[7]);
    }
  }
  if constexpr (writes)
    for (size_t g = 0; g < ghost_count; ++g)
      keep_ghost(beyond + g * vector_block, plan.ghosts[first_ghost + g].axis,
                 ghosts + (first_ghost + g) * ghost_record);
}

SUPPLE_KERNELS_END

#endif
