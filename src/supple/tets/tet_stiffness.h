// The stiffness of a body of tetrahedra as a matrix: blocks of 3 x 3 between nodes that share an
// element, in a pattern that never changes. Elements are linearised side by side on all threads,
// then every block adds up its own in a fixed order.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "supple/tets/tet_elements.h"
#include "supple/tets/tet_vector.h"

namespace supple {

/// A sparse matrix of blocks; both triangles are stored.
struct BlockMatrix {
  std::vector<uint32_t> offsets;  ///< first block of every row, and the total
  std::vector<int32_t> columns;   ///< ascending in every row
  std::vector<Mat3d> values;

  /// Number of rows of blocks.
  size_t rows() const { return offsets.size() - 1; }

  /// y = A x, on all threads; returns x · y.
  double multiply(const TetVector& x, TetVector& y) const;

  /// Where the block of a row and column is; it must be there.
  size_t find(size_t row, int32_t column) const;
};

/// Linearised elements of a mesh.
class TetStiffness {
 public:
  /// For a mesh at rest and what it is made of, which TetElements has found possible.
  TetStiffness(const TetMesh& mesh, const TetMatter& matter);

  /// A matrix of zeros with the mesh's pattern.
  BlockMatrix empty_matrix() const;

  /// Linearises all elements at positions x (m), exactly or made positive semi-definite.
  void linearise(const TetVector& x, bool projected);

  /// Sets `to` to the sum of all elements' matrices (N/m), each times `scale` and its own one of
  /// `scales`, if there are any.
  void add_up(double scale, std::span<const double> scales, BlockMatrix& to) const;

 private:
  struct Element {
    Vec4i nodes;
    std::array<Vec3d, 4> gradients;
    double volume;
    Elastic<double> material;
    uint32_t number;  // in the mesh
  };
  struct Entry {
    uint32_t element;
    uint8_t row, column;
  };
  Law m_law;
  std::vector<Element> m_elements;  // those with matter
  std::vector<Eigen::Matrix<double, 12, 12>> m_matrices;
  BlockMatrix m_pattern;
  std::vector<uint32_t> m_entry_offsets;  // of the blocks
  std::vector<Entry> m_entries;
};

}  // namespace supple
