#include "supple/lattice/transfer_kernels.h"

#include <cstring>

#include "supple/core/parallel.h"

#define SUPPLE_KERNEL_FILE "supple/lattice/transfer_kernels.cpp"
#include "supple/math/for_each_target.h"

#include "supple/math/plane.h"

SUPPLE_KERNELS_BEGIN

// A plane of coarse nodes, from a block and its neighbours in x, y and both, interpolated along x
// and y at the fine nodes of a quarter of the block.
HWY_INLINE Plane<float> interpolated(const PlaneShifter<float>& shifter,
                                     const QuarterDoubler& quarter, const float* from,
                                     const int32_t* blocks, size_t at) {
  const auto plane = [&](size_t d) HWY_ATTR {
    return load_plane(from + static_cast<size_t>(blocks[d]) * vector_block + at);
  };
  const Plane<float> own = plane(0), x = plane(1);
  const Plane<float> up = shifter.shift_y(own, plane(2));
  return quarter.doubled(own, shifter.shift_x(own, x), up,
                         shifter.shift_x(up, shifter.shift_y(x, plane(3))));
}

void prolong_range(const SparseLattice& fine, const SparseLattice& coarse, const TransferPlan& plan,
                   const uint64_t* free, const float* from, float* to, size_t begin, size_t end) {
  using P = Plane<float>;
  const PlaneShifter<float> shifter;
  const QuarterDoubler quarters[4] = {{0, 0}, {2, 0}, {0, 2}, {2, 2}};
  const WideFloat half(0.5f);
  alignas(64) float factors[block_cells];
  for (size_t b = begin; b < end; ++b) {
    const auto parent = static_cast<size_t>(plan.parents[b]);
    if (parent == coarse.block_count()) continue;
    const Vec3i& at = fine.blocks[b];
    const QuarterDoubler& quarter = quarters[(at[0] & 1) | (at[1] & 1) << 1];
    const size_t lowest = 2 * static_cast<size_t>(at[2] & 1);
    bit_factors(free[b], factors);
    for (size_t c = 0; c < 3; ++c) {
      P of[3];
      for (size_t k = 0; k < 3; ++k) {
        const size_t z = lowest + k;
        of[k] = interpolated(shifter, quarter, from, coarse.upper[parent].data() + 4 * (z >> 2),
                             c * block_cells + (z & 3) * plane_size);
      }
      float* out = to + b * vector_block + c * block_cells;
      for (size_t r = 0; r < P::registers; ++r) {
        const auto add = [&](size_t k, WideFloat value) HWY_ATTR {
          const size_t n = k * plane_size + r * WideFloat::lanes;
          store(mul_add(load(factors + n), value, load(out + n)), out + n);
        };
        add(0, of[0].part[r]);
        add(1, half * (of[0].part[r] + of[1].part[r]));
        add(2, of[1].part[r]);
        add(3, half * (of[1].part[r] + of[2].part[r]));
      }
    }
  }
}

// mid + (low + high) / 2.
HWY_INLINE Plane<float> weighed(const Plane<float>& low, const Plane<float>& mid,
                                const Plane<float>& high) {
  const WideFloat half(0.5f);
  Plane<float> p;
  for (size_t r = 0; r < Plane<float>::registers; ++r)
    p.part[r] = mul_add(half, low.part[r] + high.part[r], mid.part[r]);
  return p;
}

