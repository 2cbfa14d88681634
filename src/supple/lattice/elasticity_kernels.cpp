#include "supple/lattice/elasticity_kernels.h"

#include <cstring>
#include <numbers>

#include "supple/math/svd3_batch.h"

#ifndef SUPPLE_LATTICE_ELASTICITY_TYPES
#define SUPPLE_LATTICE_ELASTICITY_TYPES
namespace supple {

// U and V as quaternions, then the singular values, of the deformation gradients of a block.
struct DecomposedBlock {
  alignas(64) float of[11][block_cells];
};

}  // namespace supple
#endif

#define SUPPLE_KERNEL_FILE "supple/lattice/elasticity_kernels.cpp"
#include "supple/math/for_each_target.h"

#include "supple/lattice/sweep.h"
#include "supple/material/corotated.h"
#include "supple/math/svd3.h"

SUPPLE_KERNELS_BEGIN

// Writes lanes of any scalar type as floats.
template <class Scalar>
HWY_INLINE void store_floats(Wide<Scalar> a, float* to) {
  if constexpr (sizeof(Scalar) == sizeof(float)) {
    store(a, to);
  } else {
    const hn::Rebind<float, typename Wide<Scalar>::Tag> tag;
    hn::StoreU(hn::DemoteTo(tag, a.value), tag, to);
  }
}

// Number n of the cells of a block from `lane` on.
template <class Scalar>
HWY_INLINE Wide<Scalar> cell_number(const float* block, size_t n, size_t lane) {
  return load_as<Scalar>(block + cell_index(n, lane));
}

// Array n of arrays of 64 numbers, from `lane` on.
template <class Scalar>
HWY_INLINE Wide<Scalar> array_number(const float* arrays, size_t n, size_t lane) {
  return load_as<Scalar>(arrays + n * block_cells + lane);
}

template <class Scalar>
HWY_INLINE Quaternion<Wide<Scalar>> cell_rotation(const float* block, size_t lane) {
  return {cell_number<Scalar>(block, 0, lane), cell_number<Scalar>(block, 1, lane),
          cell_number<Scalar>(block, 2, lane), cell_number<Scalar>(block, 3, lane)};
}

template <class Scalar>
HWY_INLINE Symmetric3<Wide<Scalar>> cell_turning(const float* block, size_t lane) {
  return {cell_number<Scalar>(block, 4, lane), cell_number<Scalar>(block, 5, lane),
          cell_number<Scalar>(block, 6, lane), cell_number<Scalar>(block, 7, lane),
          cell_number<Scalar>(block, 8, lane), cell_number<Scalar>(block, 9, lane)};
}

// The modes x, y, z of three components as a matrix: 4 h times the gradient.
template <class T>
HWY_INLINE Matrix3<T> gradient_modes(const CellModes<T>& u, const CellModes<T>& v,
                                     const CellModes<T>& w) {
  return {u.x, u.y, u.z, v.x, v.y, v.z, w.x, w.y, w.z};
}

// The stretches that cells' gradients are multiplied with, from `lane` of a block on.
HWY_INLINE Symmetric3<WideDouble> rest_stretch(const float* block, size_t lane) {
  const auto number = [&](size_t n) HWY_ATTR { return array_number<double>(block, n, lane); };
  return {number(0), number(1), number(2), number(3), number(4), number(5)};
}

// Multiplies the gradient's modes of one component, a row of F, with a symmetric matrix.
template <class T>
HWY_INLINE void stretch_row(const Symmetric3<T>& a, CellModes<T>& m) {
  const T x = m.x, y = m.y, z = m.z;
  m.x = mul_add(x, a.xx, mul_add(y, a.xy, z * a.xz));
  m.y = mul_add(x, a.xy, mul_add(y, a.yy, z * a.yz));
  m.z = mul_add(x, a.xz, mul_add(y, a.yz, z * a.zz));
}

