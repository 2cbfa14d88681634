// Solves with a Cholesky factor that lies in dense panels, compiled for every instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace supple {

/// Rows of a panel that lie side by side; a multiple of the lanes of any instruction set.
inline constexpr size_t panel_tile = 16;

/// Consecutive columns of a factor L that have the same rows below them. With J the columns and R
/// the rows below, the panel is B = [L_JJ⁻¹; L_RJ L_JJ⁻¹].
struct Panel {
  uint32_t first = 0, width = 0, below = 0;  ///< columns from, number of columns, of rows below
  uint32_t tiles = 0;                        ///< of all its rows, filled up with zeros
  size_t rows = 0, values = 0;               ///< where those begin
};

/// A factor: panels by columns, and for each its rows below and its values, tile after tile, in
/// every tile column after column.
template <class Scalar>
struct PanelTables {
  const Panel* panels = nullptr;
  size_t count = 0;
  const int32_t* rows = nullptr;
  const Scalar* values = nullptr;
};

/// x = (L Lᵀ)⁻¹ x. `part` has room for all rows of any panel.
void solve_panels(const PanelTables<float>& tables, float* x, float* part);
void solve_panels(const PanelTables<double>& tables, double* x, double* part);

}  // namespace supple
