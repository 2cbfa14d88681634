#include "supple/solve/panel_kernels.h"

#define SUPPLE_KERNEL_FILE "supple/solve/panel_kernels.cpp"
#include "supple/math/for_each_target.h"

#include "supple/math/wide.h"

SUPPLE_KERNELS_BEGIN

// Registers of a tile's rows.
template <class Scalar>
constexpr size_t tile_parts = panel_tile / Wide<Scalar>::lanes;

// out = B x of one panel. Even and odd columns have sums of their own, so that additions need not
// wait for each other.
template <class Scalar>
HWY_INLINE void multiply_panel(const Panel& panel, const Scalar* values, const Scalar* x,
                               Scalar* out) {
  using Lanes = Wide<Scalar>;
  constexpr size_t parts = tile_parts<Scalar>;
  for (size_t tile = 0; tile < panel.tiles; ++tile, out += panel_tile) {
    Lanes even[parts], odd[parts];
    for (size_t p = 0; p < parts; ++p) even[p] = odd[p] = Lanes(Scalar(0));
    size_t column = 0;
    for (; column + 1 < panel.width; column += 2, values += 2 * panel_tile) {
      const Lanes a(x[column]), b(x[column + 1]);
      for (size_t p = 0; p < parts; ++p) {
        even[p] = mul_add(load(values + p * Lanes::lanes), a, even[p]);
        odd[p] = mul_add(load(values + panel_tile + p * Lanes::lanes), b, odd[p]);
      }
    }
    if (column < panel.width) {
      const Lanes a(x[column]);
      for (size_t p = 0; p < parts; ++p)
        even[p] = mul_add(load(values + p * Lanes::lanes), a, even[p]);
      values += panel_tile;
    }
    for (size_t p = 0; p < parts; ++p) store(even[p] + odd[p], out + p * Lanes::lanes);
  }
}

// Columns `first` to `first + columns` of Bᵀ v.
template <size_t columns, class Scalar>
HWY_INLINE void dot_columns(const Panel& panel, const Scalar* values, size_t first, const Scalar* v,
                            Scalar* out) {
  using Lanes = Wide<Scalar>;
  Lanes sums[columns];
  for (size_t c = 0; c < columns; ++c) sums[c] = Lanes(Scalar(0));
  const size_t stride = panel.width * panel_tile;
  const Scalar* from = values + first * panel_tile;
  for (size_t tile = 0; tile < panel.tiles; ++tile, from += stride, v += panel_tile)
    for (size_t p = 0; p < panel_tile; p += Lanes::lanes) {
      const Lanes rows = load(v + p);
      for (size_t c = 0; c < columns; ++c)
        sums[c] = mul_add(load(from + c * panel_tile + p), rows, sums[c]);
    }
  for (size_t c = 0; c < columns; ++c) out[c] = sum_of_lanes(sums[c]);
}

template <class Scalar>
HWY_INLINE void solve_all(const PanelTables<Scalar>& t, Scalar* x, Scalar* part) {
  // L y = b: [y_J; L_RJ y_J] = B b_J.
  for (const Panel* panel = t.panels; panel != t.panels + t.count; ++panel) {
    multiply_panel(*panel, t.values + panel->values, x + panel->first, part);
    for (size_t i = 0; i < panel->width; ++i) x[panel->first + i] = part[i];
    const int32_t* rows = t.rows + panel->rows;
    for (size_t i = 0; i < panel->below; ++i) x[rows[i]] -= part[panel->width + i];
  }
  // Lᵀ x = y: x_J = Bᵀ [y_J; -x_R].
  for (const Panel* panel = t.panels + t.count; panel-- != t.panels;) {
    Scalar* own = x + panel->first;
    const int32_t* rows = t.rows + panel->rows;
    for (size_t i = 0; i < panel->width; ++i) part[i] = own[i];
    for (size_t i = 0; i < panel->below; ++i) part[panel->width + i] = -x[rows[i]];
    for (size_t i = panel->width + panel->below; i < panel->tiles * panel_tile; ++i) part[i] = 0;
    const Scalar* values = t.values + panel->values;
    size_t column = 0;
    for (; column + 8 <= panel->width; column += 8)
      dot_columns<8>(*panel, values, column, part, own + column);
    for (; column + 3 <= panel->width; column += 3)
      dot_columns<3>(*panel, values, column, part, own + column);
    for (; column < panel->width; ++column)
      dot_columns<1>(*panel, values, column, part, own + column);
  }
}

void solve_float(const PanelTables<float>& tables, float* x, float* part) {
  solve_all(tables, x, part);
}
void solve_double(const PanelTables<double>& tables, double* x, double* part) {
  solve_all(tables, x, part);
}

SUPPLE_KERNELS_END

#if SUPPLE_KERNELS_ONCE
namespace supple {

SUPPLE_KERNEL(solve_float);
SUPPLE_KERNEL(solve_double);

void solve_panels(const PanelTables<float>& tables, float* x, float* part) {
  SUPPLE_DISPATCH(solve_float)(tables, x, part);
}
void solve_panels(const PanelTables<double>& tables, double* x, double* part) {
  SUPPLE_DISPATCH(solve_double)(tables, x, part);
}

}  // namespace supple
#endif