// One component of plane k of a coarse block, from the 3x3x3 fine blocks around its first one:
// along each axis f[2i] + (f[2i - 1] + f[2i + 1]) / 2. The upper sides of the last blocks are not
// needed.
HWY_INLINE Plane<float> restricted(const PlaneShifter<float>& shifter, const PlaneHalver& halver,
                                   const std::array<int32_t, 27>& children, const float* from,
                                   size_t k) {
  using P = Plane<float>;
  // Along z; fine planes are counted from four below the first one on.
  P z[3][3];
  for (size_t y = 0; y < 3; ++y)
    for (size_t x = 0; x < 3; ++x) {
      const auto plane = [&](size_t n) HWY_ATTR {
        const auto block = static_cast<size_t>(children[x + 3 * y + 9 * (n / 4)]);
        return load_plane(from + block * vector_block + n % 4 * plane_size);
      };
      z[y][x] = weighed(plane(2 * k + 3), plane(2 * k + 4), plane(2 * k + 5));
    }
  // Along y, then along x.
  P quarter[2][2];
  for (size_t y = 0; y < 2; ++y) {
    P row[3];
    for (size_t x = 0; x < 3; ++x)
      row[x] = weighed(shifter.push_y(z[y + 1][x], z[y][x]), z[y + 1][x],
                       shifter.shift_y(z[y + 1][x], z[2][x]));
    for (size_t x = 0; x < 2; ++x)
      quarter[y][x] = weighed(shifter.push_x(row[x + 1], row[x]), row[x + 1],
                              shifter.shift_x(row[x + 1], row[2]));
  }
  return halver.halved(quarter[0][0], quarter[0][1], quarter[1][0], quarter[1][1]);
}

void restrict_range(const TransferPlan& plan, const uint64_t* free, const float* from, float* to,
                    size_t begin, size_t end) {
  const PlaneShifter<float> shifter;
  const PlaneHalver halver;
  alignas(64) float factors[block_cells];
  for (size_t b = begin; b < end; ++b) {
    bit_factors(free[b], factors);
    for (size_t c = 0; c < 3; ++c)
      for (size_t k = 0; k < 4; ++k) {
        const size_t at = k * plane_size;
        const Plane<float> sum =
            restricted(shifter, halver, plan.children[b], from + c * block_cells, k);
        for (size_t r = 0; r < Plane<float>::registers; ++r) {
          const size_t n = at + r * WideFloat::lanes;
          store(sum.part[r] * load(factors + n), to + b * vector_block + c * block_cells + n);
        }
      }
  }
}

SUPPLE_KERNELS_END

#if SUPPLE_KERNELS_ONCE
namespace supple {
namespace {
SUPPLE_KERNEL(prolong_range);
SUPPLE_KERNEL(restrict_range);
}  // namespace

TransferPlan plan_transfer(const SparseLattice& fine, const SparseLattice& coarse) {
  const auto or_none = [](int32_t found, const SparseLattice& l) {
    return found < 0 ? static_cast<int32_t>(l.block_count()) : found;
  };
  TransferPlan plan;
  plan.parents.resize(fine.block_count());
  plan.children.resize(coarse.block_count());
  parallel_for(fine.block_count(), 256, [&](size_t begin, size_t end) {
    for (size_t b = begin; b < end; ++b)
      plan.parents[b] = or_none(coarse.find_block(floor_div(fine.blocks[b], 2)), coarse);
  });
  parallel_for(coarse.block_count(), 64, [&](size_t begin, size_t end) {
    for (size_t b = begin; b < end; ++b)
      for (int n = 0; n < 27; ++n) {
        const Vec3i at = coarse.blocks[b] * 2 + Vec3i(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1);
        plan.children[b][static_cast<size_t>(n)] = or_none(fine.find_block(at), fine);
      }
  });
  return plan;
}

void prolong_blocks(const SparseLattice& fine, const SparseLattice& coarse,
                    const TransferPlan& plan, const uint64_t* free, const float* from, float* to,
                    size_t begin, size_t end) {
  SUPPLE_DISPATCH(prolong_range)(fine, coarse, plan, free, from, to, begin, end);
}

void restrict_blocks(const TransferPlan& plan, const uint64_t* free, const float* from, float* to,
                     size_t begin, size_t end) {
  SUPPLE_DISPATCH(restrict_range)(plan, free, from, to, begin, end);
}

}  // namespace supple
#endif
