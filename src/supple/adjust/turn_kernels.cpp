#include "supple/adjust/turn_kernels.h"

#define SUPPLE_KERNEL_FILE "supple/adjust/turn_kernels.cpp"
#include "supple/math/for_each_target.h"

#include "supple/math/small.h"

SUPPLE_KERNELS_BEGIN

using Lanes = WideDouble;
using Matrix = Matrix3<Lanes>;
using Vector = Vector3<Lanes>;

HWY_INLINE Matrix load_rows(const double (*rows)[turn_row], size_t at) {
  return {load(rows[0] + at), load(rows[1] + at), load(rows[2] + at),
          load(rows[3] + at), load(rows[4] + at), load(rows[5] + at),
          load(rows[6] + at), load(rows[7] + at), load(rows[8] + at)};
}

HWY_INLINE void store_rows(const Vector& v, double (*rows)[turn_row], size_t at) {
  store(v.x, rows[0] + at);
  store(v.y, rows[1] + at);
  store(v.z, rows[2] + at);
}

HWY_INLINE Matrix transposed(const Matrix& m) {
  return {m.a00, m.a10, m.a20, m.a01, m.a11, m.a21, m.a02, m.a12, m.a22};
}

// a + s b.
HWY_INLINE Matrix plus(const Matrix& a, Lanes s, const Matrix& b) {
  return {mul_add(s, b.a00, a.a00), mul_add(s, b.a01, a.a01), mul_add(s, b.a02, a.a02),
          mul_add(s, b.a10, a.a10), mul_add(s, b.a11, a.a11), mul_add(s, b.a12, a.a12),
          mul_add(s, b.a20, a.a20), mul_add(s, b.a21, a.a21), mul_add(s, b.a22, a.a22)};
}

HWY_INLINE Matrix scaled(Lanes s, const Matrix& m) {
  return {s * m.a00, s * m.a01, s * m.a02, s * m.a10, s * m.a11,
          s * m.a12, s * m.a20, s * m.a21, s * m.a22};
}

HWY_INLINE Lanes squares(const Matrix& m) {
  return mul_add(m.a00, m.a00, mul_add(m.a01, m.a01, m.a02 * m.a02)) +
         mul_add(m.a10, m.a10, mul_add(m.a11, m.a11, m.a12 * m.a12)) +
         mul_add(m.a20, m.a20, mul_add(m.a21, m.a21, m.a22 * m.a22));
}

// The rotation of a gradient [Higham 1986]; `sound` is where it converges.
HWY_INLINE Matrix rotation_of(const Matrix& f, Mask<double>& sound) {
  Matrix r = f;
  Mask<double> done = Lanes(0.0) > Lanes(1.0);
  sound = Lanes(1.0) > Lanes(0.0);
  for (int i = 0; i < 12; ++i) {
    const Matrix cofactor = cofactors(r);
    const Lanes volume = determinant(r, cofactor);
    sound = sound & (done | (volume > Lanes(0.02)));
    const Matrix next = plus(scaled(Lanes(0.5), r), Lanes(0.5) / volume, cofactor);
    const Lanes change = squares(plus(next, Lanes(-1.0), r));
    // Lanes that are done stay as they are, whatever the others need.
    const auto keep = [&](Lanes before, Lanes after)
                          HWY_ATTR { return select(done, before, after); };
    r = {keep(r.a00, next.a00), keep(r.a01, next.a01), keep(r.a02, next.a02),
         keep(r.a10, next.a10), keep(r.a11, next.a11), keep(r.a12, next.a12),
         keep(r.a20, next.a20), keep(r.a21, next.a21), keep(r.a22, next.a22)};
    done = done | (change < Lanes(1e-13));
    if (all(done | !sound)) break;
  }
  sound = sound & done;
  return r;
}

// tr(S) 1 - S of the symmetric part.
HWY_INLINE Matrix of_sums(const Matrix& s) {
  const Lanes half(-0.5), xy = half * (s.a01 + s.a10), xz = half * (s.a02 + s.a20),
                          yz = half * (s.a12 + s.a21);
  return {s.a11 + s.a22, xy, xz, xy, s.a00 + s.a22, yz, xz, yz, s.a00 + s.a11};
}

HWY_INLINE Vector twice_axial(const Matrix& a) {
  return {a.a21 - a.a12, a.a02 - a.a20, a.a10 - a.a01};
}

HWY_INLINE Matrix crossing(const Vector& w) {
  const Lanes zero(0.0);
  return {zero, -w.z, w.y, w.z, zero, -w.x, -w.y, w.x, zero};
}