// The Laplace part: mode with n axes times n · stiffness, hourglass modes (n > 1) times `hourglass`
// as well. Adds `aux`, a row of the auxiliary part, to the gradient's modes.
template <class T>
HWY_INLINE CellModes<T> stiff_modes(const CellModes<T>& u, T stiffness, T hourglass, T aux_x,
                                    T aux_y, T aux_z) {
  const T two = (stiffness + stiffness) * hourglass, three = mul_add(stiffness, hourglass, two);
  return {mul_add(stiffness, u.x, aux_x),
          mul_add(stiffness, u.y, aux_y),
          mul_add(stiffness, u.z, aux_z),
          two * u.xy,
          two * u.xz,
          two * u.yz,
          three * u.xyz};
}

// y = K x, in two stages: what a plane of cells does to the planes of nodes below and above, and
// the sums at a plane of nodes. `once` says that linearisations will be gone from the cache before
// they are read again.
template <class Scalar, bool once = false>
struct ApplyVisitor {
  static constexpr bool reads = true;
  static constexpr bool in_turns = true;

  using T = Wide<Scalar>;
  using P = Plane<Scalar>;

  const float* data;
  Scalar hourglass;

  // The edge springs multiply a mode of cells that has n axes with n · stiffness, hourglass modes
  // (n > 1) with `hourglass` as well. In modes of planes, with hold = hourglass · stiffness: modes
  // x and y have 4 hold times their own value, and both planes stiffness - 2 hold times their sum;
  // xy has 5 hold times its own value, less hold times the other plane's.

  // What a plane of cells adds to modes both below and above, of each component: z (subtracted
  // below), x and y; and its hold.
  struct Push {
    Scalar of[3][3][plane_size];
    Scalar hold[plane_size];
  };

  // What plane `number` of the cells pushes. Its steps wait for each other; `meanwhile(i)`, i from
  // 0 to 5, is called between them.
  template <class Meanwhile>
  HWY_INLINE void push(size_t number, const PlaneModes<Scalar>& low, const PlaneModes<Scalar>& high,
                       Push& out, const Meanwhile& meanwhile) const {
    const float* plane = data + number * cell_plane;
    const auto number_of = [&](size_t n, size_t lane)
                               HWY_ATTR { return load_as<Scalar>(plane + n * plane_size + lane); };
    // A sixth of what a plane farther on will need, asked for bit by bit: demands of this plane
    // would have to wait for many requests at once.
    constexpr size_t bit = cell_plane / 6, planes_ahead = once ? 20 : 10;
    for (size_t i = 0; i < P::registers; ++i) {
      const size_t lane = i * T::lanes;
      const auto between = [&](size_t step) HWY_ATTR __attribute__((always_inline)) {
        // The steps of all registers share the six calls.
        const size_t all = i * 6 + step;
        if (all % P::registers != 0) return;
        const size_t turn = all / P::registers;
        const float* later = plane + planes_ahead * cell_plane + turn * bit;
        if constexpr (once)
          prefetch_once(later, bit);
        else
          prefetch(later, bit);
        meanwhile(turn);
      };
      const auto sum = [&](size_t c, size_t m) HWY_ATTR {
        return load(low.of[c][m] + lane) + load(high.of[c][m] + lane);
      };
      const auto difference = [&](size_t c) HWY_ATTR {
        return load(high.of[c][0] + lane) - load(low.of[c][0] + lane);
      };
      const Matrix3<T> r = scaled_rotation_matrix(Quaternion<T>{
          number_of(0, lane), number_of(1, lane), number_of(2, lane), number_of(3, lane)});
      between(0);
      const Matrix3<T> g = {sum(0, 1),     sum(0, 2), difference(0), sum(1, 1),    sum(1, 2),
                            difference(1), sum(2, 1), sum(2, 2),     difference(2)};
      const T stiffness = number_of(10, lane), lambda = number_of(11, lane);
      const T hold = stiffness * T(hourglass), both = stiffness - (hold + hold);
      store(hold, out.hold + lane);
      const auto put = [&](size_t c, T x, T y, T z, T gx, T gy, T gz) HWY_ATTR
          __attribute__((always_inline)) {
        store(mul_add(stiffness, gz, z), out.of[c][0] + lane);
        store(mul_add(both, gx, x), out.of[c][1] + lane);
        store(mul_add(both, gy, y), out.of[c][2] + lane);
      };
      // Not before they are needed: compilers do not move reads past writes, but put them aside.
      const auto turning = [&]() HWY_ATTR __attribute__((always_inline))->Symmetric3<T> {
        return {number_of(4, lane), number_of(5, lane), number_of(6, lane),
                number_of(7, lane), number_of(8, lane), number_of(9, lane)};
      };
      auxiliary_differential(
          r, turning, lambda,
          g, [&](size_t step) HWY_ATTR __attribute__((always_inline)) { between(step + 1); },
          [&](size_t row, T x, T y, T z) HWY_ATTR __attribute__((always_inline)) {
            if (row == 0) put(0, x, y, z, g.a00, g.a01, g.a02);
            if (row == 1) put(1, x, y, z, g.a10, g.a11, g.a12);
            if (row == 2) put(2, x, y, z, g.a20, g.a21, g.a22);
          });
    }
  }

