#include "supple/mesh/solid_lattice.h"

#include <algorithm>

#include "supple/core/error.h"
#include "supple/mesh/coverage.h"

namespace supple {
namespace {

constexpr double most_cells = 1 << 30;

// A grid around all triangles with one empty cell on every side.
VoxelGrid fitting_grid(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                       const SolidOptions& options) {
  VoxelGrid grid;
  Box3d box;
  for (const Vec3i& t : triangles)
    for (int k = 0; k < 3; ++k)
      box.extend(Vec3d(positions[static_cast<size_t>(t[k])].cast<double>()));
  grid.middle = box.min() / 2 + box.max() / 2;
  const double longest = box.sizes().maxCoeff();
  grid.spacing = options.spacing > 0 ? options.spacing : longest / std::max(1, options.cells);
  if (!(grid.spacing > 0)) grid.spacing = 1;  // a single point
  const Eigen::Array3d fit =
      (box.sizes().array() / grid.spacing - touching_distance).ceil().max(1) + 2;
  if (!(fit.prod() <= most_cells))
    throw_input_error("lattice", "spacing",
                      fmt::format("{:.4g} m gives {:.4g} x {:.4g} x {:.4g} cells; at most 2^30 are "
                                  "possible",
                                  grid.spacing, fit[0], fit[1], fit[2]));
  grid.size = fit.cast<int32_t>();
  grid.kinds.assign(grid.cells(), CellKind::outside);
  return grid;
}

}  // namespace

SolidLattice fill_lattice(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                          const SolidOptions& options) {
  if (positions.empty() || triangles.empty())
    throw_input_error("lattice", "skin", "there are no triangles to fill with cells");
  VoxelGrid grid = fitting_grid(positions, triangles, options);
  const CellTriangles overlaps = triangles_in_cells(grid, positions, triangles);
  classify_cells(grid, overlaps, positions, triangles);
  const std::vector<float> coverage =
      cell_coverage(grid, overlaps, positions, triangles,
                    {.least = options.least_coverage, .sheets = options.least_coverage});

  // The empty cells around the mesh are left out of the numbering.
  std::vector<Vec3i> cells;
  for (size_t i = 0; i < grid.cells(); ++i)
    if (coverage[i] >= 0) cells.push_back(grid.cell(i) - Vec3i::Ones());
  if (cells.empty()) throw_input_error("lattice", "skin", "no cell holds any of it");
  SolidLattice solid;
  solid.lattice = SparseLattice(cells);
  solid.spacing = grid.spacing;
  solid.origin = grid.centre(Vec3i::Ones()) - Vec3d::Constant(grid.spacing / 2);
  solid.coverage.assign(solid.lattice.slot_count * block_cells, 0);
  for (const Vec3i& cell : cells) {
    const LatticePlace at = solid.lattice.place(cell);
    const auto slot = static_cast<size_t>(solid.lattice.cell_slots[static_cast<size_t>(at.block)]);
    solid.coverage[slot * block_cells + static_cast<size_t>(at.local)] =
        coverage[grid.index(cell + Vec3i::Ones())];
  }
  return solid;
}

}  // namespace supple
