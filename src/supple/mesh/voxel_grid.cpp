#include "supple/mesh/voxel_grid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/mesh/topology.h"
#include "supple/mesh/triangle_box.h"
#include "supple/mesh/triangle_mesh.h"
#include "supple/mesh/weld.h"
#include "supple/mesh/winding_number.h"

namespace supple {
namespace {

constexpr double most_cells = 1 << 30;

// Boxes are this much larger than cells, in cells, so that a triangle in the plane between two
// cells overlaps both, whatever the rounding.
constexpr double overlap_margin = 1e-6;

constexpr size_t triangle_block = 256;
constexpr size_t cell_block = 2048;

struct Overlap {
  size_t cell;
  int32_t triangle;
};

// Finds the cells one triangle overlaps by halving boxes of cells.
class Overlapper {
 public:
  Overlapper(const VoxelGrid& grid, const std::array<Vec3d, 3>& lattice_corners, int32_t triangle,
             std::vector<Overlap>& found)
      : m_grid(grid), m_corners(lattice_corners), m_triangle(triangle), m_found(found) {}

  // Visits the cells from `low` to `high`, both included.
  void visit(const Vec3i& low, const Vec3i& high) {
    const Vec3d centre = (low + high).cast<double>() / 2;
    const Vec3d half = (high - low).cast<double>() / 2 + Vec3d::Constant(0.5 + overlap_margin);
    if (!triangle_overlaps_box<double>(m_corners, centre, half)) return;
    if (low == high) {
      m_found.push_back({m_grid.index(low), m_triangle});
      return;
    }
    int axis = 0;
    (high - low).maxCoeff(&axis);
    const int32_t middle = (low[axis] + high[axis]) / 2;
    Vec3i first_high = high, second_low = low;
    first_high[axis] = middle;
    second_low[axis] = middle + 1;
    visit(low, first_high);
    visit(second_low, high);
  }

 private:
  const VoxelGrid& m_grid;
  const std::array<Vec3d, 3>& m_corners;
  int32_t m_triangle;
  std::vector<Overlap>& m_found;
};

void find_overlaps(const VoxelGrid& grid, std::span<const Vec3f> positions, const Vec3i& triangle,
                   int32_t number, std::vector<Overlap>& found) {
  std::array<Vec3d, 3> corners;
  Box3d box;
  for (int k = 0; k < 3; ++k) {
    corners[k] = grid.lattice_point(positions[triangle[k]].cast<double>());
    box.extend(corners[k]);
  }
  const auto clamped = [&](const Vec3d& point, double margin) -> Vec3i {
    const Eigen::Array3d cell = (point.array() + 0.5 + margin).floor().max(-1).min(2e9);
    return cell.cast<int32_t>();
  };
  const Vec3i low = clamped(box.min(), -2 * overlap_margin).cwiseMax(0);
  const Vec3i high = clamped(box.max(), 2 * overlap_margin).cwiseMin(grid.size - Vec3i::Ones());
  if ((low.array() > high.array()).any()) return;
  Overlapper(grid, corners, number, found).visit(low, high);
}

// Marks as inside what cannot be reached from the grid's border without crossing a boundary cell.
// `kinds` has only outside and boundary cells.
void fill_enclosed(VoxelGrid& grid) {
  for (CellKind& kind : grid.kinds)
    if (kind == CellKind::outside) kind = CellKind::inside;
  std::vector<size_t> reached;
  const auto reach = [&](const Vec3i& cell) {
    if (!grid.has(cell)) return;
    CellKind& kind = grid.kinds[grid.index(cell)];
    if (kind != CellKind::inside) return;
    kind = CellKind::outside;
    reached.push_back(grid.index(cell));
  };
  for (int axis = 0; axis < 3; ++axis)
    for (int32_t a = 0; a < grid.size[(axis + 1) % 3]; ++a)
      for (int32_t b = 0; b < grid.size[(axis + 2) % 3]; ++b)
        for (const int32_t end : {0, grid.size[axis] - 1}) {
          Vec3i cell;
          cell[axis] = end;
          cell[(axis + 1) % 3] = a;
          cell[(axis + 2) % 3] = b;
          reach(cell);
        }
  while (!reached.empty()) {
    const Vec3i cell = grid.cell(reached.back());
    reached.pop_back();
    for (int axis = 0; axis < 3; ++axis)
      for (const int32_t step : {-1, 1}) reach(cell + step * Vec3i(Vec3i::Unit(axis)));
  }
}

// Marks as inside the outside cells that pieces with holes wind round.
void fill_wound(VoxelGrid& grid, std::span<const Vec3f> positions,
                std::span<const Vec3i> open_triangles) {
  if (open_triangles.empty()) return;
  Box3d box;
  for (const Vec3i& t : open_triangles)
    for (int k = 0; k < 3; ++k) box.extend(Vec3d(positions[t[k]].cast<double>()));
  const WindingNumber winding(positions, open_triangles);
  parallel_for(grid.cells(), cell_block, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      if (grid.kinds[i] != CellKind::outside) continue;
      const Vec3d centre = grid.centre(grid.cell(i));
      if (box.contains(centre) && std::abs(winding.at(centre)) > 0.5)
        grid.kinds[i] = CellKind::inside;
    }
  });
}

}  // namespace

