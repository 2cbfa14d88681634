// Damping by the motion of regions, and the weights of volume corrections.
#include "supple/surface/surface_kernels.h"

#include <cmath>
#include <cstring>

#define SUPPLE_KERNEL_FILE "supple/surface/motion_kernels.cpp"
#include "supple/math/for_each_target.h"

#include "supple/math/small.h"
#include "supple/surface/region_lanes.h"

SUPPLE_KERNELS_BEGIN

HWY_INLINE WideFloat within(WideFloat a, WideFloat limit) { return min(max(a, -limit), limit); }

// Positions in the space of the object, from -1 to 1.
HWY_INLINE Vec places(const SurfaceFrame& frame, const float* x, size_t i, size_t count) {
  const WideFloat scale(1 / frame.reach), one(1.0f);
  const Vec p = load_vectors(x, i, count);
  return {within((p.x - WideFloat(frame.centre[0])) * scale, one),
          within((p.y - WideFloat(frame.centre[1])) * scale, one),
          within((p.z - WideFloat(frame.centre[2])) * scale, one)};
}

// m y, m v, m y × v / 2 and m y yᵀ, all from -1 to 1 times the mass.
void motion_records_kernel(const PathRange& range, const SurfaceFrame& frame,
                           const MovingParticles& particles, int32_t* records) {
  RecordWriter<4> writer(range, false, records);
  const WideFloat one(1.0f), half(0.5f), scale(1 / frame.speed);
  for (size_t i = range.begin; i < range.end; i += region_group) {
    const size_t count = min_of(range.end - i, region_group);
    for (size_t lane = 0; lane < count; lane += float_lanes) {
      const size_t left = count - lane;
      const Vec y = places(frame, particles.x, i + lane, left);
      const Vec u = load_vectors(particles.v, i + lane, left);
      const Vec w{within(u.x * scale, one), within(u.y * scale, one), within(u.z * scale, one)};
      WideFloat mx, my, mz, mass;
      load_quads(particles.moments, i + lane, left, mx, my, mz, mass);
      const Vec turn = cross(y, w);
      const auto number = [&](WideFloat a) HWY_ATTR { return nearest_int(mass * a); };
      writer.set<0>(lane, number(y.x), number(y.y), number(y.z), number(half * turn.x));
      writer.set<1>(lane, number(w.x), number(w.y), number(w.z), number(half * turn.y));
      writer.set<2>(lane, number(y.x * y.x), number(y.y * y.y), number(y.z * y.z),
                    number(half * turn.z));
      writer.set<3>(lane, number(y.y * y.z), number(y.x * y.z), number(y.x * y.y),
                    nearest_int(WideFloat(0.0f)));
    }
    writer.write(count);
  }
}

// The same, particle by particle.
struct MotionTerms {
  const MovingParticles& particles;
  Quad centre;
  float scale, speed_scale;
  IntQuad y = IntQuad::zero(), w = y, turn = y, squares = y, products = y;

  static HWY_INLINE Quad within(Quad a) { return min(max(a, Quad::all(-1.0f)), Quad::all(1.0f)); }

  HWY_INLINE void add(size_t i) {
    const Quad mass = Quad::all(particles.moments[4 * i + 3]);
    const Quad at = within((Quad::load(particles.x + 3 * i) - centre) * Quad::all(scale));
    const Quad u = within(Quad::load(particles.v + 3 * i) * Quad::all(speed_scale));
    const Quad at_turned = at.yzx(), u_turned = u.yzx();
    const Quad spin = neg_mul_add(at_turned, u, at * u_turned).yzx();
    y += IntQuad::nearest(mass * at);
    w += IntQuad::nearest(mass * u);
    turn += IntQuad::nearest(mass * (Quad::all(0.5f) * spin));
    squares += IntQuad::nearest(mass * (at * at));
    // y z, z x, x y in the order z x y.
    products += IntQuad::nearest(mass * (at * at_turned));
  }
  HWY_INLINE void store(int32_t* to) const {
    HWY_ALIGN int32_t spin[4], mixed[4];
    y.store(to);
    w.store(to + 4);
    squares.store(to + 8);
    turn.store(spin);
    products.store(mixed);
    for (size_t k = 0; k < 3; ++k) to[4 * k + 3] = spin[k];
    to[12] = mixed[1];
    to[13] = mixed[2];
    to[14] = mixed[0];
    to[15] = 0;
  }
};

// Velocity field b + ω × y of a group's regions.
struct MotionGroup {
  HWY_ALIGN float spin[3][region_group];
  HWY_ALIGN float base[3][region_group];
};

