#include "supple/mesh/cell_skin_kernels.h"

#include <cstring>

#define SUPPLE_KERNEL_FILE "supple/mesh/cell_skin_kernels.cpp"
#include "supple/math/for_each_target.h"

#include "supple/math/wide.h"

SUPPLE_KERNELS_BEGIN

// One component of a trilinear map as a polynomial.
struct Polynomial {
  WideFloat one, u, v, w, uv, uw, vw, uvw;

  HWY_INLINE Polynomial(const float* corners, size_t component) {
    const auto at = [&](size_t i) HWY_ATTR { return corners[3 * i + component]; };
    one = WideFloat(at(0));
    u = WideFloat(at(1) - at(0));
    v = WideFloat(at(2) - at(0));
    w = WideFloat(at(4) - at(0));
    uv = WideFloat((at(3) - at(2)) - (at(1) - at(0)));
    uw = WideFloat((at(5) - at(4)) - (at(1) - at(0)));
    vw = WideFloat((at(6) - at(4)) - (at(2) - at(0)));
    uvw = WideFloat(((at(7) - at(6)) - (at(5) - at(4))) - ((at(3) - at(2)) - (at(1) - at(0))));
  }

  HWY_INLINE WideFloat operator()(WideFloat a, WideFloat b, WideFloat c) const {
    const WideFloat plane = mul_add(b, mul_add(a, uv, v), mul_add(a, u, one));
    const WideFloat slope = mul_add(b, mul_add(a, uvw, vw), mul_add(a, uw, w));
    return mul_add(c, slope, plane);
  }
};

void move_kernel(const CellPoints& points, float* out) {
  const Polynomial x(points.corners, 0), y(points.corners, 1), z(points.corners, 2);
  constexpr size_t lanes = WideFloat::lanes;
  alignas(64) float moved[3 * lanes];
  for (size_t i = 0; i < points.count; i += lanes) {
    const size_t count = points.count - i < lanes ? points.count - i : lanes;
    const WideFloat u = load(points.u + i), v = load(points.v + i), w = load(points.w + i);
    const int32_t* to = points.vertex + i;
    if (count == lanes && to[lanes - 1] == to[0] + static_cast<int32_t>(lanes) - 1) {  // they rise
      store_points(x(u, v, w), y(u, v, w), z(u, v, w), out + 3 * to[0]);
      continue;
    }
    store_points(x(u, v, w), y(u, v, w), z(u, v, w), moved);
    for (size_t k = 0; k < count; ++k)
      std::memcpy(out + 3 * to[k], moved + 3 * k, 3 * sizeof(float));
  }
}

SUPPLE_KERNELS_END

#if SUPPLE_KERNELS_ONCE
namespace supple {

SUPPLE_KERNEL(move_kernel);

void move_cell_points(const CellPoints& points, float* out) {
  SUPPLE_DISPATCH(move_kernel)(points, out);
}

}  // namespace supple
#endif
