// Planes of 4x4 numbers, x fastest, in as many registers as the target needs, with the shifts by
// one that lattice kernels take between neighbouring planes. Included per target, after wide.h.
#if defined(SUPPLE_MATH_PLANE_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef SUPPLE_MATH_PLANE_PER_TARGET
#undef SUPPLE_MATH_PLANE_PER_TARGET
#else
#define SUPPLE_MATH_PLANE_PER_TARGET
#endif

#include "supple/math/wide.h"

SUPPLE_KERNELS_BEGIN

/// Numbers in a plane.
inline constexpr size_t plane_size = 16;

/// A plane of 4x4 numbers.
template <class Scalar>
struct Plane {
  using Lanes = Wide<Scalar>;
  static constexpr size_t registers = plane_size / Lanes::lanes;
  Lanes part[registers];

  static HWY_INLINE Plane zero() {
    Plane p;
    for (size_t r = 0; r < registers; ++r) p.part[r] = Lanes(Scalar(0));
    return p;
  }
};

template <class Scalar>
HWY_INLINE Plane<Scalar> operator+(const Plane<Scalar>& a, const Plane<Scalar>& b) {
  Plane<Scalar> c;
  for (size_t r = 0; r < Plane<Scalar>::registers; ++r) c.part[r] = a.part[r] + b.part[r];
  return c;
}
template <class Scalar>
HWY_INLINE Plane<Scalar> operator-(const Plane<Scalar>& a, const Plane<Scalar>& b) {
  Plane<Scalar> c;
  for (size_t r = 0; r < Plane<Scalar>::registers; ++r) c.part[r] = a.part[r] - b.part[r];
  return c;
}

/// A plane from 16 numbers in memory.
template <class Scalar>
HWY_INLINE Plane<Scalar> load_plane(const Scalar* from) {
  Plane<Scalar> p;
  for (size_t r = 0; r < Plane<Scalar>::registers; ++r)
    p.part[r] = load(from + r * Wide<Scalar>::lanes);
  return p;
}

/// Writes a plane's 16 numbers.
template <class Scalar>
HWY_INLINE void store_plane(const Plane<Scalar>& p, Scalar* to) {
  for (size_t r = 0; r < Plane<Scalar>::registers; ++r)
    store(p.part[r], to + r * Wide<Scalar>::lanes);
}

/// Adds a plane to 16 numbers in memory.
template <class Scalar>
HWY_INLINE void add_plane(const Plane<Scalar>& p, Scalar* to) {
  for (size_t r = 0; r < Plane<Scalar>::registers; ++r) {
    Scalar* at = to + r * Wide<Scalar>::lanes;
    store(load(at) + p.part[r], at);
  }
}

/// Adds four numbers, a row of a plane, to four others in memory.
template <class Scalar>
HWY_INLINE void add_row(const Scalar* row, Scalar* to) {
  const hn::CappedTag<Scalar, 4> tag;
  for (size_t i = 0; i < 4; i += hn::Lanes(tag))
    hn::StoreU(hn::Add(hn::LoadU(tag, to + i), hn::LoadU(tag, row + i)), tag, to + i);
}

/// A plane whose last row is four numbers from memory; what its other rows are is not said.
template <class Scalar>
HWY_INLINE Plane<Scalar> last_row(const Scalar* row) {
  using P = Plane<Scalar>;
  constexpr size_t lanes = Wide<Scalar>::lanes;
  P p = P::zero();
  if constexpr (lanes <= 4) {
    for (size_t i = 0; i < 4; i += lanes)
      p.part[P::registers - 4 / lanes + i / lanes] = load(row + i);
    return p;
  }
#if HWY_TARGET != HWY_SCALAR
  const typename Wide<Scalar>::Tag tag;
  if constexpr (lanes > 4 && sizeof(Scalar) == 4) {
    p.part[P::registers - 1] = hn::LoadDup128(tag, row);
  } else if constexpr (lanes > 4) {
    const auto four = hn::LoadU(hn::Half<decltype(tag)>(), row);
    p.part[P::registers - 1] = hn::Combine(tag, four, four);
  }
#endif
  return p;
}

