#include "supple/voxels/cell_kernels.h"

#define SUPPLE_KERNEL_FILE "supple/voxels/cell_kernels.cpp"
#include "supple/math/for_each_target.h"

#include "supple/math/small.h"
#include "supple/math/svd3.h"

SUPPLE_KERNELS_BEGIN

HWY_INLINE Matrix3<WideFloat> load_frame(const float* frames, size_t lane) {
  const float* f = frames + lane;
  return {load(f),
          load(f + cell_group),
          load(f + 2 * cell_group),
          load(f + 3 * cell_group),
          load(f + 4 * cell_group),
          load(f + 5 * cell_group),
          load(f + 6 * cell_group),
          load(f + 7 * cell_group),
          load(f + 8 * cell_group)};
}

HWY_INLINE Vector3<WideFloat> gather_node(const float* x, const int32_t* corner) {
  const WideInt at = load_int(corner);
  return {gather(x, at), gather(x + 1, at), gather(x + 2, at)};
}

HWY_INLINE Vector3<WideFloat> select(WideMask mask, const Vector3<WideFloat>& yes,
                                     const Vector3<WideFloat>& no) {
  return {select(mask, yes.x, no.x), select(mask, yes.y, no.y), select(mask, yes.z, no.z)};
}

HWY_INLINE Vector3<WideFloat> scaled(const Vector3<WideFloat>& v, WideFloat s) {
  return {s * v.x, s * v.y, s * v.z};
}

constexpr size_t lanes = WideFloat::lanes < cell_group ? WideFloat::lanes : cell_group;

// Six rows of matrices times vectors; six sums at a time stay in registers on every target.
HWY_INLINE void six_rows(const float* rows, const float* u, float* y) {
  WideFloat a(0.0f), b(0.0f), c(0.0f), d(0.0f), e(0.0f), f(0.0f);
  constexpr size_t row = 24 * cell_group;
  for (size_t j = 0; j < 24; ++j) {
    const WideFloat v = load(u + j * cell_group);
    const float* m = rows + j * cell_group;
    a = mul_add(load(m), v, a);
    b = mul_add(load(m + row), v, b);
    c = mul_add(load(m + 2 * row), v, c);
    d = mul_add(load(m + 3 * row), v, d);
    e = mul_add(load(m + 4 * row), v, e);
    f = mul_add(load(m + 5 * row), v, f);
  }
  store(a, y);
  store(b, y + cell_group);
  store(c, y + 2 * cell_group);
  store(d, y + 3 * cell_group);
  store(e, y + 4 * cell_group);
  store(f, y + 5 * cell_group);
}

// y = R A u for vectors u in the cells' frames, times `sign`.
HWY_INLINE void multiply_and_turn(const float* matrices, const Matrix3<WideFloat>& frame,
                                  const float* u, WideFloat sign, size_t lane, float* out) {
  for (size_t half = 0; half < 4; ++half) {
    HWY_ALIGN float y[6 * cell_group];
    six_rows(matrices + 6 * half * 24 * cell_group + lane, u + lane, y + lane);
    for (size_t k = 0; k < 2; ++k) {
      const float* from = y + 3 * k * cell_group + lane;
      float* to = out + (6 * half + 3 * k) * cell_group + lane;
      const Vector3<WideFloat> turned =
          times(frame, {load(from), load(from + cell_group), load(from + 2 * cell_group)});
      store(sign * turned.x, to);
      store(sign * turned.y, to + cell_group);
      store(sign * turned.z, to + 2 * cell_group);
    }
  }
}

HWY_INLINE void store_corner(const Vector3<WideFloat>& v, float* to) {
  store(v.x, to);
  store(v.y, to + cell_group);
  store(v.z, to + 2 * cell_group);
}

void multiply_kernel(const CellTables& tables, const float* matrices, const float* x,
                     float* products, size_t begin, size_t end) {
  HWY_ALIGN float u[vector_group];
  for (size_t g = begin; g < end; ++g)
    for (size_t lane = 0; lane < cell_group; lane += lanes) {
      const int32_t* corners = tables.corners + g * 8 * cell_group + lane;
      const Matrix3<WideFloat> frame = load_frame(tables.frames + g * frame_group, lane);
      for (size_t i = 0; i < 8; ++i)
        store_corner(transposed_times(frame, gather_node(x, corners + i * cell_group)),
                     u + 3 * i * cell_group + lane);
      multiply_and_turn(matrices + g * matrix_group, frame, u, WideFloat(1.0f), lane,
                        products + g * vector_group);
    }
}

void forces_kernel(const CellTables& tables, const float* matrices, const float* x, float side,
                   float* forces, size_t begin, size_t end) {
  HWY_ALIGN float u[vector_group];
  for (size_t g = begin; g < end; ++g)
    for (size_t lane = 0; lane < cell_group; lane += lanes) {
      const int32_t* corners = tables.corners + g * 8 * cell_group + lane;
      const Matrix3<WideFloat> frame = load_frame(tables.frames + g * frame_group, lane);
      // Relative to the first corner, as the stiffness feels no translation but rounding does.
      const Vector3<WideFloat> base = gather_node(x, corners);
      for (size_t i = 0; i < 8; ++i) {
        Vector3<WideFloat> local =
            transposed_times(frame, gather_node(x, corners + i * cell_group) - base);
        local.x -= WideFloat((i & 1) != 0 ? side : 0.0f);
        local.y -= WideFloat((i & 2) != 0 ? side : 0.0f);
        local.z -= WideFloat((i & 4) != 0 ? side : 0.0f);
        store_corner(local, u + 3 * i * cell_group + lane);
      }
      multiply_and_turn(matrices + g * matrix_group, frame, u, WideFloat(-1.0f), lane,
                        forces + g * vector_group);
    }
}

