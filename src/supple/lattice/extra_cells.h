// What some cells have besides elasticity: springs at points inside them, and whole element
// matrices that stand for their elasticity, on coarse levels or with eight-point quadrature.
// Visited tile by tile in eight colours of tiles, none of which shares nodes with another of its
// colour.
#pragma once

#include <Eigen/Core>

#include <functional>

#include "supple/lattice/block_vector.h"

namespace supple {

using CellMatrix = Eigen::Matrix<float, 24, 24>;  ///< corner by corner (x fastest), x y z each

/// A spring at a point of a cell: force = -stiffness · displacement of the point.
struct CellSpring {
  LatticePlace cell;
  std::array<float, 8> weights = {};    ///< trilinear, of the cell's corners
  std::array<float, 6> stiffness = {};  ///< xx yy zz yz xz xy, in newtons per metre
};

/// A cell with a matrix of its own.
struct MatrixCell {
  LatticePlace cell;
  CellMatrix matrix;
};

/// Trilinear weights of a cell's corners at a point given from 0 to 1 along each axis.
std::array<float, 8> trilinear_weights(const Vec3d& at);

/// A point of a lattice: its cell (block -1 where there is none) and the weights of the corners.
struct PointInCell {
  LatticePlace cell;
  std::array<float, 8> weights = {};
};

/// Finds a point given in cells from node 0 0 0; on the upper side of the last cell it belongs to
/// that cell.
PointInCell find_point(const SparseLattice& lattice, const Vec3d& at);

/// The springs and matrix cells of one lattice.
class ExtraCells {
 public:
  std::vector<CellSpring> springs;
  std::vector<MatrixCell> matrices;

  /// Sorts the entries and plans their order; to be called after they change.
  void plan(const SparseLattice& lattice);

  bool empty() const { return springs.empty() && matrices.empty(); }

  /// y += (springs and matrices) x.
  template <class Scalar>
  void add_product(const SparseLattice& lattice, const Scalar* x, Scalar* y) const;

  /// y += diagonal of springs and matrices.
  void add_diagonal(const SparseLattice& lattice, float* y) const;

  /// The sum of visit(matrix cell), in an order that does not depend on the number of threads;
  /// cells visited at the same time share no nodes.
  template <class Visit>
  double sum_over_matrices(const Visit& visit) const {
    double total = 0;
    for (const std::vector<Range>& colour : m_colours)
      total += parallel_reduce(
          colour.size(), 1, 0.0,
          [&](size_t r, size_t) {
            double sum = 0;
            for (uint32_t m = colour[r].matrices_begin; m < colour[r].matrices_end; ++m)
              sum += visit(matrices[m]);
            return sum;
          },
          [](double a, double b) { return a + b; });
    return total;
  }

 private:
  struct Range {
    uint32_t springs_begin = 0, springs_end = 0, matrices_begin = 0, matrices_end = 0;
  };
  template <class Visit>
  void for_colours(const Visit& visit) const;

  std::array<std::vector<Range>, 8> m_colours;
};

}  // namespace supple
