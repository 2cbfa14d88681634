// Wide lanes: WideFloat and WideDouble hold as many numbers as one register of the instruction set
// being compiled for, with the arithmetic of one, so that element code is written once as a
// template over float, double, WideFloat and WideDouble. Included by kernel files only, after
// for_each_target.h, once per target; everything lives in supple::HWY_NAMESPACE. Fused multiply-add
// is fused where the target has it, so results differ between targets in the last bits, never
// between runs on one.
#if defined(SUPPLE_MATH_WIDE_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef SUPPLE_MATH_WIDE_PER_TARGET
#undef SUPPLE_MATH_WIDE_PER_TARGET
#else
#define SUPPLE_MATH_WIDE_PER_TARGET
#endif

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "supple/math/for_each_target.h"

#include "hwy/highway.h"

SUPPLE_KERNELS_BEGIN

namespace hn = hwy::HWY_NAMESPACE;

/// One 32-bit integer per lane of floats, for gathers.
struct WideInt {
  using Tag = hn::ScalableTag<int32_t>;
  hn::Vec<Tag> value;
};

/// One truth value per lane.
template <class Scalar>
struct Mask {
  hn::Mask<hn::ScalableTag<Scalar>> value;
};

/// One number per lane.
template <class Scalar>
struct Wide {
  using Tag = hn::ScalableTag<Scalar>;
  static constexpr size_t lanes = hn::MaxLanes(Tag());

  hn::Vec<Tag> value;

  Wide() = default;
  HWY_INLINE Wide(hn::Vec<Tag> v) : value(v) {}
  HWY_INLINE Wide(Scalar x) : value(hn::Set(Tag(), x)) {}

  HWY_INLINE Wide& operator+=(Wide b) { return *this = hn::Add(value, b.value); }
  HWY_INLINE Wide& operator-=(Wide b) { return *this = hn::Sub(value, b.value); }
  HWY_INLINE Wide& operator*=(Wide b) { return *this = hn::Mul(value, b.value); }
  HWY_INLINE Wide& operator/=(Wide b) { return *this = hn::Div(value, b.value); }

  // Arithmetic, lane by lane.
  friend HWY_INLINE Wide operator+(Wide a, Wide b) { return hn::Add(a.value, b.value); }
  friend HWY_INLINE Wide operator-(Wide a, Wide b) { return hn::Sub(a.value, b.value); }
  friend HWY_INLINE Wide operator*(Wide a, Wide b) { return hn::Mul(a.value, b.value); }
  friend HWY_INLINE Wide operator/(Wide a, Wide b) { return hn::Div(a.value, b.value); }
  friend HWY_INLINE Wide operator-(Wide a) { return hn::Neg(a.value); }

  /// a · b + c.
  friend HWY_INLINE Wide mul_add(Wide a, Wide b, Wide c) {
    return hn::MulAdd(a.value, b.value, c.value);
  }
  /// a · b - c.
  friend HWY_INLINE Wide mul_sub(Wide a, Wide b, Wide c) {
    return hn::MulSub(a.value, b.value, c.value);
  }
  /// c - a · b.
  friend HWY_INLINE Wide neg_mul_add(Wide a, Wide b, Wide c) {
    return hn::NegMulAdd(a.value, b.value, c.value);
  }
  /// The smaller of two values.
  friend HWY_INLINE Wide min(Wide a, Wide b) { return hn::Min(a.value, b.value); }
  /// The larger of two values.
  friend HWY_INLINE Wide max(Wide a, Wide b) { return hn::Max(a.value, b.value); }
  /// The magnitude.
  friend HWY_INLINE Wide abs(Wide a) { return hn::Abs(a.value); }
  /// The square root, correctly rounded.
  friend HWY_INLINE Wide sqrt(Wide a) { return hn::Sqrt(a.value); }
  /// The magnitude of `a` with the sign of `sign`.
  friend HWY_INLINE Wide copy_sign(Wide a, Wide sign) { return hn::CopySign(a.value, sign.value); }
  /// `a`, negated where the sign bit of `sign` is set.
  friend HWY_INLINE Wide flip_sign(Wide a, Wide sign) {
    return hn::Xor(a.value, hn::And(sign.value, hn::SignBit(Tag())));
  }

