#include "supple/surface/surface_kernels.h"

#include <cmath>
#include <cstring>

#define SUPPLE_KERNEL_FILE "supple/surface/surface_kernels.cpp"
#include "supple/math/for_each_target.h"

#include "supple/math/small.h"
#include "supple/math/svd3.h"
#include "supple/surface/region_lanes.h"

SUPPLE_KERNELS_BEGIN

Bounds predict_kernel(float* x, float* v, float dt, const float* acceleration, const float* refuge,
                      size_t begin, size_t end) {
  const WideFloat most(3e15f), step(dt), zero(0.0f);
  const Vec a{WideFloat(dt * acceleration[0]), WideFloat(dt * acceleration[1]),
              WideFloat(dt * acceleration[2])};
  Vec low{most, most, most}, high{-most, -most, -most};
  for (size_t i = begin; i < end; i += WideFloat::lanes) {
    const size_t count = end - i;
    Vec p = load_vectors(x, i, count), u = load_vectors(v, i, count) + a;
    const WideFloat speed = abs(u.x) + abs(u.y) + abs(u.z);
    const auto moving = speed < WideFloat(1e12f);
    u = {select(moving, u.x, zero), select(moving, u.y, zero), select(moving, u.z, zero)};
    p = {mul_add(step, u.x, p.x), mul_add(step, u.y, p.y), mul_add(step, u.z, p.z)};
    const auto here = abs(p.x) + abs(p.y) + abs(p.z) < WideFloat(1e12f);
    p = {select(here, p.x, WideFloat(refuge[0])), select(here, p.y, WideFloat(refuge[1])),
         select(here, p.z, WideFloat(refuge[2]))};
    store_vectors(p, x, i, count);
    store_vectors(u, v, i, count);
    if (count < WideFloat::lanes) p = load_vectors_repeated(x, i, count);
    low = {min(low.x, p.x), min(low.y, p.y), min(low.z, p.z)};
    high = {max(high.x, p.x), max(high.y, p.y), max(high.z, p.z)};
  }
  return {{least_lane(low.x), least_lane(low.y), least_lane(low.z)},
          {-least_lane(-high.x), -least_lane(-high.y), -least_lane(-high.z)}};
}

// Sums of m y y₀ᵀ and m y, row by row.
struct ShapeTerms {
  const float* moments;
  const float* x;
  const float* centre;
  float scale;
  IntQuad sum[3] = {IntQuad::zero(), IntQuad::zero(), IntQuad::zero()};

  HWY_INLINE void add(size_t i) {
    const Quad moment = Quad::load(moments + 4 * i);
    for (size_t k = 0; k < 3; ++k) {
      const float y = (x[3 * i + k] - centre[k]) * scale;
      sum[k] += IntQuad::nearest(Quad::all(min(max(y, -1.0f), 1.0f)) * moment);
    }
  }
  HWY_INLINE void store(int32_t* to) const {
    for (size_t k = 0; k < 3; ++k) sum[k].store(to + 4 * k);
  }
};

void shape_records_kernel(const PathRange& range, const SurfaceFrame& frame, const float* moments,
                          const float* x, int32_t* records) {
  size_t path = range.path;
  for (size_t i = range.begin; i < range.end; ++path) {
    ShapeTerms terms{moments, x, frame.centre, 1 / frame.reach};
    const size_t end = range.starts[path + 1];
    int32_t* to = records + shape_record * (i + path);
    for (; i < end; ++i, to += shape_record) {
      terms.store(to);
      terms.add(i);
    }
    terms.store(to);
  }
}

// A of a group's regions about their centres, and the centres: from the sums S of y y₀ᵀ and y, and
// those of y₀ and 1, Q and M, A = S - S_y Qᵀ / M [Diziol 2011, eq. 4]. Exact sums deserve doubles
// here: what is left is small beside what is subtracted.
struct ShapeGroup {
  HWY_ALIGN float matrix[9][region_group];
  HWY_ALIGN float centre[3][region_group];
  HWY_ALIGN float rest_centre[3][region_group];
  HWY_ALIGN float inverted[region_group];
};

