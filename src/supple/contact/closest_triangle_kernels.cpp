#include "supple/contact/closest_triangle_kernels.h"

#define SUPPLE_KERNEL_FILE "supple/contact/closest_triangle_kernels.cpp"
#include "supple/math/for_each_target.h"

#include "supple/math/wide.h"

SUPPLE_KERNELS_BEGIN

// Triangles side by side, with what finding the closest point of each needs but the point: products
// of the edges b and c from corner a.
struct Triangles {
  WideFloat ax, ay, az, bx, by, bz, cx, cy, cz;
  WideFloat bb, cc, bc, per_bb, per_cc, per_length, per_area;

  HWY_INLINE Triangles(const TriangleRows& t, size_t i) {
    const auto row = [&](size_t r) { return load(t.rows + r * t.stride + i); };
    const WideFloat one(1.0f), tiny(1e-30f);
    ax = row(0), ay = row(1), az = row(2);
    bx = row(3), by = row(4), bz = row(5);
    cx = row(6), cy = row(7), cz = row(8);
    bb = bx * bx + by * by + bz * bz;
    cc = cx * cx + cy * cy + cz * cz;
    bc = bx * cx + by * cy + bz * cz;
    per_bb = one / max(bb, tiny);
    per_cc = one / max(cc, tiny);
    per_length = one / max(bb + cc - bc - bc, tiny);
    per_area = one / max(bb * cc - bc * bc, tiny);
  }
};

// The closest place (v, w) on edges b and c so far, and how far from the point.
struct BestPlace {
  WideFloat distance2, v, w;
};

HWY_INLINE WideFloat clamp01(WideFloat x) { return min(max(x, WideFloat(0.0f)), WideFloat(1.0f)); }

// The closest point of the three edges, and of the inside where the point lies above it.
HWY_INLINE BestPlace closest_place(const Triangles& t, const float* point) {
  const WideFloat zero(0.0f), one(1.0f), two(2.0f);
  const WideFloat px = WideFloat(point[0]) - t.ax, py = WideFloat(point[1]) - t.ay,
                  pz = WideFloat(point[2]) - t.az;
  const WideFloat bp = t.bx * px + t.by * py + t.bz * pz;
  const WideFloat cp = t.cx * px + t.cy * py + t.cz * pz;
  const WideFloat pp = px * px + py * py + pz * pz;
  // |p - v b - w c|² by the products of the three.
  const auto distance2 = [&](WideFloat v, WideFloat w) {
    const WideFloat linear = two * (v * bp + w * cp);
    return pp - linear + v * v * t.bb + w * w * t.cc + two * (v * w * t.bc);
  };
  const auto keep = [&](WideFloat v, WideFloat w, BestPlace& best) {
    const WideFloat d = distance2(v, w);
    const WideMask closer = d < best.distance2;
    best = {select(closer, d, best.distance2), select(closer, v, best.v),
            select(closer, w, best.w)};
  };
  // On ab, on ac, then on bc from b.
  const WideFloat on_ab = clamp01(bp * t.per_bb);
  BestPlace best{distance2(on_ab, zero), on_ab, zero};
  keep(zero, clamp01(cp * t.per_cc), best);
  const WideFloat on_bc = clamp01((cp - bp - t.bc + t.bb) * t.per_length);
  keep(one - on_bc, on_bc, best);
  // Inside: the weights of the foot of the perpendicular.
  const WideFloat v = (t.cc * bp - t.bc * cp) * t.per_area,
                  w = (t.bb * cp - t.bc * bp) * t.per_area;
  // Without an area the place may be anywhere on the triangle; it counts if it is closer.
  const WideMask inside = (v > zero) & (w > zero) & (v + w < one);
  keep(select(inside, v, best.v), select(inside, w, best.w), best);
  return best;
}

