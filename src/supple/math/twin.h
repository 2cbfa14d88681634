// Two registers of lanes side by side, with the arithmetic of one. Element code in which every
// operation waits for the one before leaves the machine idle most of the time; with Twin<WideFloat>
// as its lane type it does two pieces of work in turns, with Twin<Twin<WideFloat>> four. Included
// per target, after wide.h.
#if defined(SUPPLE_MATH_TWIN_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef SUPPLE_MATH_TWIN_PER_TARGET
#undef SUPPLE_MATH_TWIN_PER_TARGET
#else
#define SUPPLE_MATH_TWIN_PER_TARGET
#endif

#include "supple/math/wide.h"

SUPPLE_KERNELS_BEGIN

/// Two truth values per lane.
template <class M>
struct TwinMask {
  M a, b;
};

/// Two numbers per lane.
template <class T>
struct Twin {
  static constexpr size_t lanes = 2 * T::lanes;

  T a, b;

  Twin() = default;
  HWY_INLINE Twin(T first, T second) : a(first), b(second) {}
  template <class Scalar>
  requires std::is_arithmetic_v<Scalar> HWY_INLINE Twin(Scalar x) : a(x), b(x) {}

  HWY_INLINE Twin& operator+=(Twin y) { return *this = *this + y; }

  // Arithmetic, lane by lane.
  friend HWY_INLINE Twin operator+(Twin x, Twin y) { return {x.a + y.a, x.b + y.b}; }
  friend HWY_INLINE Twin operator-(Twin x, Twin y) { return {x.a - y.a, x.b - y.b}; }
  friend HWY_INLINE Twin operator*(Twin x, Twin y) { return {x.a * y.a, x.b * y.b}; }
  friend HWY_INLINE Twin operator-(Twin x) { return {-x.a, -x.b}; }
  friend HWY_INLINE Twin mul_add(Twin x, Twin y, Twin z) {
    return {mul_add(x.a, y.a, z.a), mul_add(x.b, y.b, z.b)};
  }
  friend HWY_INLINE Twin neg_mul_add(Twin x, Twin y, Twin z) {
    return {neg_mul_add(x.a, y.a, z.a), neg_mul_add(x.b, y.b, z.b)};
  }
  friend HWY_INLINE Twin min(Twin x, Twin y) { return {min(x.a, y.a), min(x.b, y.b)}; }
  friend HWY_INLINE Twin max(Twin x, Twin y) { return {max(x.a, y.a), max(x.b, y.b)}; }
  friend HWY_INLINE Twin abs(Twin x) { return {abs(x.a), abs(x.b)}; }
  friend HWY_INLINE Twin rsqrt(Twin x) { return {rsqrt(x.a), rsqrt(x.b)}; }
  friend HWY_INLINE Twin half_rsqrt(Twin x) { return {half_rsqrt(x.a), half_rsqrt(x.b)}; }
  friend HWY_INLINE Twin copy_sign(Twin x, Twin y) {
    return {copy_sign(x.a, y.a), copy_sign(x.b, y.b)};
  }
  friend HWY_INLINE Twin flip_sign(Twin x, Twin y) {
    return {flip_sign(x.a, y.a), flip_sign(x.b, y.b)};
  }
  friend HWY_INLINE PowerOfTwo<Twin> power_of_two_below(Twin x) {
    const auto a = power_of_two_below(x.a), b = power_of_two_below(x.b);
    return {{a.value, b.value}, {a.inverse, b.inverse}};
  }

  // Comparisons and choice, lane by lane.
  friend HWY_INLINE auto operator<(Twin x, Twin y) {
    return TwinMask<decltype(x.a < y.a)>{x.a < y.a, x.b < y.b};
  }
  template <class M>
  friend HWY_INLINE Twin select(TwinMask<M> mask, Twin yes, Twin no) {
    return {select(mask.a, yes.a, no.a), select(mask.b, yes.b, no.b)};
  }

  /// Writes all lanes to any address.
  template <class Scalar>
  friend HWY_INLINE void store(Twin x, Scalar* to) {
    store(x.a, to);
    store(x.b, to + T::lanes);
  }
};

/// Fills all lanes with consecutive numbers from any address.
template <class Scalar>
HWY_INLINE void load_lanes(Wide<Scalar>& x, const Scalar* from) {
  x = load(from);
}
template <class T, class Scalar>
HWY_INLINE void load_lanes(Twin<T>& x, const Scalar* from) {
  load_lanes(x.a, from);
  load_lanes(x.b, from + T::lanes);
}

SUPPLE_KERNELS_END

#endif