HWY_INLINE void centre_shapes(const RegionColumns<3>& sums, const RegionColumns<1>& rest,
                              ShapeGroup& group) {
  for (size_t lane = 0; lane < region_group; lane += double_lanes) {
    const WideDouble inverse = WideDouble(1.0) / load_double(rest.column[3] + lane);
    for (size_t k = 0; k < 3; ++k)
      store_float(load_double(rest.column[k] + lane) * inverse, group.rest_centre[k] + lane);
    for (size_t r = 0; r < 3; ++r) {
      const WideDouble centre = load_double(sums.column[4 * r + 3] + lane) * inverse;
      store_float(centre, group.centre[r] + lane);
      for (size_t k = 0; k < 3; ++k)
        store_float(neg_mul_add(centre, load_double(rest.column[k] + lane),
                                load_double(sums.column[4 * r + k] + lane)),
                    group.matrix[3 * r + k] + lane);
    }
  }
}

HWY_INLINE Mat load_matrix(const float (*columns)[region_group], size_t lane) {
  return {load(columns[0] + lane), load(columns[1] + lane), load(columns[2] + lane),
          load(columns[3] + lane), load(columns[4] + lane), load(columns[5] + lane),
          load(columns[6] + lane), load(columns[7] + lane), load(columns[8] + lane)};
}
HWY_INLINE void store_matrix(const Mat& m, float (*columns)[region_group], size_t lane) {
  const WideFloat entries[9] = {m.a00, m.a01, m.a02, m.a10, m.a11, m.a12, m.a20, m.a21, m.a22};
  for (size_t k = 0; k < 9; ++k) store(entries[k], columns[k] + lane);
}

// Adds the point l off the particle along its normal [Diziol 2011, section 4].
HWY_INLINE void add_normal_point(const Vec& arm, const Vec& normal, WideFloat length,
                                 const Vec& rest, Mat& a) {
  const WideFloat scale = length * rsqrt(dot(normal, normal) + WideFloat(1e-36f));
  const Vec p{mul_add(scale, normal.x, arm.x), mul_add(scale, normal.y, arm.y),
              mul_add(scale, normal.z, arm.z)};
  a = {mul_add(p.x, rest.x, a.a00), mul_add(p.x, rest.y, a.a01), mul_add(p.x, rest.z, a.a02),
       mul_add(p.y, rest.x, a.a10), mul_add(p.y, rest.y, a.a11), mul_add(p.y, rest.z, a.a12),
       mul_add(p.z, rest.x, a.a20), mul_add(p.z, rest.y, a.a21), mul_add(p.z, rest.z, a.a22)};
}

HWY_INLINE Mat transposed(const Mat& m) {
  return {m.a00, m.a10, m.a20, m.a01, m.a11, m.a21, m.a02, m.a12, m.a22};
}
HWY_INLINE Mat scaled(const Mat& m, WideFloat s) {
  return {s * m.a00, s * m.a01, s * m.a02, s * m.a10, s * m.a11,
          s * m.a12, s * m.a20, s * m.a21, s * m.a22};
}
HWY_INLINE Mat sum(const Mat& a, const Mat& b) {
  return {a.a00 + b.a00, a.a01 + b.a01, a.a02 + b.a02, a.a10 + b.a10, a.a11 + b.a11,
          a.a12 + b.a12, a.a20 + b.a20, a.a21 + b.a21, a.a22 + b.a22};
}
HWY_INLINE Mat identity() {
  const WideFloat one(1.0f), zero(0.0f);
  return {one, zero, zero, zero, one, zero, zero, zero, one};
}
HWY_INLINE WideFloat length_of(const Mat& m) {
  const Symmetric3<WideFloat> g = gram(m);
  return sqrt(g.xx + g.yy + g.zz);
}