  // Comparisons, lane by lane.
  friend HWY_INLINE Mask<Scalar> operator<(Wide a, Wide b) { return {hn::Lt(a.value, b.value)}; }
  friend HWY_INLINE Mask<Scalar> operator<=(Wide a, Wide b) { return {hn::Le(a.value, b.value)}; }
  friend HWY_INLINE Mask<Scalar> operator>(Wide a, Wide b) { return {hn::Gt(a.value, b.value)}; }
  friend HWY_INLINE Mask<Scalar> operator>=(Wide a, Wide b) { return {hn::Ge(a.value, b.value)}; }
  friend HWY_INLINE Mask<Scalar> operator==(Wide a, Wide b) { return {hn::Eq(a.value, b.value)}; }

  /// `yes` where the mask is true, `no` elsewhere.
  friend HWY_INLINE Wide select(Mask<Scalar> mask, Wide yes, Wide no) {
    return hn::IfThenElse(mask.value, yes.value, no.value);
  }
  /// Writes all lanes to any address.
  friend HWY_INLINE void store(Wide a, Scalar* to) { hn::StoreU(a.value, Tag(), to); }
  /// The same past the cache; `to` is aligned.
  friend HWY_INLINE void stream(Wide a, Scalar* to) { hn::Stream(a.value, Tag(), to); }
};

using WideFloat = Wide<float>;
using WideDouble = Wide<double>;
using WideMask = Mask<float>;

template <class Scalar>
HWY_INLINE Mask<Scalar> operator&(Mask<Scalar> a, Mask<Scalar> b) {
  return {hn::And(a.value, b.value)};
}
template <class Scalar>
HWY_INLINE Mask<Scalar> operator|(Mask<Scalar> a, Mask<Scalar> b) {
  return {hn::Or(a.value, b.value)};
}
template <class Scalar>
HWY_INLINE Mask<Scalar> operator!(Mask<Scalar> a) {
  return {hn::Not(a.value)};
}

/// Whether any lane is true.
template <class Scalar>
HWY_INLINE bool any(Mask<Scalar> a) {
  return !hn::AllFalse(hn::ScalableTag<Scalar>(), a.value);
}
/// Whether every lane is true.
template <class Scalar>
HWY_INLINE bool all(Mask<Scalar> a) {
  return hn::AllTrue(hn::ScalableTag<Scalar>(), a.value);
}

/// The sum of all lanes.
template <class Scalar>
HWY_INLINE Scalar sum_of_lanes(Wide<Scalar> a) {
  const typename Wide<Scalar>::Tag tag;
  return hn::GetLane(hn::SumOfLanes(tag, a.value));
}

/// Lanes in double precision; of floats, those of both halves added up.
HWY_INLINE WideDouble widened(WideDouble a) { return a; }
HWY_INLINE WideDouble widened(WideFloat a) {
#if HWY_TARGET == HWY_SCALAR
  return WideDouble(static_cast<double>(hn::GetLane(a.value)));
#else
  const hn::Half<WideFloat::Tag> half;
  const hn::Rebind<double, decltype(half)> wider;
  return {hn::Add(hn::PromoteTo(wider, hn::LowerHalf(half, a.value)),
                  hn::PromoteTo(wider, hn::UpperHalf(half, a.value)))};
#endif
}

// The same verbs for plain scalars.
HWY_INLINE float mul_add(float a, float b, float c) { return a * b + c; }
HWY_INLINE double mul_add(double a, double b, double c) { return a * b + c; }
HWY_INLINE float mul_sub(float a, float b, float c) { return a * b - c; }
HWY_INLINE double mul_sub(double a, double b, double c) { return a * b - c; }
HWY_INLINE float neg_mul_add(float a, float b, float c) { return c - a * b; }
HWY_INLINE double neg_mul_add(double a, double b, double c) { return c - a * b; }
HWY_INLINE float min(float a, float b) { return b < a ? b : a; }
HWY_INLINE double min(double a, double b) { return b < a ? b : a; }
HWY_INLINE float max(float a, float b) { return a < b ? b : a; }
HWY_INLINE double max(double a, double b) { return a < b ? b : a; }
HWY_INLINE float abs(float a) { return std::fabs(a); }
HWY_INLINE double abs(double a) { return std::fabs(a); }
HWY_INLINE float sqrt(float a) { return std::sqrt(a); }
HWY_INLINE double sqrt(double a) { return std::sqrt(a); }
HWY_INLINE bool any(bool a) { return a; }
HWY_INLINE bool all(bool a) { return a; }
HWY_INLINE float select(bool mask, float yes, float no) { return mask ? yes : no; }
HWY_INLINE double select(bool mask, double yes, double no) { return mask ? yes : no; }