  // Component c of the sums at a plane of nodes, from what it and the planes below and above it
  // have: calls use(m, mx, my, mxy).
  template <class Turn, class Use>
  HWY_INLINE void add_up(size_t c, const Turn& below, const Turn& own, const Turn& above,
                         const Use& use) const {
    P m, mx, my, mxy;
    for (size_t i = 0; i < P::registers; ++i) {
      const size_t lane = i * T::lanes;
      const auto pushed = [&](size_t n) HWY_ATTR {
        return load(below.push.of[c][n] + lane) + load(own.push.of[c][n] + lane);
      };
      const T hold_below = load(below.push.hold + lane), hold_above = load(own.push.hold + lane);
      const T hold = hold_below + hold_above, two = hold + hold, four = two + two;
      m.part[i] = load(below.push.of[c][0] + lane) - load(own.push.of[c][0] + lane);
      mx.part[i] = mul_add(four, load(own.in.of[c][1] + lane), pushed(1));
      my.part[i] = mul_add(four, load(own.in.of[c][2] + lane), pushed(2));
      mxy.part[i] = neg_mul_add(hold_above, load(above.in.of[c][3] + lane),
                                neg_mul_add(hold_below, load(below.in.of[c][3] + lane),
                                            (four + hold) * load(own.in.of[c][3] + lane)));
    }
    use(m, mx, my, mxy);
  }
};

// The diagonal of K [McAdams 2011, §9.1, with the volume factor that is missing there]: at corner
// signs s and for row r of R it is 12 stiffness + sᵀ N s with N = lambda r rᵀ + [r]ᵀ L [r]; a
// quadratic form of signs has the modes 1, xy, xz, yz alone.
struct DiagonalVisitor {
  static constexpr bool reads = false;
  static constexpr bool in_turns = false;

  const float* data;
  float hourglass;

  HWY_INLINE void cells(size_t slot, size_t plane, const PlaneModes<float>&,
                        const PlaneModes<float>&, PlaneModes<float>& out_low,
                        PlaneModes<float>& out_high) const {
    using T = WideFloat;
    const float* block = data + slot * cell_block;
    for (size_t lane = 0; lane < plane_size; lane += T::lanes) {
      const size_t at = plane * plane_size + lane;
      const Matrix3<T> r = scaled_rotation_matrix(cell_rotation<float>(block, at));
      const Symmetric3<T> l = cell_turning<float>(block, at);
      const T stiffness = cell_number<float>(block, 10, at);
      const T lambda = cell_number<float>(block, 11, at);
      // The edge springs: 3 stiffness from gradient modes, 9 from hourglass modes.
      const T springs = stiffness * T(3.0f + 9.0f * hourglass);
      row(l, lambda, springs, r.a00, r.a01, r.a02, out_low, out_high, 0, lane);
      row(l, lambda, springs, r.a10, r.a11, r.a12, out_low, out_high, 1, lane);
      row(l, lambda, springs, r.a20, r.a21, r.a22, out_low, out_high, 2, lane);
    }
  }