/// Writes the four numbers of a plane's last row.
template <class Scalar>
HWY_INLINE void store_last_row(const Plane<Scalar>& p, Scalar* row) {
  using P = Plane<Scalar>;
  constexpr size_t lanes = Wide<Scalar>::lanes;
  if constexpr (lanes <= 4) {
    for (size_t i = 0; i < 4; i += lanes)
      store(p.part[P::registers - 4 / lanes + i / lanes], row + i);
    return;
  }
#if HWY_TARGET <= HWY_AVX3
  // In one instruction; halves of halves would take two.
  if constexpr (lanes == 16) {
    _mm_storeu_ps(row, _mm512_extractf32x4_ps(p.part[0].value.raw, 3));
    return;
  }
#endif
#if HWY_TARGET != HWY_SCALAR
  const hn::Half<typename Wide<Scalar>::Tag> half;
  const auto upper = [&]() HWY_ATTR { return hn::UpperHalf(half, p.part[P::registers - 1].value); };
  if constexpr (lanes == 8) {
    hn::StoreU(upper(), half, row);
  } else if constexpr (lanes == 16) {
    const hn::Half<decltype(half)> quarter;
    hn::StoreU(hn::UpperHalf(quarter, upper()), quarter, row);
  }
#endif
}

/// The bits of four planes as numbers: 1 where one is set, 0 elsewhere.
template <class Scalar>
HWY_INLINE void bit_factors(uint64_t bits, Scalar* factors) {
  constexpr size_t count = 64;
  if constexpr (Wide<Scalar>::lanes >= 8) {
    const typename Wide<Scalar>::Tag tag;
    uint8_t bytes[16] = {};
    std::memcpy(bytes, &bits, 8);
    for (size_t i = 0; i < count; i += Wide<Scalar>::lanes)
      hn::Store(hn::IfThenElseZero(hn::LoadMaskBits(tag, bytes + i / 8), hn::Set(tag, Scalar(1))),
                tag, factors + i);
  } else {
    for (size_t i = 0; i < count; ++i) factors[i] = static_cast<Scalar>((bits >> i) & 1);
  }
}

/// Turns planes by one in x or y, and takes their first column or row apart from the rest. Made
/// once per kernel call: it holds the constants the shuffles need.
template <class Scalar>
class PlaneShifter {
 public:
  using P = Plane<Scalar>;
  using Tag = typename Wide<Scalar>::Tag;
  static constexpr size_t lanes = Wide<Scalar>::lanes;

  HWY_INLINE PlaneShifter() {
    if constexpr (lanes >= 4) {
      using Index = std::conditional_t<sizeof(Scalar) == 4, int32_t, int64_t>;
      alignas(64) Index up_x[lanes], down_x[lanes], up_y[lanes], down_y[lanes];
      alignas(64) Scalar column[lanes], row[lanes];
      for (size_t i = 0; i < lanes; ++i) {
        up_x[i] = static_cast<Index>((i & ~size_t{3}) | ((i + 1) & 3));
        down_x[i] = static_cast<Index>((i & ~size_t{3}) | ((i + 3) & 3));
        up_y[i] = static_cast<Index>((i + 4) % lanes);
        down_y[i] = static_cast<Index>((i + lanes - 4) % lanes);
        column[i] = (i & 3) == 0 ? Scalar(1) : Scalar(0);
        row[i] = i < 4 ? Scalar(1) : Scalar(0);
      }
      const Tag tag;
      m_up_x = hn::SetTableIndices(tag, up_x);
      m_down_x = hn::SetTableIndices(tag, down_x);
      m_up_y = hn::SetTableIndices(tag, up_y);
      m_down_y = hn::SetTableIndices(tag, down_y);
      m_column = hn::Gt(hn::Load(tag, column), hn::Zero(tag));
      m_row = hn::Gt(hn::Load(tag, row), hn::Zero(tag));
    }
  }

