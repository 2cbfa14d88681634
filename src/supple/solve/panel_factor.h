// A sparse Cholesky factor that is applied often: it is made by Eigen, then its columns are put
// together to dense panels (supernodes), which are multiplied in wide lanes. In single precision it
// is a preconditioner. Solves run on one thread: the factors of bodies of some thousand elements
// fit into a core's cache.
#pragma once

#include <Eigen/SparseCore>

#include <span>
#include <vector>

#include "supple/solve/panel_kernels.h"

namespace supple {

/// The factor of a symmetric positive definite matrix.
template <class Scalar>
class PanelFactor {
 public:
  /// Of a matrix, of which the lower triangle counts.
  explicit PanelFactor(const Eigen::SparseMatrix<double>& matrix);

  /// Whether the matrix was positive definite.
  bool sound() const { return m_sound; }

  /// Number of unknowns.
  size_t size() const { return m_place.size(); }

  /// Where an unknown is in the vectors that solve() takes.
  std::span<const int32_t> places() const { return m_place; }

  /// Solves with the vector that work() holds, in place.
  void solve() { solve_panels(tables(), m_x.data(), m_part.data()); }
  std::span<Scalar> work() { return m_x; }

  /// Memory it uses.
  size_t bytes() const;

 private:
  PanelTables<Scalar> tables() const {
    return {m_panels.data(), m_panels.size(), m_rows.data(), m_values.data()};
  }
  void add_panel(const Eigen::SparseMatrix<double>& factor, uint32_t first, uint32_t width);

  bool m_sound = false;
  std::vector<int32_t> m_place;
  std::vector<Panel> m_panels;
  std::vector<int32_t> m_rows;
  std::vector<Scalar> m_values, m_x, m_part;
};

extern template class PanelFactor<float>;
extern template class PanelFactor<double>;

}  // namespace supple