// The stretch of the rest shape grows with the stretch S = Rᵀ F of the region beyond what it takes
// elastically [Müller 2005, section 4.3]; volume is kept, and so is the limit.
HWY_INLINE Mat flow_plastically(const Mat& rotation, const Mat& gradient, const Mat& plastic,
                                const PlasticFlow& flow) {
  const WideFloat one(1.0f);
  const Mat inverse = transposed(cofactors(plastic));  // of determinant 1
  const Mat stretch = product(transposed(rotation), product(gradient, inverse));
  const Mat strain = sum(stretch, scaled(identity(), WideFloat(-1.0f)));
  const WideFloat size = length_of(strain);
  const auto yields = size > WideFloat(flow.yield);
  const Mat growth =
      sum(identity(), scaled(strain, select(yields, WideFloat(flow.rate), WideFloat(0.0f))));
  Mat next = product(growth, plastic);
  const WideFloat volume = determinant(next, cofactors(next));
  // A cube root by the logarithm is not there in lanes: four steps of Newton's, from near 1.
  WideFloat root = one;
  for (int step = 0; step < 4; ++step)
    root = (root + root + volume / (root * root)) * WideFloat(1.0f / 3);
  next = scaled(next, one / root);
  const WideFloat far = length_of(sum(next, scaled(identity(), WideFloat(-1.0f))));
  // Not finite, turned over or beyond the limit: it stays as it is.
  const auto good = (volume > WideFloat(0.1f)) & (volume < WideFloat(10.0f)) &
                    (far <= WideFloat(flow.limit)) & yields;
  const auto pick = [&](WideFloat a, WideFloat b) HWY_ATTR { return select(good, a, b); };
  return {pick(next.a00, plastic.a00), pick(next.a01, plastic.a01), pick(next.a02, plastic.a02),
          pick(next.a10, plastic.a10), pick(next.a11, plastic.a11), pick(next.a12, plastic.a12),
          pick(next.a20, plastic.a20), pick(next.a21, plastic.a21), pick(next.a22, plastic.a22)};
}

// Plastic stretches of a group, to lanes and back.
struct PlasticGroup {
  HWY_ALIGN float stretch[9][region_group];
  HWY_ALIGN float inverse[6][region_group];

  HWY_INLINE void load(const float* stretches, const float* inverses, size_t i, size_t count) {
    for (size_t r = 0; r < region_group; ++r) {
      const size_t from = i + (r < count ? r : 0);
      for (size_t k = 0; k < 9; ++k) stretch[k][r] = stretches[9 * from + k];
      for (size_t k = 0; k < 6; ++k) inverse[k][r] = inverses[6 * from + k];
    }
  }
  HWY_INLINE void store(float* stretches, size_t i, size_t count) const {
    for (size_t r = 0; r < count; ++r)
      for (size_t k = 0; k < 9; ++k) stretches[9 * (i + r) + k] = stretch[k][r];
  }
};

// One step of Newton's method for the rotation R that turns A most: with B = Rᵀ A and its symmetric
// part S, ω = (tr(S) 1 - S)⁻¹ axl(B - Bᵀ). Returns ω², or something large where R is not near a
// maximum.
HWY_INLINE WideFloat improve_turn(const Mat& a, Quaternion<WideFloat>& q) {
  const Mat b = product(transposed(rotation_matrix(q)), a);
  const WideFloat half(0.5f), zero(0.0f);
  const WideFloat xy = half * (b.a01 + b.a10), xz = half * (b.a02 + b.a20),
                  yz = half * (b.a12 + b.a21);
  const Mat m{b.a11 + b.a22, -xy, -xz, -xy, b.a00 + b.a22, -yz, -xz, -yz, b.a00 + b.a11};
  const Mat adjoint = cofactors(m);
  const WideFloat volume = determinant(m, adjoint);
  const WideFloat scale = half / volume;
  const Vec k{b.a21 - b.a12, b.a02 - b.a20, b.a10 - b.a01};
  const Vec raw = times(adjoint, k);
  const Vec turn{raw.x * scale, raw.y * scale, raw.z * scale};  // ω / 2
  const WideFloat square = dot(turn, turn);
  const auto good =
      (m.a00 > zero) & (adjoint.a22 > zero) & (volume > zero) & (square < WideFloat(0.25f));
  const WideFloat length = rsqrt(square + WideFloat(1.0f));
  const Quaternion<WideFloat> next =
      q * Quaternion<WideFloat>{turn.x * length, turn.y * length, turn.z * length, length};
  q = {select(good, next.x, q.x), select(good, next.y, q.y), select(good, next.z, q.z),
       select(good, next.w, q.w)};
  return select(good, square, WideFloat(1.0f));
}