  /// (x, y) of the result is own(x + 1, y), and next(0, y) in the last column.
  HWY_INLINE P shift_x(const P& own, const P& next) const {
    if constexpr (lanes >= 4) {
      P p;
      for (size_t r = 0; r < P::registers; ++r)
#if HWY_TARGET <= HWY_AVX2
        p.part[r] = turn_row<1>(with_column<0>(own.part[r], next.part[r]));
#else
        p.part[r] = hn::TableLookupLanes(
            hn::IfThenElse(m_column, next.part[r].value, own.part[r].value), m_up_x);
#endif
      return p;
    } else {
      return through_memory(own, next, [](const Scalar* a, const Scalar* b, size_t i) {
        return (i & 3) < 3 ? a[i + 1] : b[i - 3];
      });
    }
  }

  /// (x, y) of the result is own(x, y + 1), and next(x, 0) in the last row.
  HWY_INLINE P shift_y(const P& own, const P& next) const {
    if constexpr (lanes >= 8) {
      P p;
      for (size_t r = 0; r < P::registers; ++r) {
        const auto& after = r + 1 < P::registers ? own.part[r + 1] : next.part[0];
#if HWY_TARGET <= HWY_AVX3
        p.part[r] = skip<4>(own.part[r], after);
#elif HWY_TARGET == HWY_AVX2
        p.part[r] = middle(own.part[r], after);
#else
        p.part[r] =
            hn::TableLookupLanes(hn::IfThenElse(m_row, after.value, own.part[r].value), m_up_y);
#endif
      }
      return p;
    } else {
      constexpr size_t per_row = 4 / lanes;
      P p;
      for (size_t r = 0; r < P::registers; ++r)
        p.part[r] = r + per_row < P::registers ? own.part[r + per_row]
                                               : next.part[r + per_row - P::registers];
      return p;
    }
  }

  /// (x, y) of the result is own(x - 1, y), and before(3, y) in the first column.
  HWY_INLINE P push_x(const P& own, const P& before) const {
    if constexpr (lanes >= 4) {
      P p;
      for (size_t r = 0; r < P::registers; ++r)
#if HWY_TARGET <= HWY_AVX2
        p.part[r] = turn_row<3>(with_column<3>(own.part[r], before.part[r]));
#else
        p.part[r] = hn::IfThenElse(m_column, hn::TableLookupLanes(before.part[r].value, m_down_x),
                                   hn::TableLookupLanes(own.part[r].value, m_down_x));
#endif
      return p;
    } else {
      return through_memory(own, before, [](const Scalar* a, const Scalar* b, size_t i) {
        return (i & 3) > 0 ? a[i - 1] : b[i + 3];
      });
    }
  }

  /// (x, y) of the result is own(x, y - 1), and before(x, 3) in the first row.
  HWY_INLINE P push_y(const P& own, const P& before) const {
    if constexpr (lanes >= 8) {
      P p;
      for (size_t r = 0; r < P::registers; ++r) {
        const auto& previous = r > 0 ? own.part[r - 1] : before.part[P::registers - 1];
#if HWY_TARGET <= HWY_AVX3
        p.part[r] = skip<lanes - 4>(previous, own.part[r]);
#elif HWY_TARGET == HWY_AVX2
        p.part[r] = middle(previous, own.part[r]);
#else
        p.part[r] = hn::IfThenElse(m_row, hn::TableLookupLanes(previous.value, m_down_y),
                                   hn::TableLookupLanes(own.part[r].value, m_down_y));
#endif
      }
      return p;
    } else {
      constexpr size_t per_row = 4 / lanes;
      P p;
      for (size_t r = 0; r < P::registers; ++r)
        p.part[r] = r >= per_row ? own.part[r - per_row] : before.part[r + P::registers - per_row];
      return p;
    }
  }

