#include "supple/solve/panel_factor.h"

#include <Eigen/Dense>
#include <Eigen/SparseCholesky>

#include <algorithm>

namespace supple {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

// Panels are no wider than this, as half of their upper squares are zeros.
constexpr uint32_t widest = 64;

// Zeros that a panel may hold for being one: a part of its values, or so many.
constexpr double most_zeros = 0.2;
constexpr uint32_t few_zeros = 128;

uint32_t rows_of(const Sparse& factor, uint32_t column) {
  const int32_t* offsets = factor.outerIndexPtr();
  return static_cast<uint32_t>(offsets[column + 1] - offsets[column]);
}

// The first row below a column's diagonal, or -1: the column that it is eliminated into.
int32_t parent_of(const Sparse& factor, uint32_t column) {
  return rows_of(factor, column) < 2
             ? -1
             : factor.innerIndexPtr()[static_cast<size_t>(factor.outerIndexPtr()[column]) + 1];
}

// How many columns from `first` on make up a panel. A column that is the parent of the one before
// has all its rows.
uint32_t width_of_panel(const Sparse& factor, uint32_t first) {
  const auto columns = static_cast<uint32_t>(factor.cols());
  uint32_t width = 1, zeros = 0;
  while (width < widest && first + width < columns) {
    const uint32_t next = first + width;
    if (parent_of(factor, next - 1) != static_cast<int32_t>(next)) break;
    const uint32_t rows = rows_of(factor, next);
    zeros += width * (rows + 1 - rows_of(factor, next - 1));
    const double values = static_cast<double>(width + 1) * (rows + width);
    if (zeros > few_zeros && zeros > most_zeros * values) break;
    ++width;
  }
  return width;
}

}  // namespace

template <class Scalar>
PanelFactor<Scalar>::PanelFactor(const Sparse& matrix) {
  const Eigen::SimplicialLLT<Sparse> made(matrix);
  m_sound = made.info() == Eigen::Success;
  if (!m_sound) return;
  const Sparse factor = made.matrixL();
  const auto columns = static_cast<uint32_t>(factor.cols());
  m_place.assign(made.permutationP().indices().begin(), made.permutationP().indices().end());
  for (uint32_t first = 0; first < columns; first += m_panels.back().width)
    add_panel(factor, first, width_of_panel(factor, first));
  m_x.assign(columns, 0);
}

template <class Scalar>
void PanelFactor<Scalar>::add_panel(const Sparse& factor, uint32_t first, uint32_t width) {
  const int32_t* offsets = factor.outerIndexPtr();
  const int32_t* inner = factor.innerIndexPtr();
  constexpr auto tile = static_cast<uint32_t>(panel_tile);
  const uint32_t last = first + width - 1, below = rows_of(factor, last) - 1;
  const Panel panel{first,         width,          below, (width + below + tile - 1) / tile,
                    m_rows.size(), m_values.size()};
  const int32_t* rows = inner + offsets[last] + 1;
  m_rows.insert(m_rows.end(), rows, rows + below);

  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(width + below, width);
  for (uint32_t c = 0; c < width; ++c)
    for (int32_t k = offsets[first + c]; k < offsets[first + c + 1]; ++k) {
      const auto row = static_cast<uint32_t>(inner[k]);
      const auto at = row <= last
                          ? row - first
                          : width + static_cast<uint32_t>(
                                        std::lower_bound(rows, rows + below, inner[k]) - rows);
      dense(at, c) = factor.valuePtr()[k];
    }
  const Eigen::MatrixXd square = dense.topRows(width);
  dense.topRows(width).setIdentity();
  square.triangularView<Eigen::Lower>().solveInPlace<Eigen::OnTheRight>(dense);

  m_values.resize(m_values.size() + panel.tiles * panel_tile * width, 0);
  for (uint32_t r = 0; r < width + below; ++r)
    for (uint32_t c = 0; c < width; ++c)
      m_values[panel.values + (r / panel_tile * width + c) * panel_tile + r % panel_tile] =
          static_cast<Scalar>(dense(r, c));
  m_part.resize(std::max(m_part.size(), panel.tiles * panel_tile));
  m_panels.push_back(panel);
}

template <class Scalar>
size_t PanelFactor<Scalar>::bytes() const {
  return sizeof(Scalar) * (m_values.size() + m_x.size() + m_part.size()) +
         sizeof(int32_t) * (m_rows.size() + m_place.size()) + sizeof(Panel) * m_panels.size();
}

template class PanelFactor<float>;
template class PanelFactor<double>;

}  // namespace supple
