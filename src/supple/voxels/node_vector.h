// Vectors of three numbers per node, with what conjugate gradients ask of them. Sums run over
// blocks of a fixed size in a fixed order.
#pragma once

#include <Eigen/Core>

#include <span>
#include <vector>

#include "supple/core/parallel.h"

namespace supple {

/// Three floats per node.
class NodeVector {
 public:
  NodeVector() = default;
  /// Zeros for `nodes` nodes.
  explicit NodeVector(size_t nodes) : m_values(3 * nodes, 0.0f) {}

  /// Number of floats.
  size_t size() const { return m_values.size(); }
  float* data() { return m_values.data(); }
  const float* data() const { return m_values.data(); }
  float& operator[](size_t i) { return m_values[i]; }
  float operator[](size_t i) const { return m_values[i]; }
  std::span<float> span() { return m_values; }
  std::span<const float> span() const { return m_values; }

  /// Makes all numbers 0.
  void set_zero() { std::fill(m_values.begin(), m_values.end(), 0.0f); }

  /// The numbers [begin, end) as an Eigen vector.
  auto part(size_t begin, size_t end) {
    return Eigen::Map<Eigen::VectorXf>(data() + begin, static_cast<Eigen::Index>(end - begin));
  }
  auto part(size_t begin, size_t end) const {
    return Eigen::Map<const Eigen::VectorXf>(data() + begin,
                                             static_cast<Eigen::Index>(end - begin));
  }

 private:
  std::vector<float> m_values;
};

inline constexpr size_t node_vector_block = 8192;  ///< numbers worked on at a time

/// a · b.
inline double dot(const NodeVector& a, const NodeVector& b) {
  return parallel_reduce(
      a.size(), node_vector_block, 0.0,
      [&](size_t begin, size_t end) {
        return static_cast<double>(a.part(begin, end).dot(b.part(begin, end)));
      },
      std::plus<>());
}

/// b += scale a.
inline void add_scaled(float scale, const NodeVector& a, NodeVector& b) {
  parallel_for(a.size(), node_vector_block,
               [&](size_t begin, size_t end) { b.part(begin, end) += scale * a.part(begin, end); });
}

/// b += scale a; returns b · b.
inline double add_scaled_norm(float scale, const NodeVector& a, NodeVector& b) {
  add_scaled(scale, a, b);
  return dot(b, b);
}

/// b = a + scale b.
inline void scale_add(const NodeVector& a, float scale, NodeVector& b) {
  parallel_for(a.size(), node_vector_block, [&](size_t begin, size_t end) {
    b.part(begin, end) = a.part(begin, end) + scale * b.part(begin, end);
  });
}

}  // namespace supple