 private:
  using Indices = decltype(hn::SetTableIndices(
      Tag(), static_cast<std::conditional_t<sizeof(Scalar) == 4, int32_t, int64_t>*>(nullptr)));

#if HWY_TARGET <= HWY_AVX2
  // Rows of four numbers turned by `count`: no table of lanes, which would be read each time.
  template <int count>
  static HWY_INLINE Wide<Scalar> turn_row(Wide<Scalar> a) {
    constexpr int order =
        (count & 3) | ((count + 1) & 3) << 2 | ((count + 2) & 3) << 4 | ((count + 3) & 3) << 6;
#if HWY_TARGET <= HWY_AVX3
    if constexpr (sizeof(Scalar) == 4)
      return hn::Vec<Tag>{_mm512_permute_ps(a.value.raw, order)};
    else
      return hn::Vec<Tag>{_mm512_permutex_pd(a.value.raw, order)};
#else
    if constexpr (sizeof(Scalar) == 4)
      return hn::Vec<Tag>{_mm256_permute_ps(a.value.raw, order)};
    else
      return hn::Vec<Tag>{_mm256_permute4x64_pd(a.value.raw, order)};
#endif
  }
  // `a` with one column of `b`.
  template <int column>
  static HWY_INLINE Wide<Scalar> with_column(Wide<Scalar> a, Wide<Scalar> b) {
#if HWY_TARGET <= HWY_AVX3
    if constexpr (sizeof(Scalar) == 4)
      return hn::Vec<Tag>{_mm512_mask_blend_ps(0x1111 << column, a.value.raw, b.value.raw)};
    else
      return hn::Vec<Tag>{_mm512_mask_blend_pd(0x11 << column, a.value.raw, b.value.raw)};
#else
    if constexpr (sizeof(Scalar) == 4)
      return hn::Vec<Tag>{_mm256_blend_ps(a.value.raw, b.value.raw, 0x11 << column)};
    else
      return hn::Vec<Tag>{_mm256_blend_pd(a.value.raw, b.value.raw, 1 << column)};
#endif
  }
#endif

#if HWY_TARGET <= HWY_AVX3
  // Two registers one after the other without the first `count` lanes.
  template <int count>
  static HWY_INLINE Wide<Scalar> skip(Wide<Scalar> a, Wide<Scalar> b) {
    // GCC takes floats by way of memory where they are named as whole numbers, as intrinsics do.
    decltype(a.value.raw) c;
    if constexpr (sizeof(Scalar) == 4)
      __asm__("valignd %3, %1, %2, %0" : "=v"(c) : "v"(a.value.raw), "v"(b.value.raw), "i"(count));
    else
      __asm__("valignq %3, %1, %2, %0" : "=v"(c) : "v"(a.value.raw), "v"(b.value.raw), "i"(count));
    return hn::Vec<Tag>{c};
  }
#elif HWY_TARGET == HWY_AVX2
  // The upper half of `a`, then the lower half of `b`.
  static HWY_INLINE Wide<Scalar> middle(Wide<Scalar> a, Wide<Scalar> b) {
    if constexpr (sizeof(Scalar) == 4)
      return hn::Vec<Tag>{_mm256_permute2f128_ps(a.value.raw, b.value.raw, 0x21)};
    else
      return hn::Vec<Tag>{_mm256_permute2f128_pd(a.value.raw, b.value.raw, 0x21)};
  }
#endif

  template <class Pick>
  static HWY_INLINE P through_memory(const P& own, const P& next, const Pick& pick) {
    Scalar a[plane_size], b[plane_size], c[plane_size];
    store_plane(own, a);
    store_plane(next, b);
    for (size_t i = 0; i < plane_size; ++i) c[i] = pick(a, b, i);
    return load_plane(c);
  }

  Indices m_up_x, m_down_x, m_up_y, m_down_y;
  hn::Mask<Tag> m_column, m_row;
};

/// Puts four numbers into the first column or row of an empty plane. It holds the constants the
/// shuffles need.
template <class Scalar>
class EdgeSpreader {
 public:
  using P = Plane<Scalar>;
  using Tag = typename Wide<Scalar>::Tag;
  static constexpr size_t lanes = Wide<Scalar>::lanes;
  static constexpr bool by_lanes = sizeof(Scalar) == 4 && lanes >= 4;

  HWY_INLINE EdgeSpreader() {
    if constexpr (by_lanes) {
      alignas(64) int32_t from[lanes];
      alignas(64) float column[lanes], row[lanes];
      for (size_t r = 0; r < P::registers; ++r) {
        for (size_t i = 0; i < lanes; ++i) from[i] = static_cast<int32_t>((r * lanes + i) / 4);
        m_from[r] = hn::SetTableIndices(Tag(), from);
      }
      for (size_t i = 0; i < lanes; ++i) {
        column[i] = (i & 3) == 0 ? 1.0f : 0.0f;
        row[i] = i < 4 ? 1.0f : 0.0f;
      }
      m_column = hn::Gt(hn::Load(Tag(), column), hn::Zero(Tag()));
      m_row = hn::Gt(hn::Load(Tag(), row), hn::Zero(Tag()));
    }
  }