// R of the polar decomposition A = R S, and 1 in lanes whose A is turned inside out or nothing.
// Starts from the last rotation, as [Diziol 2011] does, but with Newton's method: two steps are
// cheaper than Jacobi rotations. Where it does not get there at once, the singular value
// decomposition does.
HWY_INLINE Mat nearest_turns(const Mat& a, Quaternion<WideFloat>& q, WideFloat& inverted) {
  inverted = WideFloat(0.0f);
  for (int step = 0; step < 4; ++step)
    // The error is squared at every step: from 1e-3 to rounding.
    if (all(improve_turn(a, q) < WideFloat(1e-7f))) {
      svd3_detail::normalise(q);
      return rotation_matrix(q);
    }
  const Svd3<WideFloat> svd = svd3(a);
  inverted = select(svd.sigma.z > WideFloat(0.0f), inverted, WideFloat(1.0f));
  q = polar_rotation(svd);
  return rotation_matrix(q);
}

// R S of the regions in lanes, and the plastic stretch S brought up to date.
HWY_INLINE Mat turn_regions(const Mat& a, const PlasticFlow& flow, WideFloat unit,
                            PlasticGroup& group, size_t lane, Quaternion<WideFloat>& q,
                            WideFloat& inverted) {
  if (flow.stretch == nullptr) return nearest_turns(a, q, inverted);
  const Mat plastic = load_matrix(group.stretch, lane);
  const Mat rotation = nearest_turns(product(a, transposed(plastic)), q, inverted);
  const WideFloat xx = load(group.inverse[0] + lane), yy = load(group.inverse[1] + lane),
                  zz = load(group.inverse[2] + lane), yz = load(group.inverse[3] + lane),
                  xz = load(group.inverse[4] + lane), xy = load(group.inverse[5] + lane);
  const Mat gradient = scaled(product(a, Mat{xx, xy, xz, xy, yy, yz, xz, yz, zz}), unit);
  const Mat next = flow_plastically(rotation, gradient, plastic, flow);
  store_matrix(next, group.stretch, lane);
  return product(rotation, next);
}

