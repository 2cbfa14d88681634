// Vectors of three numbers per node of a body, in double precision.
#pragma once

#include <Eigen/Core>

namespace supple {

/// Three numbers per node. Sums run on one thread: bodies solved so have some ten thousand nodes at
/// most.
class BodyVector : public Eigen::VectorXd {
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
inline double dot(const BodyVector& a, const BodyVector& b) { return a.matrix().dot(b.matrix()); }

/// b += scale a.
inline void add_scaled(double scale, const BodyVector& a, BodyVector& b) { b += scale * a; }

/// b += scale a; returns b · b.
inline double add_scaled_norm(double scale, const BodyVector& a, BodyVector& b) {
  b += scale * a;
  return b.squaredNorm();
}

/// b = a + scale b.
inline void scale_add(const BodyVector& a, double scale, BodyVector& b) { b = a + scale * b; }

}  // namespace supple
