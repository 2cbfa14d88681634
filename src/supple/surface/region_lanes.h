// Between records and lanes: sums of records over regions, turned such that every number of a group
// of regions lies side by side, and records written back the same way, summed along paths. Included
// per target, after for_each_target.h.
#if defined(SUPPLE_SURFACE_REGION_LANES_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef SUPPLE_SURFACE_REGION_LANES_PER_TARGET
#undef SUPPLE_SURFACE_REGION_LANES_PER_TARGET
#else
#define SUPPLE_SURFACE_REGION_LANES_PER_TARGET
#endif

#include "supple/math/small.h"
#include "supple/math/wide.h"
#include "supple/surface/surface_kernels.h"

SUPPLE_KERNELS_BEGIN

using Vec = Vector3<WideFloat>;
using Mat = Matrix3<WideFloat>;

constexpr size_t float_lanes = WideFloat::lanes, double_lanes = WideDouble::lanes;
static_assert(region_group % float_lanes == 0);

HWY_INLINE size_t min_of(size_t a, size_t b) { return a < b ? a : b; }

/// Vectors [i, i + count) in lanes, zeros in the others.
HWY_INLINE Vec load_vectors(const float* from, size_t i, size_t count) {
  Vec v;
  if (count >= float_lanes) {
    load_points(from + 3 * i, v.x, v.y, v.z);
  } else {
    HWY_ALIGN float buffer[3 * float_lanes] = {};
    std::memcpy(buffer, from + 3 * i, 3 * count * sizeof(float));
    load_points(buffer, v.x, v.y, v.z);
  }
  return v;
}

/// The same with the first vector in the others.
HWY_INLINE Vec load_vectors_repeated(const float* from, size_t i, size_t count) {
  HWY_ALIGN float buffer[3 * float_lanes];
  for (size_t k = 0; k < float_lanes; ++k)
    std::memcpy(buffer + 3 * k, from + 3 * (i + (k < count ? k : 0)), 3 * sizeof(float));
  Vec v;
  load_points(buffer, v.x, v.y, v.z);
  return v;
}

/// Writes vectors [i, i + count).
HWY_INLINE void store_vectors(const Vec& v, float* to, size_t i, size_t count) {
  if (count >= float_lanes) {
    store_points(v.x, v.y, v.z, to + 3 * i);
  } else {
    HWY_ALIGN float buffer[3 * float_lanes];
    store_points(v.x, v.y, v.z, buffer);
    std::memcpy(to + 3 * i, buffer, 3 * count * sizeof(float));
  }
}

/// Numbers [i, i + count), zeros in the other lanes.
HWY_INLINE WideFloat load_numbers(const float* from, size_t i, size_t count) {
  return count >= float_lanes ? load(from + i) : load_first(from + i, count);
}
HWY_INLINE void store_numbers(WideFloat a, float* to, size_t i, size_t count) {
  if (count >= float_lanes)
    store(a, to + i);
  else
    store_first(a, to + i, count);
}

/// Sizes [i, i + count) as floats, ones in the other lanes.
HWY_INLINE WideFloat load_sizes(const int32_t* from, size_t i, size_t count) {
  if (count >= float_lanes) return to_float(load_int(from + i));
  HWY_ALIGN int32_t buffer[float_lanes];
  for (size_t k = 0; k < float_lanes; ++k) buffer[k] = k < count ? from[i + k] : 1;
  return to_float(load_int(buffer));
}

/// Four numbers each of [i, i + count), zeros in the other lanes.
HWY_INLINE void load_quads(const float* from, size_t i, size_t count, WideFloat& x, WideFloat& y,
                           WideFloat& z, WideFloat& w) {
  if (count >= float_lanes) return load_quadruples(from + 4 * i, x, y, z, w);
  HWY_ALIGN float buffer[4 * float_lanes] = {};
  std::memcpy(buffer, from + 4 * i, 4 * count * sizeof(float));
  load_quadruples(buffer, x, y, z, w);
}

/// Writes four numbers each of [i, i + count).
HWY_INLINE void store_quads(WideFloat x, WideFloat y, WideFloat z, WideFloat w, float* to, size_t i,
                            size_t count) {
  if (count >= float_lanes) return store_quadruples(x, y, z, w, to + 4 * i);
  HWY_ALIGN float buffer[4 * float_lanes];
  store_quadruples(x, y, z, w, buffer);
  std::memcpy(to + 4 * i, buffer, 4 * count * sizeof(float));
}

HWY_INLINE float least_lane(WideFloat a) {
  alignas(64) float all[float_lanes];
  store(a, all);
  for (size_t i = 1; i < float_lanes; ++i) all[0] = min(all[0], all[i]);
  return all[0];
}

/// Records of N quadruples of a group of regions, number by number.
template <int N>
struct RegionColumns {
  HWY_ALIGN int32_t column[4 * N][region_group];