 private:
  static HWY_INLINE void row(const Symmetric3<WideFloat>& l, WideFloat lambda, WideFloat springs,
                             WideFloat x, WideFloat y, WideFloat z, PlaneModes<float>& low,
                             PlaneModes<float>& high, size_t c, size_t lane) {
    using T = WideFloat;
    // Columns of [r]: s -> s × r for unit s.
    const auto form = [&](T a0, T a1, T a2, T b0, T b1, T b2) {
      return a0 * (l.xx * b0 + l.xy * b1 + l.xz * b2) + a1 * (l.xy * b0 + l.yy * b1 + l.yz * b2) +
             a2 * (l.xz * b0 + l.yz * b1 + l.zz * b2);
    };
    const T o(0.0f);
    // e_x × r = (0, -z, y), e_y × r = (z, 0, -x), e_z × r = (-y, x, 0).
    const T trace = form(o, -z, y, o, -z, y) + form(z, o, -x, z, o, -x) + form(-y, x, o, -y, x, o) +
                    lambda * (x * x + y * y + z * z);
    const T xy = T(2.0f) * (form(o, -z, y, z, o, -x) + lambda * x * y);
    const T xz = T(2.0f) * (form(o, -z, y, -y, x, o) + lambda * x * z);
    const T yz = T(2.0f) * (form(z, o, -x, -y, x, o) + lambda * y * z);
    const auto add = [lane](float* to, T value) { store(load(to + lane) + value, to + lane); };
    const T constant = springs + trace;
    add(low.of[c][0], constant);
    add(low.of[c][1], -xz);
    add(low.of[c][2], -yz);
    add(low.of[c][3], xy);
    store(constant, high.of[c][0] + lane);
    store(xz, high.of[c][1] + lane);
    store(yz, high.of[c][2] + lane);
    store(xy, high.of[c][3] + lane);
  }
};

// Energy and its gradient.
template <bool writes>
struct ForceVisitor {
  static constexpr bool reads = true;
  static constexpr bool in_turns = false;

  const ForceInput& input;
  WideDouble energy{0.0};