HWY_INLINE float copy_sign(float a, float sign) { return std::copysign(a, sign); }
HWY_INLINE double copy_sign(double a, double sign) { return std::copysign(a, sign); }
HWY_INLINE float flip_sign(float a, float sign) { return std::signbit(sign) ? -a : a; }
HWY_INLINE double flip_sign(double a, double sign) { return std::signbit(sign) ? -a : a; }

// One Newton step towards k/√a from an estimate y of 1/√a: k (y + y (1/2 - a/2 y²)).
template <class Scalar>
HWY_INLINE Wide<Scalar> rsqrt_step(Wide<Scalar> a, Wide<Scalar> y, Wide<Scalar> k_y) {
  const Wide<Scalar> half(Scalar(0.5));
  return mul_add(k_y, neg_mul_add(a * (half * y), y, half), k_y);
}

// 1/√a to 11 bits or more.
HWY_INLINE WideFloat estimate_rsqrt(WideFloat a) {
  if constexpr (WideFloat::lanes == 1) return WideFloat(1.0f) / sqrt(a);
  WideFloat y(hn::ApproximateReciprocalSqrt(a.value));
  // Other machines than x86 estimate to 7 or 8 bits only.
  if constexpr (!HWY_ARCH_X86) y = rsqrt_step(a, y, y);
  return y;
}
// 1/√a to 26 bits or more.
HWY_INLINE WideDouble estimate_rsqrt(WideDouble a) {
  // Halving the exponent, with a constant that balances the error over the mantissas, is right to
  // 3.5 %; each step squares the error.
  const hn::RebindToUnsigned<WideDouble::Tag> bits;
  const auto halved = hn::Sub(hn::Set(bits, uint64_t{0x5fe6eb50c7b537a9}),
                              hn::ShiftRight<1>(hn::BitCast(bits, a.value)));
  WideDouble y(hn::BitCast(WideDouble::Tag(), halved));
  for (int step = 0; step < 3; ++step) y = rsqrt_step(a, y, y);
  return y;
}

/// 1/√a to within a few units in the last place, for positive normal numbers; wide lanes only
/// multiply, as roots and divisions of whole registers are slow.
template <class Scalar>
HWY_INLINE Wide<Scalar> rsqrt(Wide<Scalar> a) {
  const Wide<Scalar> y = estimate_rsqrt(a);
  if constexpr (sizeof(Scalar) == 8 || HWY_TARGET <= HWY_AVX3) return rsqrt_step(a, y, y);
  // From 11 bits one step reaches 22 only: y (1 + e/2 + 3/8 e²), e = 1 - a y².
  const Wide<Scalar> e = neg_mul_add(a * y, y, Wide<Scalar>(Scalar(1)));
  const Wide<Scalar> half(Scalar(0.5)), three_eighths(Scalar(0.375));
  return mul_add(y * e, mul_add(three_eighths, e, half), y);
}
HWY_INLINE float rsqrt(float a) { return 1 / std::sqrt(a); }
HWY_INLINE double rsqrt(double a) { return 1 / std::sqrt(a); }

/// 1/(2 √a) to 22 bits for float, to a few units in the last place for double.
template <class Scalar>
HWY_INLINE Wide<Scalar> half_rsqrt(Wide<Scalar> a) {
  const Wide<Scalar> y = estimate_rsqrt(a);
  return rsqrt_step(a, y, Wide<Scalar>(Scalar(0.5)) * y);
}
HWY_INLINE float half_rsqrt(float a) { return 0.5f / std::sqrt(a); }
HWY_INLINE double half_rsqrt(double a) { return 0.5 / std::sqrt(a); }

/// A power of two and its inverse.
template <class T>
struct PowerOfTwo {
  T value, inverse;
};