// v = Σ m v / M, L = Σ m y × v - M t × v, I = Σ m (y² 1 - y yᵀ) about t, ω = I⁻¹ L
// [Müller 2007, section 3.5].
HWY_INLINE void find_motion(const RegionColumns<4>& sums, const RegionColumns<1>& rest,
                            double limit, MotionGroup& group) {
  using D = WideDouble;
  for (size_t lane = 0; lane < region_group; lane += double_lanes) {
    const auto sum = [&](size_t k) HWY_ATTR { return load_double(sums.column[k] + lane); };
    const D inverse = D(1.0) / load_double(rest.column[3] + lane);
    const Vector3<D> t{sum(0) * inverse, sum(1) * inverse, sum(2) * inverse};
    const Vector3<D> v{sum(4) * inverse, sum(5) * inverse, sum(6) * inverse};
    const Vector3<D> orbit = cross(t, v);
    const D two(2.0);
    const Vector3<D> momentum{two * sum(3) * inverse - orbit.x, two * sum(7) * inverse - orbit.y,
                              two * sum(11) * inverse - orbit.z};
    const D xx = neg_mul_add(t.x, t.x, sum(8) * inverse),
            yy = neg_mul_add(t.y, t.y, sum(9) * inverse),
            zz = neg_mul_add(t.z, t.z, sum(10) * inverse),
            yz = neg_mul_add(t.y, t.z, sum(12) * inverse),
            xz = neg_mul_add(t.x, t.z, sum(13) * inverse),
            xy = neg_mul_add(t.x, t.y, sum(14) * inverse);
    // Regions along a line do not tell how they spin about it: a little more inertia does.
    const D more = D(1e-6) * (xx + yy + zz) + D(1e-18);
    const Matrix3<D> inertia{yy + zz + more, -xy, -xz, -xy, xx + zz + more, -yz, -xz, -yz,
                             xx + yy + more};
    const Matrix3<D> adjoint = cofactors(inertia);
    const D scale = D(1.0) / max(determinant(inertia, adjoint), D(1e-60));
    const Vector3<D> raw = times(adjoint, momentum);
    const D most(limit);
    const auto limited = [&](D a) HWY_ATTR { return min(max(a * scale, -most), most); };
    const Vector3<D> spin{limited(raw.x), limited(raw.y), limited(raw.z)};
    const Vector3<D> about = cross(spin, t);
    store_float(spin.x, group.spin[0] + lane);
    store_float(spin.y, group.spin[1] + lane);
    store_float(spin.z, group.spin[2] + lane);
    store_float(v.x - about.x, group.base[0] + lane);
    store_float(v.y - about.y, group.base[1] + lane);
    store_float(v.z - about.z, group.base[2] + lane);
  }
}

void region_motions_kernel(const PathRange& range, const SurfaceFrame& frame,
                           const RegionView& regions, const MovingParticles& particles,
                           const int32_t* records, int32_t* motions) {
  RecordWriter<2> writer(range, regions.naive(), motions);
  const float centre[4] = {frame.centre[0], frame.centre[1], frame.centre[2], 0};
  const MotionTerms terms{particles, Quad::load(centre), 1 / frame.reach, 1 / frame.speed};
  const WideFloat unit(frame.spin_unit);
  RegionColumns<4> sums;
  RegionColumns<1> rest;
  MotionGroup group;
  for (size_t i = range.begin; i < range.end; i += region_group) {
    const size_t count = min_of(range.end - i, region_group);
    if (regions.naive())
      sums.gather_terms(regions, i, count, terms);
    else
      sums.gather(regions, records, motion_record, i, count);
    rest.load(particles.centres, i, count);
    find_motion(sums, rest, static_cast<double>(frame.spin), group);
    const WideInt none = nearest_int(WideFloat(0.0f));
    for (size_t lane = 0; lane < count; lane += float_lanes) {
      const auto number = [&](const float* from)
                              HWY_ATTR { return nearest_int(unit * load(from + lane)); };
      writer.set<0>(lane, number(group.spin[0]), number(group.spin[1]), number(group.spin[2]),
                    none);
      writer.set<1>(lane, number(group.base[0]), number(group.base[1]), number(group.base[2]),
                    none);
    }
    writer.write(count);
  }
}