// The mean of the four edges along an axis: corners with the bit set, minus those without.
HWY_INLINE Vector3<WideFloat> mean_edge(const float* x, const int32_t* corners,
                                        const float* weights, size_t axis) {
  Vector3<WideFloat> sum{WideFloat(0.0f), WideFloat(0.0f), WideFloat(0.0f)};
  const size_t first = axis == 0 ? 1 : 0, second = axis == 2 ? 1 : 2;
  for (size_t e = 0; e < 4; ++e) {
    const size_t low = (e & 1) << first | (e >> 1) << second;
    const Vector3<WideFloat> edge =
        gather_node(x, corners + (low | size_t{1} << axis) * cell_group) -
        gather_node(x, corners + low * cell_group);
    sum = sum + scaled(edge, load(weights + (4 * axis + e) * cell_group));
  }
  return sum;
}

HWY_INLINE void store_frame(const Matrix3<WideFloat>& m, float* to) {
  store(m.a00, to);
  store(m.a01, to + cell_group);
  store(m.a02, to + 2 * cell_group);
  store(m.a10, to + 3 * cell_group);
  store(m.a11, to + 4 * cell_group);
  store(m.a12, to + 5 * cell_group);
  store(m.a20, to + 6 * cell_group);
  store(m.a21, to + 7 * cell_group);
  store(m.a22, to + 8 * cell_group);
}

// The volume of the cube with the three edges at a corner, or more where the corner does not count.
HWY_INLINE WideFloat corner_volume(const float* x, const int32_t* corners, const float* empty,
                                   size_t corner) {
  const auto edge = [&](size_t axis) HWY_ATTR {
    const size_t bit = size_t{1} << axis;
    return gather_node(x, corners + (corner | bit) * cell_group) -
           gather_node(x, corners + (corner & ~bit) * cell_group);
  };
  return dot(edge(0), cross(edge(1), edge(2))) + load(empty + corner * cell_group);
}

float gradients_kernel(const CellTables& tables, const float* x, float* gradients, float* volumes,
                       size_t begin, size_t end) {
  WideFloat least(1e30f);
  for (size_t g = begin; g < end; ++g)
    for (size_t lane = 0; lane < cell_group; lane += lanes) {
      const int32_t* corners = tables.corners + g * corner_group + lane;
      const float* weights = tables.edges + g * edge_group + lane;
      const Vector3<WideFloat> ex = mean_edge(x, corners, weights, 0),
                               ey = mean_edge(x, corners, weights, 1),
                               ez = mean_edge(x, corners, weights, 2);
      store_frame({ex.x, ey.x, ez.x, ex.y, ey.y, ez.y, ex.z, ey.z, ez.z},
                  gradients + g * frame_group + lane);
      WideFloat volume(1e30f);
      for (size_t i = 0; i < 8; ++i)
        volume = min(volume, corner_volume(x, corners, tables.empty + g * corner_group + lane, i));
      store(volume, volumes + g * cell_group + lane);
      least = min(least, min(volume, dot(ex, cross(ey, ez))));
    }
  alignas(64) float all[WideFloat::lanes];
  store(least, all);
  for (size_t i = 1; i < WideFloat::lanes; ++i) all[0] = all[i] < all[0] ? all[i] : all[0];
  return all[0];
}

void turn_kernel(float* frames, size_t begin, size_t end) {
  for (size_t g = begin; g < end; ++g)
    for (size_t lane = 0; lane < cell_group; lane += lanes) {
      float* frame = frames + g * frame_group + lane;
      store_frame(rotation_matrix(polar_rotation(svd3(load_frame(frame, 0)))), frame);
    }
}

void add_up_kernel(const NodeSums& sums, const float* products, float* out, size_t begin,
                   size_t end) {
  for (size_t n = begin; n < end; ++n) {
    float x = 0, y = 0, z = 0;
    for (uint32_t e = sums.offsets[n]; e < sums.offsets[n + 1]; ++e) {
      const float* from = products + sums.entries[e];
      x += from[0];
      y += from[cell_group];
      z += from[2 * cell_group];
    }
    out[3 * n] = x;
    out[3 * n + 1] = y;
    out[3 * n + 2] = z;
  }
}

SUPPLE_KERNELS_END

#if SUPPLE_KERNELS_ONCE
namespace supple {

SUPPLE_KERNEL(multiply_kernel);
SUPPLE_KERNEL(forces_kernel);
SUPPLE_KERNEL(gradients_kernel);
SUPPLE_KERNEL(turn_kernel);
SUPPLE_KERNEL(add_up_kernel);

void multiply_cells(const CellTables& tables, const float* matrices, const float* x,
                    float* products, size_t begin, size_t end) {
  SUPPLE_DISPATCH(multiply_kernel)(tables, matrices, x, products, begin, end);
}

void cell_forces(const CellTables& tables, const float* matrices, const float* x, float side,
                 float* forces, size_t begin, size_t end) {
  SUPPLE_DISPATCH(forces_kernel)(tables, matrices, x, side, forces, begin, end);
}

float cell_gradients(const CellTables& tables, const float* x, float* gradients, float* volumes,
                     size_t begin, size_t end) {
  return SUPPLE_DISPATCH(gradients_kernel)(tables, x, gradients, volumes, begin, end);
}

void turn_cells(float* frames, size_t begin, size_t end) {
  SUPPLE_DISPATCH(turn_kernel)(frames, begin, end);
}

void add_up_cells(const NodeSums& sums, const float* products, float* out, size_t begin,
                  size_t end) {
  SUPPLE_DISPATCH(add_up_kernel)(sums, products, out, begin, end);
}

}  // namespace supple
#endif
