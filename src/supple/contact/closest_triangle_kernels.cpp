#include "supple/contact/closest_triangle_kernels.h"

#define SUPPLE_KERNEL_FILE "supple/contact/closest_triangle_kernels.cpp"
#include "supple/math/for_each_target.h"

#include "supple/math/wide.h"

SUPPLE_KERNELS_BEGIN

// Keeps the place (v, w) on edges ab and ac when it is closer; p is the point from corner a.
struct BestPlace {
  WideFloat distance2, v, w;
};

// With a at the origin: the square of |p - v b - w c| by the products of the three.
struct Products {
  WideFloat bb, cc, bc, bp, cp, pp;

  HWY_INLINE WideFloat distance2(WideFloat v, WideFloat w) const {
    const WideFloat two(2.0f);
    const WideFloat linear = two * (v * bp + w * cp);
    return pp - linear + v * v * bb + w * w * cc + two * (v * w * bc);
  }
};

HWY_INLINE WideFloat clamp01(WideFloat x) { return min(max(x, WideFloat(0.0f)), WideFloat(1.0f)); }

HWY_INLINE void keep(const Products& k, WideFloat v, WideFloat w, BestPlace& best) {
  const WideFloat d = k.distance2(v, w);
  const WideMask closer = d < best.distance2;
  best = {select(closer, d, best.distance2), select(closer, v, best.v), select(closer, w, best.w)};
}

// The closest point of the three edges, and of the inside where the point lies above it.
HWY_INLINE BestPlace closest_place(const Products& k) {
  const WideFloat zero(0.0f), one(1.0f), tiny(1e-30f);
  // On ab, on ac, then on bc from b.
  const WideFloat on_ab = clamp01(k.bp / max(k.bb, tiny));
  BestPlace best{k.distance2(on_ab, zero), on_ab, zero};
  keep(k, zero, clamp01(k.cp / max(k.cc, tiny)), best);
  const WideFloat length = k.bb + k.cc - k.bc - k.bc;
  const WideFloat on_bc = clamp01((k.cp - k.bp - k.bc + k.bb) / max(length, tiny));
  keep(k, one - on_bc, on_bc, best);
  // Inside: the weights of the foot of the perpendicular.
  const WideFloat area = k.bb * k.cc - k.bc * k.bc;
  const WideFloat scale = one / max(area, tiny);
  const WideFloat v = (k.cc * k.bp - k.bc * k.cp) * scale, w = (k.bb * k.cp - k.bc * k.bp) * scale;
  // Without an area the place may be anywhere on the triangle; it counts if it is closer.
  const WideMask inside = (v > zero) & (w > zero) & (v + w < one);
  keep(k, select(inside, v, best.v), select(inside, w, best.w), best);
  return best;
}

template <bool facing>
HWY_INLINE ClosestTriangle search(const TriangleRows& t, size_t count, const float* point,
                                  const float* direction) {
  constexpr size_t lanes = WideFloat::lanes;
  WideFloat least(1e30f), at(0.0f), best_v(0.0f), best_w(0.0f);
  for (size_t i = 0; i < count; i += lanes) {
    const auto row = [&](size_t r) { return load(t.rows + r * t.stride + i); };
    const WideFloat px = WideFloat(point[0]) - row(0), py = WideFloat(point[1]) - row(1),
                    pz = WideFloat(point[2]) - row(2);
    const WideFloat bx = row(3), by = row(4), bz = row(5), cx = row(6), cy = row(7), cz = row(8);
    const Products k{bx * bx + by * by + bz * bz, cx * cx + cy * cy + cz * cz,
                     bx * cx + by * cy + bz * cz, bx * px + by * py + bz * pz,
                     cx * px + cy * py + cz * pz, px * px + py * py + pz * pz};
    const BestPlace place = closest_place(k);
    WideMask closer = place.distance2 < least;
    if constexpr (facing) {
      const WideFloat along = (by * cz - bz * cy) * WideFloat(direction[0]) +
                              (bz * cx - bx * cz) * WideFloat(direction[1]) +
                              (bx * cy - by * cx) * WideFloat(direction[2]);
      closer = closer & (along < WideFloat(0.0f));
    }
    least = select(closer, place.distance2, least);
    at = select(closer, WideFloat(static_cast<float>(i)), at);
    best_v = select(closer, place.v, best_v);
    best_w = select(closer, place.w, best_w);
  }
  alignas(64) float d[lanes], first[lanes], v[lanes], w[lanes];
  store(least, d);
  store(at, first);
  store(best_v, v);
  store(best_w, w);
  ClosestTriangle best{1e30f, 0, 0, 0};
  for (size_t lane = 0; lane < lanes; ++lane) {
    const auto triangle = static_cast<int32_t>(first[lane]) + static_cast<int32_t>(lane);
    if (triangle >= static_cast<int32_t>(count)) continue;
    if (d[lane] < best.distance2 || (d[lane] == best.distance2 && triangle < best.triangle))
      best = {d[lane], triangle, v[lane], w[lane]};
  }
  best.distance2 = best.distance2 > 0 ? best.distance2 : 0;
  return best;
}