VoxelGrid grid_around(std::span<const Vec3f> positions, const VoxelOptions& options) {
  VoxelGrid grid;
  if (positions.empty()) return grid;
  const Box3d box = bounding_box(positions).cast<double>();
  const double longest = box.sizes().maxCoeff();
  grid.middle = box.min() / 2 + box.max() / 2;
  grid.spacing = options.spacing > 0 ? options.spacing : longest / std::max(1, options.resolution);
  if (!(grid.spacing > 0)) grid.spacing = 1;  // a single point
  // One cell more than fits, so that the mesh's box never ends in a plane between cells.
  const Eigen::Array3d size = (box.sizes().array() / grid.spacing).floor() + 1 +
                              2 * static_cast<double>(std::max(1, options.padding));
  if (!(size.prod() <= most_cells))
    throw_input_error("voxel grid", "spacing",
                      fmt::format("{:.4g} gives {:.4g} x {:.4g} x {:.4g} cells; at most 2^30 are "
                                  "possible",
                                  grid.spacing, size[0], size[1], size[2]));
  grid.size = size.cast<int32_t>();
  grid.kinds.assign(grid.cells(), CellKind::outside);
  return grid;
}

CellTriangles triangles_in_cells(const VoxelGrid& grid, std::span<const Vec3f> positions,
                                 std::span<const Vec3i> triangles) {
  std::vector<std::vector<Overlap>> found((triangles.size() + triangle_block - 1) / triangle_block);
  parallel_for(triangles.size(), triangle_block, [&](size_t begin, size_t end) {
    for (size_t t = begin; t < end; ++t)
      find_overlaps(grid, positions, triangles[t], static_cast<int32_t>(t),
                    found[begin / triangle_block]);
  });
  size_t total = 0;
  for (const auto& block : found) total += block.size();
  if (total > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
    throw_input_error("voxel grid", "triangles",
                      fmt::format("they overlap {} cells; at most 2^31 are possible", total));
  CellTriangles overlaps;
  overlaps.offsets.assign(grid.cells() + 1, 0);
  for (const auto& block : found)
    for (const Overlap& overlap : block) ++overlaps.offsets[overlap.cell + 1];
  for (size_t i = 0; i < grid.cells(); ++i) overlaps.offsets[i + 1] += overlaps.offsets[i];
  overlaps.triangles.resize(static_cast<size_t>(overlaps.offsets.back()));
  std::vector<int32_t> next(overlaps.offsets.begin(), overlaps.offsets.end() - 1);
  for (const auto& block : found)
    for (const Overlap& overlap : block)
      overlaps.triangles[static_cast<size_t>(next[overlap.cell]++)] = overlap.triangle;
  return overlaps;
}

// Where as many triangles run along every edge one way as the other, a shell winds round all points
// of a region it does not cut equally often: not at all in the region that reaches to infinity.
std::vector<uint8_t> triangles_of_open_shells(std::span<const Vec3f> positions,
                                              std::span<const Vec3i> triangles) {
  const Weld weld = weld_by_position(positions);
  std::vector<Vec3i> welded;
  welded.reserve(triangles.size());
  for (const Vec3i& t : triangles)
    welded.emplace_back(weld.point_of_vertex[t[0]], weld.point_of_vertex[t[1]],
                        weld.point_of_vertex[t[2]]);
  using Side = std::tuple<int32_t, int32_t, int32_t, int32_t>;  // low, high, direction, triangle
  std::vector<Side> sides;
  sides.reserve(3 * welded.size());
  for (size_t t = 0; t < welded.size(); ++t)
    for (int k = 0; k < 3; ++k) {
      const int32_t a = welded[t][k], b = welded[t][(k + 1) % 3];
      if (a != b)
        sides.emplace_back(std::min(a, b), std::max(a, b), a < b ? 1 : -1, static_cast<int32_t>(t));
    }
  std::sort(sides.begin(), sides.end());
  const Topology topology = analyse_topology(weld.points(), welded);
  std::vector<bool> open(static_cast<size_t>(topology.shells), true);
  for (size_t t = 0; t < welded.size(); ++t) {
    const Vec3i& w = welded[t];
    if (w[0] != w[1] && w[1] != w[2] && w[2] != w[0]) open[topology.shell_of_triangle[t]] = false;
  }
  for (size_t i = 0; i < sides.size();) {
    const auto [low, high, direction, triangle] = sides[i];
    int balance = 0;
    for (; i < sides.size() && std::get<0>(sides[i]) == low && std::get<1>(sides[i]) == high; ++i)
      balance += std::get<2>(sides[i]);
    if (balance != 0) open[topology.shell_of_triangle[triangle]] = true;
  }
  std::vector<uint8_t> result(triangles.size());
  for (size_t t = 0; t < triangles.size(); ++t)
    result[t] = open[topology.shell_of_triangle[t]] ? 1 : 0;
  return result;
}

void classify_cells(VoxelGrid& grid, const CellTriangles& overlaps,
                    std::span<const Vec3f> positions, std::span<const Vec3i> triangles) {
  for (size_t i = 0; i < grid.cells(); ++i)
    grid.kinds[i] = overlaps.of(i).empty() ? CellKind::outside : CellKind::boundary;
  fill_enclosed(grid);
  const std::vector<uint8_t> open = triangles_of_open_shells(positions, triangles);
  std::vector<Vec3i> open_triangles;
  for (size_t t = 0; t < triangles.size(); ++t)
    if (open[t] != 0) open_triangles.push_back(triangles[t]);
  fill_wound(grid, positions, open_triangles);
}

void empty_cavities(VoxelGrid& grid, std::span<const Vec3f> positions,
                    std::span<const Vec3i> triangles) {
  const WindingNumber winding(positions, triangles);
  parallel_for(grid.cells(), cell_block, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      if (grid.kinds[i] == CellKind::inside &&
          std::abs(winding.at(grid.centre(grid.cell(i)))) < 0.5)
        grid.kinds[i] = CellKind::outside;
  });
}

VoxelGrid voxelise(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                   const VoxelOptions& options) {
  VoxelGrid grid = grid_around(positions, options);
  if (grid.cells() > 0)
    classify_cells(grid, triangles_in_cells(grid, positions, triangles), positions, triangles);
  return grid;
}

}  // namespace supple
