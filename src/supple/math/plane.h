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
        p.part[r] = hn::TableLookupLanes(
            hn::IfThenElse(m_column, next.part[r].value, own.part[r].value), m_up_x);
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
        p.part[r] =
            hn::TableLookupLanes(hn::IfThenElse(m_row, after.value, own.part[r].value), m_up_y);
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

  /// The transpose of shift_x: adds to `own` what it took from there, and sets `next` to the rest.
  HWY_INLINE void unshift_x(const P& value, P& own, P& next) const {
    if constexpr (lanes >= 4) {
      for (size_t r = 0; r < P::registers; ++r) {
        const auto turned = hn::TableLookupLanes(value.part[r].value, m_down_x);
        own.part[r] += Wide<Scalar>(hn::IfThenZeroElse(m_column, turned));
        next.part[r] = hn::IfThenElseZero(m_column, turned);
      }
    } else {
      const P zero = P::zero();
      own = own + through_memory(value, zero, [](const Scalar* a, const Scalar*, size_t i) {
              return (i & 3) > 0 ? a[i - 1] : Scalar(0);
            });
      next = through_memory(value, zero, [](const Scalar* a, const Scalar*, size_t i) {
        return (i & 3) == 0 ? a[i + 3] : Scalar(0);
      });
    }
  }

  /// The transpose of shift_y: adds to `own` what it took from there, and sets `next` to the rest.
  HWY_INLINE void unshift_y(const P& value, P& own, P& next) const {
    if constexpr (lanes >= 8) {
      const Tag tag;
      auto before = hn::Zero(tag);
      for (size_t r = 0; r < P::registers; ++r) {
        const auto turned = hn::TableLookupLanes(value.part[r].value, m_down_y);
        own.part[r] += Wide<Scalar>(hn::IfThenElse(m_row, before, turned));
        next.part[r] = hn::Zero(tag);
        before = turned;
      }
      next.part[0] = hn::IfThenElseZero(m_row, before);
    } else {
      constexpr size_t per_row = 4 / lanes;
      for (size_t r = 0; r < P::registers; ++r) {
        if (r >= per_row) own.part[r] += value.part[r - per_row];
        next.part[r] =
            r < per_row ? value.part[r + P::registers - per_row] : Wide<Scalar>(Scalar(0));
      }
    }
  }

 private:
  template <class Pick>
  static HWY_INLINE P through_memory(const P& own, const P& next, const Pick& pick) {
    Scalar a[plane_size], b[plane_size], c[plane_size];
    store_plane(own, a);
    store_plane(next, b);
    for (size_t i = 0; i < plane_size; ++i) c[i] = pick(a, b, i);
    return load_plane(c);
  }

  decltype(hn::SetTableIndices(
      Tag(),
      static_cast<std::conditional_t<sizeof(Scalar) == 4, int32_t, int64_t>*>(nullptr))) m_up_x,
      m_down_x, m_up_y, m_down_y;
  hn::Mask<Tag> m_column, m_row;
};

SUPPLE_KERNELS_END

#endif