  HWY_INLINE void cells(size_t slot, size_t plane, const PlaneModes<double>& low,
                        const PlaneModes<double>& high, PlaneModes<double>& out_low,
                        PlaneModes<double>& out_high) {
    using T = WideDouble;
    const float* offsets =
        input.offsets == nullptr ? nullptr : input.offsets + slot * gradient_block;
    const double spacing = input.spacing;
    const T scale(1 / (4 * spacing)), hold(input.hourglass);
    for (size_t lane = 0; lane < plane_size; lane += T::lanes) {
      const size_t at = plane * plane_size + lane;
      CellModes<T> u = cell_modes(low, high, 0, lane), v = cell_modes(low, high, 1, lane),
                   w = cell_modes(low, high, 2, lane);
      if (offsets != nullptr) {
        add_offset(offsets, at, u);
        add_offset(offsets + 3 * block_cells, at, v);
        add_offset(offsets + 6 * block_cells, at, w);
      }
      const bool stretched = input.rest_stretches != nullptr;
      Symmetric3<T> a;
      if (stretched) {
        a = rest_stretch(input.rest_stretches + slot * stretch_block, at);
        stretch_row(a, u);
        stretch_row(a, v);
        stretch_row(a, w);
      }
      const T stiffness = material(slot, 0, at), lambda = material(slot, 1, at);
      const T rest = input.rest_traces == nullptr
                         ? T(3.0)
                         : array_number<double>(input.rest_traces + slot * block_cells, 0, at);
      const Matrix3<T> f = {u.x * scale, u.y * scale, u.z * scale, v.x * scale, v.y * scale,
                            v.z * scale, w.x * scale, w.y * scale, w.z * scale};
      const Svd3<T> svd = svd3(f);
      const T trace = svd.sigma.x + svd.sigma.y + svd.sigma.z;
      // mu = 8 stiffness / h and lambda = 16 lambda' / h: the density times h³.
      const T area(8 * spacing * spacing);
      const T springs = modes_energy(u, hold) + modes_energy(v, hold) + modes_energy(w, hold);
      energy += mul_add(stiffness * T(0.5), springs,
                        area * auxiliary_energy(trace, stiffness, lambda + lambda, rest));
      // (2 mu + lambda) h³ is 2 area (stiffness + lambda').
      const T upright = T(2 * input.inversion) * (stiffness + lambda);
      const T flat(input.flat);
      const bool resists = input.inversion > 0 && any(svd.sigma.z < flat);
      if (resists) energy += area * inversion_energy(svd.sigma, upright, flat);
      if constexpr (writes) {
        const Matrix3<T> r = rotation_matrix(polar_rotation(svd));
        const T turn = T(2 * spacing) * auxiliary_stress(trace, stiffness, lambda + lambda, rest);
        Matrix3<T> p = {turn * r.a00, turn * r.a01, turn * r.a02, turn * r.a10, turn * r.a11,
                        turn * r.a12, turn * r.a20, turn * r.a21, turn * r.a22};
        if (resists) add_inversion_stress(svd, T(2 * spacing) * upright, flat, p);
        const auto put = [&](CellModes<T> modes, size_t c) HWY_ATTR {
          if (stretched) stretch_row(a, modes);
          spread_modes(modes, out_low, out_high, c, lane);
        };
        put(stiff_modes(u, stiffness, hold, p.a00, p.a01, p.a02), 0);
        put(stiff_modes(v, stiffness, hold, p.a10, p.a11, p.a12), 1);
        put(stiff_modes(w, stiffness, hold, p.a20, p.a21, p.a22), 2);
      }
    }
  }

 private:
  // Number n of the material of the cells of a block.
  HWY_INLINE WideDouble material(size_t slot, size_t n, size_t at) const {
    return input.cells != nullptr
               ? cell_number<double>(input.cells + slot * cell_block, 10 + n, at)
               : array_number<double>(input.materials + slot * material_block, n, at);
  }

  // Adds a row of an offset of the deformation gradient to the modes that make it up.
  HWY_INLINE void add_offset(const float* row, size_t at, CellModes<WideDouble>& m) const {
    const WideDouble scale(4 * input.spacing);
    m.x = mul_add(scale, array_number<double>(row, 0, at), m.x);
    m.y = mul_add(scale, array_number<double>(row, 1, at), m.y);
    m.z = mul_add(scale, array_number<double>(row, 2, at), m.z);
  }

  // Sum over the modes of one component: squares times the number of axes.
  static HWY_INLINE WideDouble modes_energy(const CellModes<WideDouble>& m, WideDouble hold) {
    const WideDouble one = mul_add(m.x, m.x, mul_add(m.y, m.y, m.z * m.z));
    const WideDouble two = mul_add(m.xy, m.xy, mul_add(m.xz, m.xz, m.yz * m.yz));
    const WideDouble three = m.xyz * m.xyz;
    return mul_add(hold, mul_add(WideDouble(3.0), three, two + two), one);
  }
};

// Deformation gradients.
struct GradientVisitor {
  static constexpr bool reads = true;
  static constexpr bool in_turns = false;

  float* gradients;
  double spacing;
  size_t first_slot;
  const float* rest_stretches;