void damp_kernel(const PathRange& range, const SurfaceFrame& frame, const RegionView& regions,
                 const int32_t* motions, float damping, float dt, const float* pulls, float* x,
                 float* v) {
  RegionColumns<2> sums;
  const WideFloat step(dt), unit(frame.speed / frame.spin_unit);
  for (size_t i = range.begin; i < range.end; i += region_group) {
    const size_t count = min_of(range.end - i, region_group);
    sums.gather(regions, motions, turn_record, i, count);
    for (size_t lane = 0; lane < count; lane += float_lanes) {
      const size_t left = count - lane;
      const WideFloat share = unit / load_sizes(regions.sizes, i + lane, left);
      const auto number = [&](size_t k) HWY_ATTR {
        return share * to_float(load_int(sums.column[k] + lane));
      };
      const Vec spin{number(0), number(1), number(2)}, base{number(4), number(5), number(6)};
      const Vec field = base + cross(spin, places(frame, x, i + lane, left));
      const Vec u = load_vectors(v, i + lane, left);
      WideFloat part(damping);
      if (pulls != nullptr) part = neg_mul_add(part, load_numbers(pulls, i + lane, left), part);
      const Vec change{part * (field.x - u.x), part * (field.y - u.y), part * (field.z - u.z)};
      const Vec p = load_vectors(x, i + lane, left);
      store_vectors(u + change, v, i + lane, left);
      store_vectors({mul_add(step, change.x, p.x), mul_add(step, change.y, p.y),
                     mul_add(step, change.z, p.z)},
                    x, i + lane, left);
    }
  }
}

HWY_INLINE double sum_of_lanes(WideFloat a) {
  alignas(64) float all[float_lanes];
  store(a, all);
  double sum = 0;
  for (size_t i = 0; i < float_lanes; ++i) sum += static_cast<double>(all[i]);
  return sum;
}

MomentumSums momentum_kernel(const float* x, const float* v, const float* masses,
                             const float* centre, size_t begin, size_t end) {
  const WideFloat zero(0.0f);
  WideFloat mass = zero, xx = zero, yy = zero, zz = zero, yz = zero, xz = zero, xy = zero;
  Vec first{zero, zero, zero}, linear = first, angular = first;
  const Vec c{WideFloat(centre[0]), WideFloat(centre[1]), WideFloat(centre[2])};
  for (size_t i = begin; i < end; i += float_lanes) {
    const size_t count = end - i;
    const WideFloat m = load_numbers(masses, i, count);
    const Vec y = load_vectors(x, i, count) - c, u = load_vectors(v, i, count);
    const Vec my{m * y.x, m * y.y, m * y.z};
    mass += m;
    first = first + my;
    linear = linear + Vec{m * u.x, m * u.y, m * u.z};
    angular = angular + cross(my, u);
    xx = mul_add(my.x, y.x, xx);
    yy = mul_add(my.y, y.y, yy);
    zz = mul_add(my.z, y.z, zz);
    yz = mul_add(my.y, y.z, yz);
    xz = mul_add(my.x, y.z, xz);
    xy = mul_add(my.x, y.y, xy);
  }
  return {sum_of_lanes(mass),
          {sum_of_lanes(first.x), sum_of_lanes(first.y), sum_of_lanes(first.z)},
          {sum_of_lanes(xx), sum_of_lanes(yy), sum_of_lanes(zz), sum_of_lanes(yz), sum_of_lanes(xz),
           sum_of_lanes(xy)},
          {sum_of_lanes(linear.x), sum_of_lanes(linear.y), sum_of_lanes(linear.z)},
          {sum_of_lanes(angular.x), sum_of_lanes(angular.y), sum_of_lanes(angular.z)}};
}

void rigid_kernel(const RigidField& field, float dt, float* x, float* v, size_t begin, size_t end) {
  const Vec base{WideFloat(field.base[0]), WideFloat(field.base[1]), WideFloat(field.base[2])};
  const Vec spin{WideFloat(field.spin[0]), WideFloat(field.spin[1]), WideFloat(field.spin[2])};
  const Vec c{WideFloat(field.centre[0]), WideFloat(field.centre[1]), WideFloat(field.centre[2])};
  const WideFloat step(dt);
  for (size_t i = begin; i < end; i += float_lanes) {
    const size_t count = end - i;
    const Vec p = load_vectors(x, i, count);
    const Vec change = base + cross(spin, p - c);
    store_vectors(load_vectors(v, i, count) + change, v, i, count);
    if (dt > 0)
      store_vectors({mul_add(step, change.x, p.x), mul_add(step, change.y, p.y),
                     mul_add(step, change.z, p.z)},
                    x, i, count);
  }
}