  /// (0, y) of the result is number y.
  HWY_INLINE P column(const Scalar* four) const {
    P p = P::zero();
    if constexpr (by_lanes) {
      const auto all = hn::LoadDup128(Tag(), four);
      for (size_t r = 0; r < P::registers; ++r)
        p.part[r] = hn::IfThenElseZero(m_column, hn::TableLookupLanes(all, m_from[r]));
      return p;
    } else {
      return through_memory(four, 4);
    }
  }

  /// (x, 0) of the result is number x.
  HWY_INLINE P row(const Scalar* four) const {
    P p = P::zero();
    if constexpr (by_lanes) {
      p.part[0] = hn::IfThenElseZero(m_row, hn::LoadDup128(Tag(), four));
      return p;
    } else {
      return through_memory(four, 1);
    }
  }

 private:
  static HWY_INLINE P through_memory(const Scalar* four, size_t stride) {
    Scalar all[plane_size] = {};
    for (size_t i = 0; i < 4; ++i) all[i * stride] = four[i];
    return load_plane(all);
  }

  using Indices = decltype(hn::SetTableIndices(
      Tag(), static_cast<std::conditional_t<sizeof(Scalar) == 4, int32_t, int64_t>*>(nullptr)));

  Indices m_from[P::registers];
  hn::Mask<Tag> m_column, m_row;
};

/// The first columns of four planes one after the other, as 16 numbers.
template <class Scalar>
HWY_INLINE void store_first_columns(const Scalar* planes, Scalar* to) {
#if HWY_TARGET <= HWY_AVX3
  if constexpr (sizeof(Scalar) == 4) {
    const __m512i every_fourth =
        _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28);
    const auto two = [&](const Scalar* at) HWY_ATTR {
      return _mm512_permutex2var_ps(_mm512_loadu_ps(at), every_fourth, _mm512_loadu_ps(at + 16));
    };
    _mm512_storeu_ps(to, _mm512_mask_mov_ps(two(planes), 0xFF00, two(planes + 32)));
    return;
  }
#endif
  for (size_t i = 0; i < plane_size; ++i) to[i] = planes[4 * i];
}

/// Doubles a quarter of a plane along x and y: numbers in between are means of their neighbours.
/// Made once per kernel call and quarter: it holds the constants the shuffles need.
class QuarterDoubler {
 public:
  using P = Plane<float>;
  using Tag = WideFloat::Tag;
  static constexpr size_t lanes = WideFloat::lanes;

  /// The quarter begins at (x0, y0), each 0 or 2.
  HWY_INLINE QuarterDoubler(size_t x0, size_t y0) : m_x0(x0), m_y0(y0) {
    if constexpr (lanes >= 4) {
      alignas(64) int32_t from[lanes];
      alignas(64) float odd_x[lanes], odd_y[lanes];
      for (size_t r = 0; r < P::registers; ++r) {
        for (size_t i = 0; i < lanes; ++i) from[i] = static_cast<int32_t>(source(r, i) % lanes);
        m_from[r] = hn::SetTableIndices(Tag(), from);
      }
      for (size_t i = 0; i < lanes; ++i) {
        odd_x[i] = static_cast<float>(i & 1);
        odd_y[i] = static_cast<float>((i >> 2) & 1);
      }
      m_odd_x = hn::Gt(hn::Load(Tag(), odd_x), hn::Zero(Tag()));
      m_odd_y = hn::Gt(hn::Load(Tag(), odd_y), hn::Zero(Tag()));
    }
  }

  /// From a plane and the same one turned by one in x, in y, and in both.
  HWY_INLINE P doubled(const P& own, const P& right, const P& up, const P& both) const {
    const P below = with_means<false>(spread(own), spread(right));
    return with_means<true>(below, with_means<false>(spread(up), spread(both)));
  }

 private:
  // Where number i of register r comes from: (x0 + x / 2, y0 + y / 2), all of them in one register.
  HWY_INLINE size_t source(size_t r, size_t i) const {
    const size_t n = r * lanes + i;
    return m_x0 + (n & 3) / 2 + 4 * (m_y0 + (n >> 2) / 2);
  }