  HWY_INLINE void cells(size_t slot, size_t plane, const PlaneModes<double>& low,
                        const PlaneModes<double>& high, PlaneModes<double>&,
                        PlaneModes<double>&) const {
    using T = WideDouble;
    const T scale(1 / (4 * spacing));
    float* block = gradients + (slot - first_slot) * gradient_block + plane * plane_size;
    for (size_t lane = 0; lane < plane_size; lane += T::lanes)
      for (size_t c = 0; c < 3; ++c) {
        CellModes<T> u = cell_modes(low, high, c, lane);
        if (rest_stretches != nullptr)
          stretch_row(
              rest_stretch(rest_stretches + slot * stretch_block, plane * plane_size + lane), u);
        float* to = block + c * 3 * block_cells + lane;
        store_floats<double>(u.x * scale, to);
        store_floats<double>(u.y * scale, to + block_cells);
        store_floats<double>(u.z * scale, to + 2 * block_cells);
      }
  }
};

void apply_floats(const SweepPlan& plan, size_t tile, const float* cells, float hourglass,
                  const float* x, SweepOutput<float> out) {
  ApplyVisitor<float> visitor{cells, hourglass};
  sweep_tile<true>(plan, tile, x, out, visitor);
}

void apply_whole_floats(const SweepPlan& plan, size_t tile, const float* cells, float hourglass,
                        const float* x, SweepOutput<float> out) {
  ApplyVisitor<float, true> visitor{cells, hourglass};
  sweep_tile<true, true>(plan, tile, x, out, visitor);
}

void apply_doubles(const SweepPlan& plan, size_t tile, const float* cells, float hourglass,
                   const double* x, SweepOutput<double> out) {
  ApplyVisitor<double> visitor{cells, static_cast<double>(hourglass)};
  sweep_tile<true>(plan, tile, x, out, visitor);
}

void apply_whole_doubles(const SweepPlan& plan, size_t tile, const float* cells, float hourglass,
                         const double* x, SweepOutput<double> out) {
  ApplyVisitor<double, true> visitor{cells, static_cast<double>(hourglass)};
  sweep_tile<true, true>(plan, tile, x, out, visitor);
}

void diagonal_floats(const SweepPlan& plan, size_t tile, const float* cells, float hourglass,
                     SweepOutput<float> out) {
  DiagonalVisitor visitor{cells, hourglass};
  sweep_tile<true, false, float>(plan, tile, nullptr, out, visitor);
}

double force_doubles(const SweepPlan& plan, size_t tile, const ForceInput& input, const double* x,
                     SweepOutput<double> out) {
  const auto sum = [](WideDouble energy) {
    alignas(64) double lanes[WideDouble::lanes];
    store(energy, lanes);
    double total = 0;
    for (const double e : lanes) total += e;
    return total;
  };
  if (out.sums == nullptr) {
    ForceVisitor<false> visitor{input};
    sweep_tile<false>(plan, tile, x, out, visitor);
    return sum(visitor.energy);
  }
  ForceVisitor<true> visitor{input};
  sweep_tile<true>(plan, tile, x, out, visitor);
  return sum(visitor.energy);
}

void gradient_doubles(const SweepPlan& plan, const TileRow* row, double spacing, const double* x,
                      const float* rest_stretches, float* gradients) {
  if (row[0].column == row[1].column) return;
  const int32_t first = plan.cell_slots[plan.columns[row->column].block];
  GradientVisitor visitor{gradients, spacing, static_cast<size_t>(first), rest_stretches};
  sweep_row(plan, row, x, visitor);
}

