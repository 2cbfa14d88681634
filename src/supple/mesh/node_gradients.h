// Deformation gradients at the nodes of a mesh: the mean of those of the elements around a node,
// weighted by volume. They are linear in the nodes' positions, so that the same sums give their
// derivatives in time from velocities and accelerations.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "supple/mesh/gradient_kernels.h"
#include "supple/mesh/tet_mesh.h"

namespace supple {

/// What one element adds: its nodes, the gradients of their weights (1/m), and its volume (m³).
struct ElementGradient {
  std::span<const int32_t> nodes;
  std::span<const Vec3d> gradients;
  double volume = 0;
};

/// Sparse sums that give the deformation gradient at every node.
class NodeGradients {
 public:
  NodeGradients() = default;

  /// From all elements of a mesh of `nodes` nodes.
  NodeGradients(size_t nodes, std::span<const ElementGradient> elements);

  /// Of a mesh of tetrahedra at rest, whose elements have these volumes of matter.
  NodeGradients(const TetMesh& mesh, std::span<const double> volumes);

  /// The same for some of the nodes; there are none at the others.
  NodeGradients of_some(std::span<const char> wanted) const;

  /// Number of nodes.
  size_t size() const { return m_offsets.empty() ? 0 : m_offsets.size() - 1; }

  /// Σ x_j g_jᵀ at a node; `x` has three numbers per node. 0 for nodes without elements.
  Mat3d at(size_t node, const double* x) const;

  /// The same for three such fields at once and nodes `begin` to `end`; gradient_kernels.h says how
  /// numbers lie in `fields` and `out`.
  void of_three(const double* const* fields, size_t begin, size_t end, size_t stride,
                double* out) const {
    sum_gradients({m_offsets.data(), m_nodes.data(), m_gradients.data()->data()}, fields, begin,
                  end, stride, out);
  }

  /// Whether any element reaches a node.
  bool reaches(size_t node) const { return m_offsets[node + 1] > m_offsets[node]; }

 private:
  std::vector<uint32_t> m_offsets;
  std::vector<int32_t> m_nodes;
  std::vector<std::array<double, 4>> m_gradients;  // three numbers, and 0
};

/// The gradients of the four corners' weights in a tetrahedron at rest, 1/m.
std::array<Vec3d, 4> corner_gradients(const TetMesh& mesh, const Vec4i& tet);

}  // namespace supple