size_t match_kernel(const PathRange& range, const SurfaceFrame& frame, const RegionView& regions,
                    const ShapeTables& tables, const int32_t* records, const float* x,
                    const float* gradients, const MatchState& state, int32_t* transforms) {
  const PlasticFlow& flow = state.flow;
  RecordWriter<3> writer(range, regions.naive(), transforms);
  const WideFloat scale(1 / frame.reach), ratio(frame.rest_reach / frame.reach),
      unit(frame.reach / frame.rest_reach);
  const WideFloat turn_unit(frame.turn_unit), reach_unit(frame.reach * frame.shift_unit),
      rest_unit(frame.rest_reach * frame.shift_unit);
  const Vec origin{WideFloat(frame.centre[0]), WideFloat(frame.centre[1]),
                   WideFloat(frame.centre[2])};
  RegionColumns<3> sums;
  RegionColumns<1> rest;
  ShapeGroup group;
  PlasticGroup plastic;
  size_t all_inverted = 0;
  for (size_t i = range.begin; i < range.end; i += region_group) {
    const size_t count = min_of(range.end - i, region_group);
    if (regions.naive())
      sums.gather_terms(regions, i, count,
                        ShapeTerms{tables.moments, x, frame.centre, 1 / frame.reach});
    else
      sums.gather(regions, records, shape_record, i, count);
    rest.load(tables.centres, i, count);
    centre_shapes(sums, rest, group);
    if (flow.stretch != nullptr) plastic.load(flow.stretch, tables.rest_inverse, i, count);
    for (size_t lane = 0; lane < region_group; lane += float_lanes) {
      if (lane >= count) break;
      const size_t left = count - lane;
      Mat a = load_matrix(group.matrix, lane);
      const Vec centre{load(group.centre[0] + lane), load(group.centre[1] + lane),
                       load(group.centre[2] + lane)};
      const Vec rest_centre{load(group.rest_centre[0] + lane), load(group.rest_centre[1] + lane),
                            load(group.rest_centre[2] + lane)};
      const Vec p = load_vectors(x, i + lane, left) - origin;
      const Vec arm{mul_add(p.x, scale, -centre.x), mul_add(p.y, scale, -centre.y),
                    mul_add(p.z, scale, -centre.z)};
      WideFloat nx, ny, nz, length, inverted;
      load_quads(tables.normal_points, i + lane, left, nx, ny, nz, length);
      add_normal_point(arm, load_vectors(gradients, i + lane, left), length * ratio, {nx, ny, nz},
                       a);
      Quaternion<WideFloat> q;
      load_quads(state.rotations, i + lane, left, q.x, q.y, q.z, q.w);
      const Mat turn = turn_regions(a, flow, unit, plastic, lane, q, inverted);
      store_quads(q.x, q.y, q.z, q.w, state.rotations, i + lane, left);
      store_numbers(inverted, group.inverted, lane, left);
      const Vec turned = times(turn, rest_centre);
      const auto shift = [&](WideFloat now, WideFloat then) HWY_ATTR {
        return nearest_int(neg_mul_add(rest_unit, then, reach_unit * now));
      };
      const auto entry = [&](WideFloat e) HWY_ATTR { return nearest_int(turn_unit * e); };
      writer.set<0>(lane, entry(turn.a00), entry(turn.a01), entry(turn.a02),
                    shift(centre.x, turned.x));
      writer.set<1>(lane, entry(turn.a10), entry(turn.a11), entry(turn.a12),
                    shift(centre.y, turned.y));
      writer.set<2>(lane, entry(turn.a20), entry(turn.a21), entry(turn.a22),
                    shift(centre.z, turned.z));
    }
    if (flow.stretch != nullptr) plastic.store(flow.stretch, i, count);
    for (size_t r = 0; r < count; ++r) all_inverted += group.inverted[r] > 0 ? 1 : 0;
    writer.write(count);
  }
  return all_inverted;
}