void linearise_floats(const DecomposedBlock& decomposed, const DifferentialRule<float>& rule,
                      const float* rest_traces, float inversion, float flat, float* cells) {
  using T = WideFloat;
  for (size_t at = 0; at < block_cells; at += T::lanes) {
    const auto part = [&](size_t n) { return load(decomposed.of[n] + at); };
    Svd3<T> svd;
    svd.u = {part(0), part(1), part(2), part(3)};
    svd.v = {part(4), part(5), part(6), part(7)};
    svd.sigma = {part(8), part(9), part(10)};
    // mu h / 16 is half the stiffness.
    const T mu = cell_number<float>(cells, 10, at) * T(0.5f);
    const T lambda = cell_number<float>(cells, 11, at);
    const T rest = rest_traces == nullptr ? T(3.0f) : load(rest_traces + at);
    const Symmetric3<T> l =
        turned_diagonal(svd.v, turning_stiffness(svd.sigma, mu, lambda, rule, rest));
    const Quaternion<T> r = polar_rotation(svd);
    const auto put = [&](size_t n, T value) { store(value, cells + cell_index(n, at)); };
    // The curvature of the energy of inversion, spread over all directions. Its bound would be
    // three times as much, which takes more iterations than this.
    if (inversion > 0) {
      const T stiffness = cell_number<float>(cells, 10, at);
      const T raised = mul_add(T(0.3f * inversion), stiffness + lambda, stiffness);
      put(10, select(svd.sigma.z < T(flat), raised, stiffness));
    }
    const T length(std::numbers::sqrt2_v<float>);
    put(0, length * r.x);
    put(1, length * r.y);
    put(2, length * r.z);
    put(3, length * r.w);
    put(4, l.xx);
    put(5, l.yy);
    put(6, l.zz);
    put(7, l.yz);
    put(8, l.xz);
    put(9, l.xy);
  }
}

SUPPLE_KERNELS_END

#if SUPPLE_KERNELS_ONCE
namespace supple {
namespace {
SUPPLE_KERNEL(apply_floats);
SUPPLE_KERNEL(apply_whole_floats);
SUPPLE_KERNEL(apply_doubles);
SUPPLE_KERNEL(apply_whole_doubles);
SUPPLE_KERNEL(diagonal_floats);
SUPPLE_KERNEL(force_doubles);
SUPPLE_KERNEL(gradient_doubles);
SUPPLE_KERNEL(linearise_floats);
}  // namespace

void apply_tile(const SweepPlan& plan, size_t tile, const float* cells, float hourglass,
                const float* x, SweepOutput<float> out) {
  if (out.whole == nullptr)
    SUPPLE_DISPATCH(apply_floats)(plan, tile, cells, hourglass, x, out);
  else
    SUPPLE_DISPATCH(apply_whole_floats)(plan, tile, cells, hourglass, x, out);
}

void apply_tile(const SweepPlan& plan, size_t tile, const float* cells, float hourglass,
                const double* x, SweepOutput<double> out) {
  if (out.whole == nullptr)
    SUPPLE_DISPATCH(apply_doubles)(plan, tile, cells, hourglass, x, out);
  else
    SUPPLE_DISPATCH(apply_whole_doubles)(plan, tile, cells, hourglass, x, out);
}

void diagonal_tile(const SweepPlan& plan, size_t tile, const float* cells, float hourglass,
                   SweepOutput<float> out) {
  SUPPLE_DISPATCH(diagonal_floats)(plan, tile, cells, hourglass, out);
}

double force_tile(const SweepPlan& plan, size_t tile, const ForceInput& input, const double* x,
                  SweepOutput<double> out) {
  return SUPPLE_DISPATCH(force_doubles)(plan, tile, input, x, out);
}

void gradient_row(const SweepPlan& plan, const TileRow* row, double spacing, const double* x,
                  const float* rest_stretches, float* gradients) {
  SUPPLE_DISPATCH(gradient_doubles)(plan, row, spacing, x, rest_stretches, gradients);
}

void linearise_block(const float* gradients, const DifferentialRule<float>& rule,
                     const float* rest_traces, float inversion, float flat, float* cells) {
  // In one batch, which takes several registers of cells in turns.
  DecomposedBlock decomposed;
  const auto in = [&](size_t n) {
    return std::span<const float>(gradients + n * block_cells, block_cells);
  };
  const auto out = [&](size_t n) { return std::span<float>(decomposed.of[n], block_cells); };
  svd3_batch({{in(0), in(1), in(2), in(3), in(4), in(5), in(6), in(7), in(8)}},
             {{out(0), out(1), out(2), out(3)},
              {out(4), out(5), out(6), out(7)},
              {out(8), out(9), out(10)}});
  SUPPLE_DISPATCH(linearise_floats)(decomposed, rule, rest_traces, inversion, flat, cells);
}

}  // namespace supple
#endif