double changes_kernel(const ChangeTables& tables, const float* x, float* weights, size_t begin,
                      size_t end) {
  const WideFloat inner(tables.inner), outer(1 - tables.inner);
  WideFloat total(0.0f);
  for (size_t i = begin; i < end; i += float_lanes) {
    const size_t count = end - i;
    WideFloat weight = outer * load_numbers(tables.changes, i, count);
    if (tables.inner > 0 && count >= float_lanes) {
      const WideInt at = load_int(tables.partners + i);
      const Vec p = load_vectors(x, i, count);
      const Vec way{gather(x, at) - p.x, gather(x + 1, at) - p.y, gather(x + 2, at) - p.z};
      const WideFloat change = abs(sqrt(dot(way, way)) - load(tables.lengths + i));
      weight = mul_add(inner * load(tables.stiffness + i), change, weight);
    } else if (tables.inner > 0) {
      HWY_ALIGN float rest[float_lanes] = {};
      for (size_t k = 0; k < count; ++k) {
        const float* a = x + 3 * (i + k);
        const float* b = x + tables.partners[i + k];
        const float length =
            std::sqrt((b[0] - a[0]) * (b[0] - a[0]) + (b[1] - a[1]) * (b[1] - a[1]) +
                      (b[2] - a[2]) * (b[2] - a[2]));
        rest[k] = tables.stiffness[i + k] * std::fabs(length - tables.lengths[i + k]);
      }
      weight = mul_add(inner, load(rest), weight);
    }
    total += weight;
    store_numbers(weight, weights, i, count);
  }
  return sum_of_lanes(total);
}

void ring_sums_kernel(const PathRange& range, const float* in, float unit, int32_t* sums) {
  const float per_unit = 1 / unit;
  size_t path = range.path;
  for (size_t i = range.begin; i < range.end; ++path) {
    const size_t end = range.starts[path + 1];
    int32_t* to = sums + i + path;
    uint32_t sum = 0;
    for (; i < end; ++i, ++to) {
      *to = static_cast<int32_t>(sum);
      sum += static_cast<uint32_t>(static_cast<int32_t>(in[i] * per_unit + 0.5f));
    }
    *to = static_cast<int32_t>(sum);
  }
}

void ring_means_kernel(const PathRange& range, const RegionView& rings, const int32_t* sums,
                       float unit, float* out) {
  for (size_t i = range.begin; i < range.end; ++i) {
    uint32_t sum = 0;
    for (uint32_t e = rings.offsets[i]; e < rings.offsets[i + 1]; ++e) {
      const uint32_t interval = rings.intervals[e];
      const int32_t* from = sums + (interval >> 8);
      sum += static_cast<uint32_t>(from[interval & 255u]) - static_cast<uint32_t>(*from);
    }
    out[i] =
        unit * static_cast<float>(static_cast<int32_t>(sum)) / static_cast<float>(rings.sizes[i]);
  }
}

SUPPLE_KERNELS_END

#if SUPPLE_KERNELS_ONCE
namespace supple {

SUPPLE_KERNEL(motion_records_kernel);
SUPPLE_KERNEL(region_motions_kernel);
SUPPLE_KERNEL(damp_kernel);
SUPPLE_KERNEL(momentum_kernel);
SUPPLE_KERNEL(rigid_kernel);
SUPPLE_KERNEL(changes_kernel);
SUPPLE_KERNEL(ring_sums_kernel);
SUPPLE_KERNEL(ring_means_kernel);

void motion_records(const PathRange& range, const SurfaceFrame& frame,
                    const MovingParticles& particles, int32_t* records) {
  SUPPLE_DISPATCH(motion_records_kernel)(range, frame, particles, records);
}

void region_motions(const PathRange& range, const SurfaceFrame& frame, const RegionView& regions,
                    const MovingParticles& particles, const int32_t* records, int32_t* motions) {
  SUPPLE_DISPATCH(region_motions_kernel)(range, frame, regions, particles, records, motions);
}

void damp_particles(const PathRange& range, const SurfaceFrame& frame, const RegionView& regions,
                    const int32_t* motions, float damping, float dt, const float* pulls, float* x,
                    float* v) {
  SUPPLE_DISPATCH(damp_kernel)(range, frame, regions, motions, damping, dt, pulls, x, v);
}

MomentumSums momentum_sums(const float* x, const float* v, const float* masses, const float* centre,
                           size_t begin, size_t end) {
  return SUPPLE_DISPATCH(momentum_kernel)(x, v, masses, centre, begin, end);
}

void add_rigid_motion(const RigidField& field, float dt, float* x, float* v, size_t begin,
                      size_t end) {
  SUPPLE_DISPATCH(rigid_kernel)(field, dt, x, v, begin, end);
}

double volume_changes(const ChangeTables& tables, const float* x, float* weights, size_t begin,
                      size_t end) {
  return SUPPLE_DISPATCH(changes_kernel)(tables, x, weights, begin, end);
}

void ring_sums(const PathRange& range, const float* in, float unit, int32_t* sums) {
  SUPPLE_DISPATCH(ring_sums_kernel)(range, in, unit, sums);
}

void ring_means(const PathRange& range, const RegionView& rings, const int32_t* sums, float unit,
                float* out) {
  SUPPLE_DISPATCH(ring_means_kernel)(range, rings, sums, unit, out);
}

}  // namespace supple
#endif