float goals_kernel(const PathRange& range, const SurfaceFrame& frame, const RegionView& regions,
                   const float* rest, const int32_t* transforms, const GoalUse& use, float* x,
                   float* v, float* changes) {
  const WideFloat stiffness(use.stiffness), rate(use.dt > 0 ? 1 / use.dt : 0.0f);
  const WideFloat turn(1 / frame.turn_unit), shift(1 / frame.shift_unit);
  const Vec origin{WideFloat(frame.centre[0]), WideFloat(frame.centre[1]),
                   WideFloat(frame.centre[2])};
  const Vec rest_origin{WideFloat(frame.rest_centre[0]), WideFloat(frame.rest_centre[1]),
                        WideFloat(frame.rest_centre[2])};
  WideFloat fastest(0.0f);
  RegionColumns<3> sums;
  for (size_t i = range.begin; i < range.end; i += region_group) {
    const size_t count = min_of(range.end - i, region_group);
    sums.gather(regions, transforms, shape_record, i, count);
    for (size_t lane = 0; lane < count; lane += float_lanes) {
      const size_t left = count - lane;
      const WideFloat share = WideFloat(1.0f) / load_sizes(regions.sizes, i + lane, left);
      const Vec at = load_vectors(rest, i + lane, left) - rest_origin;
      const WideFloat turn_share = turn * share, shift_share = shift * share;
      // g = Σ T [x₀; 1] / |R|
      const auto goal = [&](size_t r) HWY_ATTR {
        const int32_t(*c)[region_group] = sums.column + 4 * r;
        const auto number = [&](size_t k) HWY_ATTR { return to_float(load_int(c[k] + lane)); };
        const WideFloat turned =
            mul_add(number(0), at.x, mul_add(number(1), at.y, number(2) * at.z));
        return mul_add(turned, turn_share, number(3) * shift_share);
      };
      const Vec p = load_vectors(x, i + lane, left);
      const Vec g = Vec{goal(0), goal(1), goal(2)} + origin;
      Vec moved{stiffness * (g.x - p.x), stiffness * (g.y - p.y), stiffness * (g.z - p.z)};
      store_numbers(sqrt(dot(moved, moved)), changes, i + lane, left);
      if (use.goals != nullptr) store_vectors(g, use.goals, i + lane, left);
      if (use.targets != nullptr) {
        const Vec target = load_vectors(use.targets, i + lane, left);
        const WideFloat pull = load_numbers(use.pulls, i + lane, left);
        moved = {mul_add(pull, target.x - p.x - moved.x, moved.x),
                 mul_add(pull, target.y - p.y - moved.y, moved.y),
                 mul_add(pull, target.z - p.z - moved.z, moved.z)};
      }
      const Vec u = load_vectors(v, i + lane, left);
      Vec next{mul_add(rate, moved.x, u.x), mul_add(rate, moved.y, u.y),
               mul_add(rate, moved.z, u.z)};
      store_vectors(p + moved, x, i + lane, left);
      store_vectors(next, v, i + lane, left);
      if (left < float_lanes) next = load_vectors(v, i + lane, left);
      fastest = max(fastest, max(abs(next.x), max(abs(next.y), abs(next.z))));
    }
  }
  return -least_lane(-fastest);
}

SUPPLE_KERNELS_END

#if SUPPLE_KERNELS_ONCE
namespace supple {

SUPPLE_KERNEL(predict_kernel);
SUPPLE_KERNEL(shape_records_kernel);
SUPPLE_KERNEL(match_kernel);
SUPPLE_KERNEL(goals_kernel);

Bounds predict_particles(float* x, float* v, float dt, const float* acceleration,
                         const float* refuge, size_t begin, size_t end) {
  return SUPPLE_DISPATCH(predict_kernel)(x, v, dt, acceleration, refuge, begin, end);
}

void shape_records(const PathRange& range, const SurfaceFrame& frame, const float* moments,
                   const float* x, int32_t* records) {
  SUPPLE_DISPATCH(shape_records_kernel)(range, frame, moments, x, records);
}

size_t match_regions(const PathRange& range, const SurfaceFrame& frame, const RegionView& regions,
                     const ShapeTables& tables, const int32_t* records, const float* x,
                     const float* gradients, const MatchState& state, int32_t* transforms) {
  return SUPPLE_DISPATCH(match_kernel)(range, frame, regions, tables, records, x, gradients, state,
                                       transforms);
}

float reach_goals(const PathRange& range, const SurfaceFrame& frame, const RegionView& regions,
                  const float* rest, const int32_t* transforms, const GoalUse& use, float* x,
                  float* v, float* changes) {
  return SUPPLE_DISPATCH(goals_kernel)(range, frame, regions, rest, transforms, use, x, v, changes);
}

}  // namespace supple
#endif
