// One VTK XML unstructured grid (.vtu) with raw appended data, uncompressed and little-endian, as
// we write it. Other encodings, several pieces and cells other than polygons are refused.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "supple/core/input_file.h"
#include "supple/math/types.h"

namespace supple {

/// Where the values of one array stand in the file.
struct VtuArray {
  std::string section;  ///< PointData, CellData, Points or Cells
  std::string name;
  std::string type;  ///< Float32, Int32, UInt8, ...
  uint64_t components = 1;
  uint64_t offset = 0;  ///< of the first value, in bytes from the file's begin
  uint64_t values = 0;  ///< components times rows
  int64_t line = 1;
};

/// The structure of a grid: counts and arrays, each checked against the file's size.
struct VtuGrid {
  uint64_t points = 0;
  uint64_t cells = 0;
  std::vector<VtuArray> arrays;

  /// The array of that name in a section (any name when it is empty), or null.
  const VtuArray* find(std::string_view section, std::string_view name) const;
};

/// Reads the XML of a grid; throws an input error when it is none, damaged or of another kind.
VtuGrid read_vtu_grid(const InputFile& file);

/// The values of an array as floats.
std::vector<float> read_vtu_floats(const InputFile& file, const VtuArray& array);

/// The values of an array as whole numbers.
std::vector<int64_t> read_vtu_integers(const InputFile& file, const VtuArray& array);

/// The points of a grid.
std::vector<Vec3f> read_vtu_points(const InputFile& file, const VtuGrid& grid);

/// The triangles of a grid's polygons, and for each the cell it comes from. Vertices and lines are
/// left out.
std::vector<Vec3i> read_vtu_triangles(const InputFile& file, const VtuGrid& grid,
                                      std::vector<size_t>& cell_of_triangle);

}  // namespace supple