// As in node_turn.cpp, which says why.
void turn_kernel(GradientBlock& gradients, FrameBlock& block, size_t count) {
  for (size_t at = 0; at < count; at += Lanes::lanes) {
    const Matrix f = load_rows(gradients.rows, at), df = load_rows(gradients.rows + 9, at),
                 ddf = load_rows(gradients.rows + 18, at);
    Mask<double> sound = Lanes(0.0) > Lanes(1.0);
    const Matrix r = rotation_of(f, sound), back = transposed(r);
    const Matrix s = product(back, f), g = of_sums(s), cofactor = cofactors(g);
    const Lanes volume = determinant(g, cofactor), size = (g.a00 + g.a11 + g.a22) * Lanes(1.0 / 3),
                flattest(0.05);
    sound = sound & (volume > flattest * size * size) & (size > flattest);
    const Matrix inverse = scaled(Lanes(1.0) / volume, cofactor);  // it is symmetric
    const Matrix a = product(back, df);
    const Vector omega = times(inverse, twice_axial(a));
    const Matrix spin = crossing(omega), ds = plus(a, Lanes(-1.0), product(spin, s));
    const Matrix da = plus(product(back, ddf), Lanes(-1.0), product(spin, a));
    const Vector change = times(inverse, twice_axial(da) - times(of_sums(ds), omega));
    store_rows(times(r, omega), block.rates, at);
    store_rows(times(r, change), block.changes, at);
    store(select(sound, Lanes(1.0), Lanes(0.0)), gradients.sound + at);
  }
}

template <class T>
HWY_INLINE Vector3<T> scaled(T s, const Vector3<T>& v) {
  return {s * v.x, s * v.y, s * v.z};
}

HWY_INLINE Vector load_row(const double (*rows)[turn_row], size_t at, Vector /*like*/) {
  return {load(rows[0] + at), load(rows[1] + at), load(rows[2] + at)};
}
HWY_INLINE Vector3<double> load_row(const double (*rows)[turn_row], size_t at,
                                    Vector3<double> /*like*/) {
  return {rows[0][at], rows[1][at], rows[2][at]};
}
HWY_INLINE void load_node(const double* from, Vector& to) { load_points(from, to.x, to.y, to.z); }
HWY_INLINE void load_node(const double* from, Vector3<double>& to) {
  to = {from[0], from[1], from[2]};
}
HWY_INLINE void store_node(const Vector& v, double* to) { store_points(v.x, v.y, v.z, to); }
HWY_INLINE void store_node(const Vector3<double>& v, double* to) {
  to[0] = v.x;
  to[1] = v.y;
  to[2] = v.z;
}
HWY_INLINE void load_number(const double* from, Lanes& to) { to = load(from); }
HWY_INLINE void load_number(const double* from, double& to) { to = *from; }

// With ω of the frame: R̈ Rᵀ = [ω̇]× + [ω]×², Ṙ Ṙᵀ = -[ω]×², Ṙ Rᵀ = [ω]×. T is one node or one per
// lane.
template <class T>
HWY_INLINE bool scale_nodes(const FrameBlock& frames, size_t at, size_t node,
                            const StageNodes& nodes) {
  using V = Vector3<T>;
  V x, still, outer, before, p, v, a;
  load_node(nodes.p + 3 * node, p);
  load_node(nodes.v + 3 * node, v);
  load_node(nodes.a + 3 * node, a);
  load_node(nodes.x + 3 * node, x);
  load_node(nodes.still + 3 * node, still);
  load_node(nodes.outer + 3 * node, outer);
  load_node(nodes.before + 3 * node, before);
  T force, damping, mass;
  load_number(frames.force + at, force);
  load_number(frames.damping + at, damping);
  load_number(frames.masses + at, mass);
  const V w = load_row(frames.rates, at, V()), away = x - p, swept = cross(w, away);
  const V fast = scaled(T(nodes.rate), x - still) - v;
  const V acceleration = a + cross(load_row(frames.changes, at, V()), away) - cross(w, swept) +
                         scaled(T(2.0), cross(w, fast));
  const V sum = outer + scaled(force, acceleration), change = sum - before;
  store_node(sum, nodes.forces + 3 * node);
  store_node(scaled(damping, v + swept), nodes.reference + 3 * node);
  const T limit = T(nodes.counts) * mass;
  return any(dot(change, change) > limit * limit);
}

bool scale_kernel(const FrameBlock& frames, size_t first, size_t count, const StageNodes& nodes) {
  bool changed = false;
  size_t at = 0;
  for (; at + Lanes::lanes <= count; at += Lanes::lanes)
    changed |= scale_nodes<Lanes>(frames, at, first + at, nodes);
  for (; at < count; ++at) changed |= scale_nodes<double>(frames, at, first + at, nodes);
  return changed;
}

SUPPLE_KERNELS_END

#if SUPPLE_KERNELS_ONCE
namespace supple {

SUPPLE_KERNEL(turn_kernel);
SUPPLE_KERNEL(scale_kernel);

void find_turns(GradientBlock& gradients, FrameBlock& frames, size_t count) {
  SUPPLE_DISPATCH(turn_kernel)(gradients, frames, count);
}

bool scale_forces(const FrameBlock& frames, size_t first, size_t count, const StageNodes& nodes) {
  return SUPPLE_DISPATCH(scale_kernel)(frames, first, count, nodes);
}

}  // namespace supple
#endif