// Limits that keep a power of two and its inverse normal, and the bits of 2^e · 2^-e combined: 2^e
// has the biased exponent b + e, its inverse b - e, so that the bits of both add up to a constant.
template <class Scalar>
struct PowerLimits;
template <>
struct PowerLimits<float> {
  static constexpr float least = 0x1p-126f, most = 0x1p126f;
  static constexpr uint32_t mask = 0xffu << 23, sum = 254u << 23;
};
template <>
struct PowerLimits<double> {
  static constexpr double least = 0x1p-1022, most = 0x1p1022;
  static constexpr uint64_t mask = uint64_t{0x7ff} << 52, sum = uint64_t{2046} << 52;
};

/// The largest power of two not above a positive number, limited to those with normal inverses.
template <class Scalar>
HWY_INLINE PowerOfTwo<Wide<Scalar>> power_of_two_below(Wide<Scalar> a) {
  using Limits = PowerLimits<Scalar>;
  const typename Wide<Scalar>::Tag tag;
  const hn::RebindToUnsigned<typename Wide<Scalar>::Tag> bits;
  const Wide<Scalar> limited = min(max(a, Wide<Scalar>(Limits::least)), Wide<Scalar>(Limits::most));
  const auto value = hn::And(hn::BitCast(bits, limited.value), hn::Set(bits, Limits::mask));
  return {hn::BitCast(tag, value), hn::BitCast(tag, hn::Sub(hn::Set(bits, Limits::sum), value))};
}
template <class Scalar>
HWY_INLINE PowerOfTwo<Scalar> power_of_two_below(Scalar a) {
  using Limits = PowerLimits<Scalar>;
  const Scalar limited = min(max(a, Limits::least), Limits::most);
  std::remove_const_t<decltype(Limits::mask)> value;
  std::memcpy(&value, &limited, sizeof value);
  value &= Limits::mask;
  const auto inverse = Limits::sum - value;
  PowerOfTwo<Scalar> result;
  std::memcpy(&result.value, &value, sizeof value);
  std::memcpy(&result.inverse, &inverse, sizeof inverse);
  return result;
}

/// Asks for numbers that will be needed soon; any address will do.
template <class Scalar>
HWY_INLINE void prefetch(const Scalar* from, size_t count) {
  for (size_t i = 0; i < count; i += 64 / sizeof(Scalar)) __builtin_prefetch(from + i);
}

/// The same of numbers that will be read once: they need not be kept.
template <class Scalar>
HWY_INLINE void prefetch_once(const Scalar* from, size_t count) {
  for (size_t i = 0; i < count; i += 64 / sizeof(Scalar)) __builtin_prefetch(from + i, 0, 0);
}

/// Consecutive numbers from any address.
HWY_INLINE WideFloat load(const float* from) { return hn::LoadU(WideFloat::Tag(), from); }
HWY_INLINE WideDouble load(const double* from) { return hn::LoadU(WideDouble::Tag(), from); }
/// Consecutive numbers of a lower or the same precision as lanes of a scalar type.
template <class Scalar>
HWY_INLINE Wide<Scalar> load_as(const float* from) {
  if constexpr (sizeof(Scalar) == sizeof(float)) {
    return load(from);
  } else {
    const typename Wide<Scalar>::Tag tag;
    return hn::PromoteTo(tag, hn::LoadU(hn::Rebind<float, decltype(tag)>(), from));
  }
}
template <class Scalar>
HWY_INLINE Wide<Scalar> load_as(const double* from) {
  static_assert(sizeof(Scalar) == sizeof(double));
  return load(from);
}
/// The first `count` lanes from memory, zero in the others; reads nothing past them.
HWY_INLINE WideFloat load_first(const float* from, size_t count) {
  alignas(64) float buffer[WideFloat::lanes] = {};
  std::memcpy(buffer, from, count * sizeof(float));
  return hn::Load(WideFloat::Tag(), buffer);
}
/// Writes the first `count` lanes and nothing else.
HWY_INLINE void store_first(WideFloat a, float* to, size_t count) {
  alignas(64) float buffer[WideFloat::lanes];
  hn::Store(a.value, WideFloat::Tag(), buffer);
  std::memcpy(to, buffer, count * sizeof(float));
}

