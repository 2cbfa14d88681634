// Vectors of three numbers per node of a tetrahedral body, in double precision.
#pragma once

#include <Eigen/Core>

namespace supple {

/// Three numbers per node. Sums run on one thread: bodies solved implicitly have some thousand
/// nodes.
class TetVector : public Eigen::VectorXd {
 public:
  using Eigen::VectorXd::VectorXd;
  using Eigen::VectorXd::operator=;

  /// Makes all numbers 0.
  void set_zero() { setZero(); }

  /// Three numbers of a node.
  auto node(size_t n) { return segment<3>(static_cast<Eigen::Index>(3 * n)); }
  auto node(size_t n) const { return segment<3>(static_cast<Eigen::Index>(3 * n)); }
};

/// a · b.
inline double dot(const TetVector& a, const TetVector& b) { return a.matrix().dot(b.matrix()); }

/// b += scale a.
inline void add_scaled(double scale, const TetVector& a, TetVector& b) { b += scale * a; }

/// b += scale a; returns b · b.
inline double add_scaled_norm(double scale, const TetVector& a, TetVector& b) {
  b += scale * a;
  return b.squaredNorm();
}

/// b = a + scale b.
inline void scale_add(const TetVector& a, double scale, TetVector& b) { b = a + scale * b; }

}  // namespace supple