  HWY_INLINE P spread(const P& p) const {
    P q;
    if constexpr (lanes >= 4) {
      for (size_t r = 0; r < P::registers; ++r)
        q.part[r] = hn::TableLookupLanes(p.part[source(r, 0) / lanes].value, m_from[r]);
    } else {
      float a[plane_size], b[plane_size];
      store_plane(p, a);
      for (size_t n = 0; n < plane_size; ++n) b[n] = a[source(0, n)];
      q = load_plane(b);
    }
    return q;
  }

  // Means of both in odd columns or rows, `a` in even ones.
  template <bool rows>
  HWY_INLINE P with_means(const P& a, const P& b) const {
    const WideFloat half(0.5f);
    P q;
    if constexpr (lanes >= 4) {
      for (size_t r = 0; r < P::registers; ++r) {
        const WideFloat mean = half * (a.part[r] + b.part[r]);
        if constexpr (rows && lanes == 4)
          q.part[r] = r % 2 == 1 ? mean : a.part[r];
        else
          q.part[r] = hn::IfThenElse(rows ? m_odd_y : m_odd_x, mean.value, a.part[r].value);
      }
    } else {
      for (size_t r = 0; r < P::registers; ++r)
        q.part[r] = (rows ? r / 4 : r) % 2 == 1 ? half * (a.part[r] + b.part[r]) : a.part[r];
    }
    return q;
  }

  using Indices = decltype(hn::SetTableIndices(Tag(), static_cast<int32_t*>(nullptr)));

  size_t m_x0, m_y0;
  Indices m_from[P::registers];
  hn::Mask<Tag> m_odd_x, m_odd_y;
};

/// Takes every second number along x and y of 8x8, given as four planes. Made once per kernel call.
class PlaneHalver {
 public:
  using P = Plane<float>;
  using Tag = WideFloat::Tag;
  static constexpr size_t lanes = WideFloat::lanes;

  HWY_INLINE PlaneHalver() {
    if constexpr (lanes == plane_size) {
      alignas(64) int32_t from[lanes];
      alignas(64) float right[lanes], upper[lanes];
      for (size_t i = 0; i < lanes; ++i) {
        from[i] = static_cast<int32_t>(source(i));
        right[i] = static_cast<float>((i >> 1) & 1);
        upper[i] = static_cast<float>(i >> 3);
      }
      m_from = hn::SetTableIndices(Tag(), from);
      m_right = hn::Gt(hn::Load(Tag(), right), hn::Zero(Tag()));
      m_upper = hn::Gt(hn::Load(Tag(), upper), hn::Zero(Tag()));
    }
  }

  /// From the quarters at lower and upper y, left and right each.
  HWY_INLINE P halved(const P& lower_left, const P& lower_right, const P& upper_left,
                      const P& upper_right) const {
    P q;
    if constexpr (lanes == plane_size) {
      const auto pick = [&](const P& p)
                            HWY_ATTR { return hn::TableLookupLanes(p.part[0].value, m_from); };
      q.part[0] =
          hn::IfThenElse(m_upper, hn::IfThenElse(m_right, pick(upper_right), pick(upper_left)),
                         hn::IfThenElse(m_right, pick(lower_right), pick(lower_left)));
    } else {
      float of[4][plane_size], result[plane_size];
      store_plane(lower_left, of[0]);
      store_plane(lower_right, of[1]);
      store_plane(upper_left, of[2]);
      store_plane(upper_right, of[3]);
      for (size_t n = 0; n < plane_size; ++n)
        result[n] = of[((n >> 1) & 1) | (n >> 3) << 1][source(n)];
      q = load_plane(result);
    }
    return q;
  }

 private:
  // Where number n comes from in its quarter.
  static constexpr size_t source(size_t n) { return 2 * (n & 1) + 8 * ((n >> 2) & 1); }

  decltype(hn::SetTableIndices(Tag(), static_cast<int32_t*>(nullptr))) m_from;
  hn::Mask<Tag> m_right, m_upper;
};

SUPPLE_KERNELS_END

#endif