/// Consecutive integers from any address.
HWY_INLINE WideInt load_int(const int32_t* from) { return {hn::LoadU(WideInt::Tag(), from)}; }
/// base[index] in every lane.
HWY_INLINE WideFloat gather(const float* base, WideInt index) {
  return hn::GatherIndex(WideFloat::Tag(), base, index.value);
}

/// Three components of consecutive points, stored x y z x y z ...
template <class Scalar>
HWY_INLINE void load_points(const Scalar* from, Wide<Scalar>& x, Wide<Scalar>& y, Wide<Scalar>& z) {
  hn::LoadInterleaved3(typename Wide<Scalar>::Tag(), from, x.value, y.value, z.value);
}

/// Writes consecutive points as x y z x y z ...
template <class Scalar>
HWY_INLINE void store_points(Wide<Scalar> x, Wide<Scalar> y, Wide<Scalar> z, Scalar* to) {
  hn::StoreInterleaved3(x.value, y.value, z.value, typename Wide<Scalar>::Tag(), to);
}

/// Four components of consecutive quadruples, stored x y z w x y z w ...
HWY_INLINE void load_quadruples(const float* from, WideFloat& x, WideFloat& y, WideFloat& z,
                                WideFloat& w) {
  hn::LoadInterleaved4(WideFloat::Tag(), from, x.value, y.value, z.value, w.value);
}

/// Writes consecutive quadruples as x y z w x y z w ...
HWY_INLINE void store_quadruples(WideFloat x, WideFloat y, WideFloat z, WideFloat w, float* to) {
  hn::StoreInterleaved4(x.value, y.value, z.value, w.value, WideFloat::Tag(), to);
}

/// Four doubles in as few registers as the target allows, for sums of small records.
struct FourDoubles {
  using Tag = hn::CappedTag<double, 4>;
  static constexpr size_t lanes = hn::MaxLanes(Tag());
  static constexpr size_t registers = 4 / lanes;

  hn::Vec<Tag> value[registers];

  /// The same number four times.
  static HWY_INLINE FourDoubles same(double x) {
    FourDoubles result;
    for (auto& v : result.value) v = hn::Set(Tag(), x);
    return result;
  }
  /// Consecutive numbers from any address.
  static HWY_INLINE FourDoubles loaded(const double* from) {
    FourDoubles result;
    for (size_t r = 0; r < registers; ++r) result.value[r] = hn::LoadU(Tag(), from + r * lanes);
    return result;
  }
  /// Adds x times four others.
  HWY_INLINE void add(double x, const FourDoubles& others) {
    for (size_t r = 0; r < registers; ++r)
      value[r] = hn::MulAdd(hn::Set(Tag(), x), others.value[r], value[r]);
  }
  /// Writes all four to any address.
  HWY_INLINE void store(double* to) const {
    for (size_t r = 0; r < registers; ++r) hn::StoreU(value[r], Tag(), to + r * lanes);
  }
};

/// N quadruples of floats in as few registers as the target allows, for weighted sums of small
/// records (matrix rows, dual quaternions). Reads records of 8 floats for N <= 2, else of 16.
template <int N>
struct Quadruples {
  static_assert(N >= 1 && N <= 4);
  static constexpr size_t record = N <= 2 ? 8 : 16;
  using Tag = hn::CappedTag<float, record>;
  static constexpr size_t lanes = hn::MaxLanes(Tag());
  static constexpr size_t registers = (4 * N + lanes - 1) / lanes;

  hn::Vec<Tag> value[registers];

  /// weight · record.
  static HWY_INLINE Quadruples scaled(const float* from, float weight) {
    Quadruples result;
    const auto w = hn::Set(Tag(), weight);
    for (size_t r = 0; r < registers; ++r)
      result.value[r] = hn::Mul(w, hn::LoadU(Tag(), from + r * lanes));
    return result;
  }

  /// Adds weight · record.
  HWY_INLINE void add_scaled(const float* from, float weight) {
    const auto w = hn::Set(Tag(), weight);
    for (size_t r = 0; r < registers; ++r)
      value[r] = hn::MulAdd(w, hn::LoadU(Tag(), from + r * lanes), value[r]);
  }

  /// Writes quadruple K to any address.
  template <int K>
  HWY_INLINE void store(float* to) const {
    static_assert(K < N);
    if constexpr (lanes == 1) {
      for (size_t c = 0; c < 4; ++c) hn::StoreU(value[4 * K + c], Tag(), to + c);
    } else {
      store_part<K % (lanes / 4)>(Tag(), value[4 * K / lanes], to);
    }
  }