  /// The sums over regions [i, i + count); the others are copies of the first.
  HWY_INLINE void gather(const RegionView& regions, const int32_t* records, size_t record, size_t i,
                         size_t count) {
    HWY_ALIGN int32_t rows[region_group * IntQuadruples<N>::record];
    for (size_t r = 0; r < count; ++r) {
      IntQuadruples<N> sum = IntQuadruples<N>::zero();
      if (regions.naive()) {
        const uint32_t end = regions.member_offsets[i + r + 1];
        for (uint32_t m = regions.member_offsets[i + r]; m < end; ++m)
          sum.add(records + record * static_cast<size_t>(regions.members[m]));
      } else {
        const uint32_t end = regions.offsets[i + r + 1];
        for (uint32_t e = regions.offsets[i + r]; e < end; ++e) {
          const uint32_t interval = regions.intervals[e];
          const int32_t* from = records + record * (interval >> 8);
          sum.subtract(from);
          sum.add(from + record * (interval & 255u));
        }
      }
      sum.store(rows + IntQuadruples<N>::record * r);
    }
    for (size_t r = count; r < region_group; ++r)
      std::memcpy(rows + IntQuadruples<N>::record * r, rows,
                  IntQuadruples<N>::record * sizeof(int32_t));
    turn<IntQuadruples<N>::record>(rows);
  }

  /// The same, particle by particle: `terms` starts empty for a region, gets its particles and
  /// writes 4 N sums.
  template <class Terms>
  HWY_INLINE void gather_terms(const RegionView& regions, size_t i, size_t count,
                               const Terms& terms) {
    HWY_ALIGN int32_t rows[region_group * 4 * N];
    for (size_t r = 0; r < region_group; ++r) {
      const size_t region = i + (r < count ? r : 0);
      Terms sum = terms;
      for (uint32_t m = regions.member_offsets[region]; m < regions.member_offsets[region + 1]; ++m)
        sum.add(static_cast<size_t>(regions.members[m]));
      sum.store(rows + 4 * N * r);
    }
    turn<4 * N>(rows);
  }

  /// Records that lie side by side, 4 N numbers each.
  HWY_INLINE void load(const int32_t* from, size_t i, size_t count) {
    if (count == region_group) return turn<4 * N>(from + 4 * N * i);
    HWY_ALIGN int32_t rows[region_group * 4 * N];
    for (size_t r = 0; r < region_group; ++r)
      std::memcpy(rows + 4 * N * r, from + 4 * N * (i + (r < count ? r : 0)),
                  4 * N * sizeof(int32_t));
    turn<4 * N>(rows);
  }

 private:
  // Rows become columns, quadruple by quadruple.
  template <size_t stride>
  HWY_INLINE void turn(const int32_t* rows) {
    for (size_t lane = 0; lane < region_group; lane += float_lanes)
      for (size_t q = 0; q < N; ++q) {
        WideInt x, y, z, w;
        if constexpr (stride == 4) {
          load_quadruples(rows + 4 * lane, x, y, z, w);
        } else {
          HWY_ALIGN int32_t quads[4 * float_lanes];
          for (size_t r = 0; r < float_lanes; ++r)
            IntQuad::load(rows + stride * (lane + r) + 4 * q).store(quads + 4 * r);
          load_quadruples(quads, x, y, z, w);
        }
        store(x, column[4 * q] + lane);
        store(y, column[4 * q + 1] + lane);
        store(z, column[4 * q + 2] + lane);
        store(w, column[4 * q + 3] + lane);
      }
  }
};

/// Writes records of N quadruples of consecutive particles, group by group, summed along the paths
/// of a range, or for naive sums each on its own, by the number of its particle.
template <int N>
class RecordWriter {
 public:
  static constexpr size_t record = N <= 2 ? 8 : 16;

  HWY_INLINE RecordWriter(const PathRange& range, bool naive, int32_t* records)
      : m_range(range),
        m_records(records),
        m_path(range.path),
        m_next(range.begin),
        m_naive(naive) {
    start_path();
  }

  /// Quadruple Q of the particles in lanes from `lane` on.
  template <int Q>
  HWY_INLINE void set(size_t lane, WideInt x, WideInt y, WideInt z, WideInt w) {
    store_quadruples(x, y, z, w, m_quads[Q] + 4 * lane);
  }

  /// Writes the records of the next `count` particles.
  HWY_INLINE void write(size_t count) {
    for (size_t r = 0; r < count; ++r) {
      if (m_next == m_range.starts[m_path + 1]) {
        ++m_path;
        start_path();
      }
      if (m_naive) {
        int32_t* to = m_records + record * m_next;
        for (size_t q = 0; q < N; ++q) IntQuad::load(m_quads[q] + 4 * r).store(to + 4 * q);
      } else {
        int32_t* to = m_records + record * (m_next + m_path);
        for (size_t q = 0; q < N; ++q) {
          m_sum[q] += IntQuad::load(m_quads[q] + 4 * r);
          m_sum[q].store(to + record + 4 * q);
        }
      }
      ++m_next;
    }
  }

 private:
  HWY_INLINE void start_path() {
    if (m_naive) return;
    int32_t* to = m_records + record * (m_next + m_path);
    for (size_t q = 0; q < N; ++q) {
      m_sum[q] = IntQuad::zero();
      m_sum[q].store(to + 4 * q);
    }
  }

  HWY_ALIGN int32_t m_quads[N][4 * region_group];
  IntQuad m_sum[N];
  const PathRange& m_range;
  int32_t* m_records;
  size_t m_path, m_next;
  bool m_naive;
};

SUPPLE_KERNELS_END

#endif
