// What contact adds to the energy of a body of tetrahedra: quadratic penalties for points that are
// behind a plane, and springs along it for friction. A point may touch a rigid thing, whose plane
// stands still, or the body itself, whose plane goes along with a place of its skin.
//
// With d = Σ w x over the nodes of both sides and n the way out, the gap is g = n · d - offset. A
// gap below 0 has the energy k g²/2, which goes on linearly from a depth `cap` on, so that forces
// have a bound; d pulled along the plane to an anchor has a/2 |(I - n nᵀ)(d - anchor)|². Planes,
// anchors and a are kept as they were found: stiffness is semi-definite.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "supple/math/types.h"
#include "supple/tets/tet_vector.h"

namespace supple {

/// A sum of nodes with weights: a point of the skin, less what it touches.
struct NodeSum {
  static constexpr int most = 24;
  std::array<int32_t, most> nodes{};
  std::array<double, most> weights{};
  int count = 0;

  /// Adds a node, once; there is room for two points inside triangles of the skin.
  void add(int32_t node, double weight);

  /// Its value for a vector of the nodes.
  Vec3d of(const TetVector& x) const;
};

/// A point that touches something.
struct ContactTerm {
  NodeSum sum;
  Vec3d normal = Vec3d::UnitZ();  ///< out of what is touched, of unit length
  double offset = 0;              ///< of the plane, m
  double stiffness = 0;           ///< k, N/m
  double along = 0;               ///< of friction, N/m
  Vec3d anchor = Vec3d::Zero();   ///< that friction pulls to, m

  /// How far the point is before the plane, m; negative behind it.
  double gap(const TetVector& x) const { return normal.dot(sum.of(x)) - offset; }
};

/// All contacts of a body at one time.
class ContactTerms {
 public:
  std::vector<ContactTerm> terms;
  double cap = 1;  ///< depth from which forces grow no further, m

  /// The force (N, at least 0) that pushes a term's point out at a gap (m).
  double push(const ContactTerm& term, double gap) const;

  /// Their energy at x, in joules.
  double energy(const TetVector& x) const;

  /// Adds their forces (N) at x; returns the energy.
  double add_forces(const TetVector& x, TetVector& force) const;

  /// Finds their stiffness at x: the derivative of forces, and deeper than `cap` force over depth.
  void linearise(const TetVector& x);

  /// y += K dx of what was linearised last.
  void add_product(const TetVector& dx, TetVector& y) const;

  /// Adds the blocks of K's diagonal.
  void add_diagonal(std::span<Mat3d> blocks) const;

 private:
  std::vector<double> m_across;  // stiffness along the normals, N/m
};

}  // namespace supple