 private:
  // Quadruple K of a register: halves the register until one quadruple is left. (Found by argument
  // lookup: targets of one lane have no halves.)
  template <int K, class D, class V>
  static HWY_INLINE void store_part(D tag, V v, float* to) {
    if constexpr (hn::MaxLanes(D()) == 4) {
      hn::StoreU(v, tag, to);
    } else {
      constexpr int half = static_cast<int>(hn::MaxLanes(D())) / 8;
      const hn::Half<D> half_tag;
      if constexpr (K < half)
        store_part<K>(half_tag, LowerHalf(half_tag, v), to);
      else
        store_part<K - half>(half_tag, UpperHalf(half_tag, v), to);
    }
  }
};

/// Quadruples of whole numbers in as few registers as the target allows, for sums of records; adds
/// wrap round. Reads records of 8 numbers for N <= 2, else of 16.
template <int N>
struct IntQuadruples {
  static_assert(N >= 1 && N <= 4);
  static constexpr size_t record = N <= 2 ? 8 : 16;
  using Tag = hn::CappedTag<int32_t, record>;
  static constexpr size_t lanes = hn::MaxLanes(Tag());
  static constexpr size_t registers = (4 * N + lanes - 1) / lanes;

  hn::Vec<Tag> value[registers];

  /// All zero.
  static HWY_INLINE IntQuadruples zero() {
    IntQuadruples result;
    for (size_t r = 0; r < registers; ++r) result.value[r] = hn::Zero(Tag());
    return result;
  }
  /// Adds a record.
  HWY_INLINE void add(const int32_t* from) {
    for (size_t r = 0; r < registers; ++r)
      value[r] = hn::Add(value[r], hn::LoadU(Tag(), from + r * lanes));
  }
  /// Subtracts a record.
  HWY_INLINE void subtract(const int32_t* from) {
    for (size_t r = 0; r < registers; ++r)
      value[r] = hn::Sub(value[r], hn::LoadU(Tag(), from + r * lanes));
  }
  /// Writes the record; all of its 8 or 16 numbers where registers are that wide.
  HWY_INLINE void store(int32_t* to) const {
    for (size_t r = 0; r < registers; ++r) hn::StoreU(value[r], Tag(), to + r * lanes);
  }
};

/// Four floats, for code that goes from point to point; the fourth one is along for the ride.
struct Quad {
  using Tag = hn::CappedTag<float, 4>;
  using IntTag = hn::CappedTag<int32_t, 4>;
  static constexpr size_t lanes = hn::MaxLanes(Tag());
  static constexpr size_t registers = 4 / lanes;

  hn::Vec<Tag> value[registers];

  /// Four numbers from any address.
  static HWY_INLINE Quad load(const float* from) {
    Quad q;
    for (size_t r = 0; r < registers; ++r) q.value[r] = hn::LoadU(Tag(), from + r * lanes);
    return q;
  }
  /// One number four times.
  static HWY_INLINE Quad all(float x) {
    Quad q;
    for (size_t r = 0; r < registers; ++r) q.value[r] = hn::Set(Tag(), x);
    return q;
  }
  /// Writes four numbers to any address.
  HWY_INLINE void store(float* to) const {
    for (size_t r = 0; r < registers; ++r) hn::StoreU(value[r], Tag(), to + r * lanes);
  }
  friend HWY_INLINE Quad operator-(Quad a, Quad b) {
    for (size_t r = 0; r < registers; ++r) a.value[r] = hn::Sub(a.value[r], b.value[r]);
    return a;
  }
  friend HWY_INLINE Quad operator*(Quad a, Quad b) {
    for (size_t r = 0; r < registers; ++r) a.value[r] = hn::Mul(a.value[r], b.value[r]);
    return a;
  }
  /// a · b + c.
  friend HWY_INLINE Quad mul_add(Quad a, Quad b, Quad c) {
    for (size_t r = 0; r < registers; ++r)
      a.value[r] = hn::MulAdd(a.value[r], b.value[r], c.value[r]);
    return a;
  }
  /// c - a · b.
  friend HWY_INLINE Quad neg_mul_add(Quad a, Quad b, Quad c) {
    for (size_t r = 0; r < registers; ++r)
      a.value[r] = hn::NegMulAdd(a.value[r], b.value[r], c.value[r]);
    return a;
  }
  /// The smaller of two values.
  friend HWY_INLINE Quad min(Quad a, Quad b) {
    for (size_t r = 0; r < registers; ++r) a.value[r] = hn::Min(a.value[r], b.value[r]);
    return a;
  }
  /// The larger of two values.
  friend HWY_INLINE Quad max(Quad a, Quad b) {
    for (size_t r = 0; r < registers; ++r) a.value[r] = hn::Max(a.value[r], b.value[r]);
    return a;
  }
  /// (y, z, x, w).
  HWY_INLINE Quad yzx() const {
    Quad q;
    if constexpr (lanes == 1) {
      q.value[0] = value[1];
      q.value[1] = value[2];
      q.value[2] = value[0];
      q.value[3] = value[3];
    } else {
      alignas(16) static constexpr int32_t order[4] = {1, 2, 0, 3};
      q.value[0] = hn::TableLookupLanes(value[0], hn::SetTableIndices(Tag(), order));
    }
    return q;
  }
};

