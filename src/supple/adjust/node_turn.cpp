#include "supple/adjust/node_turn.h"

#include <Eigen/LU>

#include <cmath>

#include "supple/math/polar.h"

namespace supple {
namespace {

// Sums of two stretches below this leave the rotation undecided.
constexpr double flattest = 0.05;

// The vector w with [w]× = A - Aᵀ.
Vec3d twice_axial(const Mat3d& a) {
  return {a(2, 1) - a(1, 2), a(0, 2) - a(2, 0), a(1, 0) - a(0, 1)};
}

Mat3d crossing(const Vec3d& w) {
  Mat3d m;
  m << 0, -w.z(), w.y(), w.z(), 0, -w.x(), -w.y(), w.x(), 0;
  return m;
}

Mat3d of_sums(const Mat3d& s) { return s.trace() * Mat3d::Identity() - s; }

}  // namespace

// F = R S, A = Rᵀ dF and Ω = Rᵀ dR. A - Aᵀ = Ω S + S Ω is the cross product with G ω, where
// G = tr(S) 1 - S; its derivative gives dω.
NodeTurn node_turn(const Mat3d& f, const Mat3d& df, const Mat3d& ddf) {
  NodeTurn turn;
  if (!f.allFinite()) return turn;
  turn.rotation = rotation_of_matter(f);
  const Mat3d r = turn.rotation, s = r.transpose() * f, g = of_sums((s + s.transpose()) / 2);
  // Eigenvalues of G are sums of two stretches.
  const double determinant = g.determinant(), size = g.trace() / 3;
  if (!(determinant > flattest * size * size) || !(size > flattest)) return turn;
  const Mat3d inverse = g.inverse();
  const Mat3d a = r.transpose() * df;
  const Vec3d omega = inverse * twice_axial(a);
  const Mat3d spin = crossing(omega), ds = a - spin * s;
  const Mat3d da = r.transpose() * ddf - spin * a;
  const Vec3d change = inverse * (twice_axial(da) - of_sums((ds + ds.transpose()) / 2) * omega);
  if (!omega.allFinite() || !change.allFinite()) return turn;
  turn.rate = r * omega;
  turn.change = r * change;
  return turn;
}

}  // namespace supple