// The way meets a triangle where from + t way = a + v b + w c [Möller 1997].
ClosestTriangle first_crossing_loop(const TriangleRows& t, size_t count, const float* from,
                                    const float* to) {
  constexpr size_t lanes = WideFloat::lanes;
  const WideFloat zero(0.0f), one(1.0f);
  const WideFloat wx(to[0] - from[0]), wy(to[1] - from[1]), wz(to[2] - from[2]);
  ClosestTriangle best{1e30f, 0, 0, 0};
  for (size_t i = 0; i < count; i += lanes) {
    const auto row = [&](size_t r) { return load(t.rows + r * t.stride + i); };
    const WideFloat px = WideFloat(from[0]) - row(0), py = WideFloat(from[1]) - row(1),
                    pz = WideFloat(from[2]) - row(2);
    const WideFloat bx = row(3), by = row(4), bz = row(5), cx = row(6), cy = row(7), cz = row(8);
    // way × c, p × b
    const WideFloat hx = wy * cz - wz * cy, hy = wz * cx - wx * cz, hz = wx * cy - wy * cx;
    const WideFloat qx = py * bz - pz * by, qy = pz * bx - px * bz, qz = px * by - py * bx;
    const WideFloat facing = bx * hx + by * hy + bz * hz;  // positive where it enters
    const WideFloat scale = one / max(facing, WideFloat(1e-30f));
    const WideFloat v = (px * hx + py * hy + pz * hz) * scale;
    const WideFloat w = (wx * qx + wy * qy + wz * qz) * scale;
    const WideFloat when = (cx * qx + cy * qy + cz * qz) * scale;
    const WideMask hits = (facing > zero) & (v >= zero) & (w >= zero) & (v + w <= one) &
                          (when >= zero) & (when <= one);
    alignas(64) float found[lanes], second[lanes], third[lanes];
    store(select(hits, when, WideFloat(1e30f)), found);
    store(v, second);
    store(w, third);
    for (size_t lane = 0; lane < lanes && i + lane < count; ++lane)
      if (found[lane] < best.distance2)
        best = {found[lane], static_cast<int32_t>(i + lane), second[lane], third[lane]};
  }
  return best;
}

ClosestTriangle closest_triangle_loop(const TriangleRows& t, size_t count, const float* point) {
  return search<false>(t, count, point, nullptr);
}

ClosestTriangle closest_facing_loop(const TriangleRows& t, size_t count, const float* point,
                                    const float* direction) {
  return search<true>(t, count, point, direction);
}

SUPPLE_KERNELS_END

#if SUPPLE_KERNELS_ONCE
namespace supple {

SUPPLE_KERNEL(closest_triangle_loop);

ClosestTriangle closest_triangle(const TriangleRows& triangles, size_t count, const float* point) {
  return SUPPLE_DISPATCH(closest_triangle_loop)(triangles, count, point);
}

SUPPLE_KERNEL(closest_facing_loop);

ClosestTriangle closest_facing(const TriangleRows& triangles, size_t count, const float* point,
                               const float* direction) {
  return SUPPLE_DISPATCH(closest_facing_loop)(triangles, count, point, direction);
}

SUPPLE_KERNEL(first_crossing_loop);

ClosestTriangle first_crossing(const TriangleRows& triangles, size_t count, const float* from,
                               const float* to) {
  return SUPPLE_DISPATCH(first_crossing_loop)(triangles, count, from, to);
}

}  // namespace supple
#endif
