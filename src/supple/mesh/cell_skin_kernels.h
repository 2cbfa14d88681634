// The inner loop of moving skins with cells, compiled for every instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace supple {

/// Numbers beyond the last point that may be read.
inline constexpr size_t points_padding = 16;

/// Points in one cell, their vertices rising.
struct CellPoints {
  const float* corners = nullptr;  ///< the cell's eight corners, x fastest, three numbers each
  const float* u = nullptr;        ///< coordinates in the cell, from 0 to 1
  const float* v = nullptr;
  const float* w = nullptr;
  const int32_t* vertex = nullptr;  ///< where each point goes
  size_t count = 0;
};

/// Writes the trilinear interpolation of the corners to out[3 vertex] of every point.
void move_cell_points(const CellPoints& points, float* out);

}  // namespace supple
