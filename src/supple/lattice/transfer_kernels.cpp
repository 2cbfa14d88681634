#include "supple/lattice/transfer_kernels.h"

#include <cstring>

#include "supple/core/parallel.h"

#define SUPPLE_KERNEL_FILE "supple/lattice/transfer_kernels.cpp"
#include "supple/math/for_each_target.h"

#include "supple/math/wide.h"

SUPPLE_KERNELS_BEGIN

// One component of a fine block from the 3x3x3 coarse nodes around it, axis by axis.
HWY_INLINE void interpolate(const float (&c)[3][3][3], float (&f)[4][16]) {
  float x[3][3][4];
  for (size_t k = 0; k < 3; ++k)
    for (size_t j = 0; j < 3; ++j) {
      const float* r = c[k][j];
      x[k][j][0] = r[0];
      x[k][j][1] = 0.5f * (r[0] + r[1]);
      x[k][j][2] = r[1];
      x[k][j][3] = 0.5f * (r[1] + r[2]);
    }
  float y[3][16];
  for (size_t k = 0; k < 3; ++k)
    for (size_t i = 0; i < 4; ++i) {
      y[k][0 + i] = x[k][0][i];
      y[k][4 + i] = 0.5f * (x[k][0][i] + x[k][1][i]);
      y[k][8 + i] = x[k][1][i];
      y[k][12 + i] = 0.5f * (x[k][1][i] + x[k][2][i]);
    }
  const float *a = y[0], *b = y[1], *d = y[2];
  for (size_t i = 0; i < 16; ++i) {
    f[0][i] = a[i];
    f[1][i] = 0.5f * (a[i] + b[i]);
    f[2][i] = b[i];
    f[3][i] = 0.5f * (b[i] + d[i]);
  }
}

// Coarse nodes o .. o + 2 along each axis, from a block and its upper neighbours.
HWY_INLINE void corner_nodes(const float* from, const std::array<int32_t, 8>& upper,
                             const int (&o)[3], size_t component, float (&c)[3][3][3]) {
  for (int k = 0; k < 3; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 3; ++i) {
        const auto x = static_cast<size_t>(o[0]) + static_cast<size_t>(i),
                   y = static_cast<size_t>(o[1]) + static_cast<size_t>(j),
                   z = static_cast<size_t>(o[2]) + static_cast<size_t>(k);
        const size_t across = (x >> 2) | (y >> 2) << 1 | (z >> 2) << 2;
        const size_t local = (x & 3) + 4 * (y & 3) + 16 * (z & 3);
        c[k][j][i] = from[static_cast<size_t>(upper[across]) * vector_block +
                          component * block_cells + local];
      }
}

void prolong_range(const SparseLattice& fine, const SparseLattice& coarse, const TransferPlan& plan,
                   const uint64_t* free, const float* from, float* to, size_t begin, size_t end) {
  for (size_t b = begin; b < end; ++b) {
    const auto parent = static_cast<size_t>(plan.parents[b]);
    if (parent == coarse.block_count()) continue;
    const Vec3i& at = fine.blocks[b];
    const int o[3] = {2 * (at[0] & 1), 2 * (at[1] & 1), 2 * (at[2] & 1)};
    float mask[block_cells];
    for (size_t i = 0; i < block_cells; ++i) mask[i] = static_cast<float>((free[b] >> i) & 1);
    for (size_t c = 0; c < 3; ++c) {
      float corner[3][3][3], value[4][16];
      corner_nodes(from, coarse.upper[parent], o, c, corner);
      interpolate(corner, value);
      float* out = to + b * vector_block + c * block_cells;
      for (size_t i = 0; i < block_cells; ++i) out[i] += mask[i] * value[i / 16][i % 16];
    }
  }
}

// Nodes -1 .. 7 along each axis around a coarse block's fine blocks, rows padded to 12.
struct FineNodes {
  float of[9][9 * 12];
};

HWY_INLINE void collect(const std::array<int32_t, 27>& children, const float* from,
                        size_t component, FineNodes& nodes) {
  for (size_t k = 0; k < 9; ++k)
    for (size_t j = 0; j < 9; ++j) {
      // Along an axis, node -1 is the last one of the block below; 0 to 7 are two blocks of four.
      const size_t bz = (k + 3) / 4, by = (j + 3) / 4, row = ((k + 3) % 4) * 16 + ((j + 3) % 4) * 4;
      float* to = nodes.of[k] + 12 * j;
      const auto part = [&](size_t bx) {
        return from + static_cast<size_t>(children[bx + 3 * by + 9 * bz]) * vector_block +
               component * block_cells + row;
      };
      to[0] = part(0)[3];
      std::memcpy(to + 1, part(1), 4 * sizeof(float));
      std::memcpy(to + 5, part(2), 4 * sizeof(float));
    }
}

// One component of a coarse block: along each axis f[2i] + (f[2i - 1] + f[2i + 1]) / 2.
HWY_INLINE void weigh(const FineNodes& nodes, float (&out)[block_cells]) {
  float z[4][9 * 12];
  for (size_t k = 0; k < 4; ++k) {
    const float *a = nodes.of[2 * k], *b = nodes.of[2 * k + 1], *c = nodes.of[2 * k + 2];
    for (size_t i = 0; i < 9 * 12; ++i) z[k][i] = b[i] + 0.5f * (a[i] + c[i]);
  }
  for (size_t k = 0; k < 4; ++k)
    for (size_t j = 0; j < 4; ++j) {
      float y[12];
      const float *a = z[k] + 24 * j, *b = a + 12, *c = a + 24;
      for (size_t i = 0; i < 12; ++i) y[i] = b[i] + 0.5f * (a[i] + c[i]);
      for (size_t i = 0; i < 4; ++i)
        out[k * 16 + j * 4 + i] = y[2 * i + 1] + 0.5f * (y[2 * i] + y[2 * i + 2]);
    }
}

void restrict_range(const TransferPlan& plan, const uint64_t* free, const float* from, float* to,
                    size_t begin, size_t end) {
  FineNodes nodes;
  std::memset(&nodes, 0, sizeof(nodes));
  for (size_t b = begin; b < end; ++b)
    for (size_t c = 0; c < 3; ++c) {
      collect(plan.children[b], from, c, nodes);
      float value[block_cells];
      weigh(nodes, value);
      float* out = to + b * vector_block + c * block_cells;
      for (size_t i = 0; i < block_cells; ++i)
        out[i] = value[i] * static_cast<float>((free[b] >> i) & 1);
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