/// Four whole numbers whose adds wrap round.
struct IntQuad {
  hn::Vec<Quad::IntTag> value[Quad::registers];

  /// Four numbers from any address.
  static HWY_INLINE IntQuad load(const int32_t* from) {
    IntQuad q;
    for (size_t r = 0; r < Quad::registers; ++r)
      q.value[r] = hn::LoadU(Quad::IntTag(), from + r * Quad::lanes);
    return q;
  }
  /// All zero.
  static HWY_INLINE IntQuad zero() {
    IntQuad q;
    for (size_t r = 0; r < Quad::registers; ++r) q.value[r] = hn::Zero(Quad::IntTag());
    return q;
  }
  /// The nearest whole numbers.
  static HWY_INLINE IntQuad nearest(Quad a) {
    IntQuad q;
    for (size_t r = 0; r < Quad::registers; ++r) q.value[r] = hn::NearestInt(a.value[r]);
    return q;
  }
  HWY_INLINE IntQuad& operator+=(IntQuad b) {
    for (size_t r = 0; r < Quad::registers; ++r) value[r] = hn::Add(value[r], b.value[r]);
    return *this;
  }
  /// Writes four numbers to any address.
  HWY_INLINE void store(int32_t* to) const {
    for (size_t r = 0; r < Quad::registers; ++r)
      hn::StoreU(value[r], Quad::IntTag(), to + r * Quad::lanes);
  }
};

/// Four components of consecutive quadruples of whole numbers.
HWY_INLINE void load_quadruples(const int32_t* from, WideInt& x, WideInt& y, WideInt& z,
                                WideInt& w) {
  hn::LoadInterleaved4(WideInt::Tag(), from, x.value, y.value, z.value, w.value);
}
/// Writes consecutive quadruples of whole numbers.
HWY_INLINE void store_quadruples(WideInt x, WideInt y, WideInt z, WideInt w, int32_t* to) {
  hn::StoreInterleaved4(x.value, y.value, z.value, w.value, WideInt::Tag(), to);
}
/// Writes all lanes to any address.
HWY_INLINE void store(WideInt a, int32_t* to) { hn::StoreU(a.value, WideInt::Tag(), to); }
/// The nearest whole number in every lane.
HWY_INLINE WideInt nearest_int(WideFloat a) { return {hn::NearestInt(a.value)}; }
/// Whole numbers as floats.
HWY_INLINE WideFloat to_float(WideInt a) { return hn::ConvertTo(WideFloat::Tag(), a.value); }
/// Consecutive whole numbers as doubles.
HWY_INLINE WideDouble load_double(const int32_t* from) {
  return hn::PromoteTo(WideDouble::Tag(), hn::LoadU(hn::Rebind<int32_t, WideDouble::Tag>(), from));
}
/// Writes all lanes as floats.
HWY_INLINE void store_float(WideDouble a, float* to) {
  const hn::Rebind<float, WideDouble::Tag> tag;
  hn::StoreU(hn::DemoteTo(tag, a.value), tag, to);
}

SUPPLE_KERNELS_END

#endif