// Takes the closest of the triangles over where it is closer than the best so far; of those equally
// close the first. Lanes past the last triangle are copies of it.
HWY_INLINE void take_closest(const BestPlace& place, WideMask counts, int32_t first,
                             ClosestTriangle& best) {
  const WideFloat::Tag tag;
  const WideFloat d = max(place.distance2, WideFloat(0.0f));
  const WideMask closer = counts & (d < WideFloat(best.distance2));
  if (!any(closer)) return;
  const WideFloat those = select(closer, d, WideFloat(best.distance2));
  const WideFloat least(hn::MinOfLanes(tag, those.value));
  const auto lane = static_cast<size_t>(hn::FindFirstTrue(tag, (those == least).value));
  alignas(64) float numbers[3][WideFloat::lanes];
  store(d, numbers[0]);
  store(place.v, numbers[1]);
  store(place.w, numbers[2]);
  best = {numbers[0][lane], first + static_cast<int32_t>(lane), numbers[1][lane], numbers[2][lane]};
}

template <bool facing>
HWY_INLINE ClosestTriangle search(const TriangleRows& t, size_t count, const float* point,
                                  const float* direction) {
  ClosestTriangle best{1e30f, 0, 0, 0};
  for (size_t i = 0; i < count; i += WideFloat::lanes) {
    const Triangles triangles(t, i);
    const BestPlace place = closest_place(triangles, point);
    WideMask counts = place.distance2 < WideFloat(1e30f);
    if constexpr (facing) {
      const Triangles& k = triangles;
      const WideFloat along = (k.by * k.cz - k.bz * k.cy) * WideFloat(direction[0]) +
                              (k.bz * k.cx - k.bx * k.cz) * WideFloat(direction[1]) +
                              (k.bx * k.cy - k.by * k.cx) * WideFloat(direction[2]);
      counts = counts & (along < WideFloat(0.0f));
    }
    take_closest(place, counts, static_cast<int32_t>(i), best);
  }
  return best;
}

// Patches outside, points inside: what a patch's triangles have in common is computed once.
void closest_of_patches_loop(std::span<const PatchTriangles> all, std::span<const uint32_t> some,
                             const PointRows& points, std::span<ClosestTriangle> best) {
  alignas(64) float distances[points_at_once], reach[points_at_once];
  for (size_t i = 0; i < points_at_once; ++i) reach[i] = i < best.size() ? best[i].distance2 : 0.0f;
  for (const uint32_t number : some) {
    const PatchTriangles& patch = all[number];
    // How far the points are from the patch's box.
    bool any_close = false;
    for (size_t i = 0; i < best.size(); i += WideFloat::lanes) {
      WideFloat sum(0.0f);
      for (int k = 0; k < 3; ++k) {
        const WideFloat p = load(points.rows[k] + i);
        const WideFloat off =
            max(max(WideFloat(patch.low[k]) - p, p - WideFloat(patch.high[k])), WideFloat(0.0f));
        sum = mul_add(off, off, sum);
      }
      store(sum, distances + i);
      any_close = any_close || any(sum < load(reach + i));
    }
    if (!any_close) continue;
    for (size_t first = 0; first < patch.count; first += WideFloat::lanes) {
      const Triangles triangles(patch.triangles, first);
      for (size_t i = 0; i < best.size(); ++i) {
        if (!(distances[i] < reach[i])) continue;
        const float point[3] = {points.rows[0][i], points.rows[1][i], points.rows[2][i]};
        const BestPlace place = closest_place(triangles, point);
        take_closest(place, place.distance2 < WideFloat(reach[i]),
                     patch.first + static_cast<int32_t>(first), best[i]);
        reach[i] = best[i].distance2;
      }
    }
  }
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

SUPPLE_KERNEL(closest_of_patches_loop);

void closest_of_patches(std::span<const PatchTriangles> all, std::span<const uint32_t> some,
                        const PointRows& points, std::span<ClosestTriangle> best) {
  SUPPLE_DISPATCH(closest_of_patches_loop)(all, some, points, best);
}

SUPPLE_KERNEL(first_crossing_loop);

ClosestTriangle first_crossing(const TriangleRows& triangles, size_t count, const float* from,
                               const float* to) {
  return SUPPLE_DISPATCH(first_crossing_loop)(triangles, count, from, to);
}

}  // namespace supple
#endif
