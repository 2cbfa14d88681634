#include "supple/mesh/coverage.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>

#include "supple/core/parallel.h"
#include "supple/mesh/triangle_box.h"
#include "supple/mesh/winding_number.h"

namespace supple {
namespace {

constexpr size_t samples = 64;

// Well spread points of the unit cube: the additive recurrence of the powers of the root of
// x^4 = x + 1. Every point has coordinates of its own, so that flat sides are measured to 1/64.
std::array<Vec3d, samples> sample_points() {
  constexpr double root = 1.2207440846057596;
  std::array<Vec3d, samples> points;
  const Vec3d step(1 / root, 1 / (root * root), 1 / (root * root * root));
  for (size_t i = 0; i < samples; ++i) {
    const Vec3d at = Vec3d::Constant(0.5) + static_cast<double>(i + 1) * step;
    points[i] = at.array() - at.array().floor();
  }
  return points;
}

using Corners = std::array<Vec3d, 3>;

// How much the winding number grows along the way from a to b by crossing a triangle.
int crossing(const Corners& t, const Vec3d& a, const Vec3d& b) {
  const auto volume = [](const Vec3d& p, const Vec3d& q, const Vec3d& r) {
    return p.dot(q.cross(r));
  };
  const Vec3d normal = (t[1] - t[0]).cross(t[2] - t[0]);
  const double before = normal.dot(a - t[0]), after = normal.dot(b - t[0]);
  if ((before > 0) == (after > 0)) return 0;
  const Vec3d way = b - a;
  const double u = volume(way, t[0] - a, t[1] - a), v = volume(way, t[1] - a, t[2] - a),
               w = volume(way, t[2] - a, t[0] - a);
  const bool inside = (u > 0 && v > 0 && w > 0) || (u < 0 && v < 0 && w < 0);
  return inside ? (before > 0 ? 1 : -1) : 0;
}

// A part of the surface, and how often it winds round points.
struct Layer {
  Layer(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
        std::span<const uint8_t> open, bool is_open)
      : winding(positions, chosen(triangles, open, is_open), 6),
        least(is_open ? 0.75 : 0.5),
        empty(std::find(open.begin(), open.end(), is_open ? 1 : 0) == open.end()) {}

  static std::vector<Vec3i> chosen(std::span<const Vec3i> triangles, std::span<const uint8_t> open,
                                   bool is_open) {
    std::vector<Vec3i> result;
    for (size_t t = 0; t < triangles.size(); ++t)
      if ((open[t] != 0) == is_open) result.push_back(triangles[t]);
    return result;
  }

  WindingNumber winding;
  double least;  // winding number of points inside; a sheet alone has one half on either side
  bool empty;
};

// Measures the cells that triangles run through.
class CoverageProbe {
 public:
  CoverageProbe(const VoxelGrid& grid, const CellTriangles& overlaps,
                std::span<const Vec3f> positions, std::span<const Vec3i> triangles)
      : m_grid(grid),
        m_overlaps(overlaps),
        m_positions(positions),
        m_triangles(triangles),
        m_open(triangles_of_open_shells(positions, triangles)),
        m_layers{Layer(positions, triangles, m_open, false),
                 Layer(positions, triangles, m_open, true)},
        m_points(sample_points()) {}

  // The part of a boundary cell inside the closed shells or those with holes.
  double covered(size_t cell) const {
    const uint64_t inside = points_inside(cell, 0) | points_inside(cell, 1);
    return static_cast<double>(std::popcount(inside)) / samples;
  }

  // What triangles that enter a cell, rather than touching its sides, make it count as at least;
  // negative when none does.
  double entered(size_t cell, const CoverageOptions& options) const {
    const Vec3d centre = m_grid.centre(m_grid.cell(cell));
    const Vec3d half = Vec3d::Constant(m_grid.spacing * (0.5 - touching_distance));
    double result = -1;
    for (const int32_t t : m_overlaps.of(cell)) {
      const bool open = m_open[static_cast<size_t>(t)] != 0;
      const double part = open ? options.sheets : options.least;
      if (part <= result) continue;
      const Corners at = corners(t);
      if (triangle_overlaps_box<double>(at, centre, half) || (open && lies_between_cells(at)))
        result = part;
    }
    return result;
  }

 private:
  // Whether a triangle lies in a plane between cells, so that it enters neither side.
  bool lies_between_cells(const Corners& triangle) const {
    for (int axis = 0; axis < 3; ++axis) {
      bool in_plane = true;
      for (const Vec3d& corner : triangle) {
        const double at = m_grid.lattice_point(corner)[axis] + 0.5;
        const double plane = std::round(m_grid.lattice_point(triangle[0])[axis] + 0.5);
        in_plane = in_plane && std::abs(at - plane) <= touching_distance;
      }
      if (in_plane) return true;
    }
    return false;
  }

  // The winding number of closed shells at a point of a cell next to one outside, where it is 0: on
  // the way from there it changes at triangles of the cell alone. None where all neighbours hold
  // matter.
  std::optional<double> winding_from_outside(size_t cell, const Vec3d& point,
                                             std::span<const Corners> triangles) const {
    const Vec3i here = m_grid.cell(cell);
    for (int side = 0; side < 6; ++side) {
      const Vec3i next = here + (side % 2 != 0 ? 1 : -1) * Vec3i(Vec3i::Unit(side / 2));
      if (!m_grid.has(next) || m_grid.kinds[m_grid.index(next)] != CellKind::outside) continue;
      const Vec3d from = m_grid.centre(next) + m_grid.spacing * Vec3d(0.0113, -0.0171, 0.0067);
      int crossed = 0;
      for (const Corners& t : triangles) crossed += crossing(t, from, point);
      return crossed;
    }
    return {};
  }

  // One bit per sample point inside a layer. The winding number is computed at one point; on the
  // way from there to the others it changes by one at every triangle, all of which overlap the
  // cell. Its slow change near holes is left out.
  uint64_t points_inside(size_t cell, size_t which) const {
    const Layer& layer = m_layers[which];
    if (layer.empty) return 0;
    const Vec3d low = m_grid.centre(m_grid.cell(cell)) - Vec3d::Constant(m_grid.spacing / 2);
    const Vec3d from = low + m_grid.spacing * Vec3d(0.5071, 0.4937, 0.5113);
    std::vector<Corners> local;
    for (const int32_t t : m_overlaps.of(cell))
      if (m_open[static_cast<size_t>(t)] == which) local.push_back(corners(t));
    const bool closed = which == 0;
    const std::optional<double> known =
        closed ? winding_from_outside(cell, from, local) : std::nullopt;
    const double winding = known ? *known : layer.winding.at(from);
    uint64_t inside = 0;
    for (size_t i = 0; i < samples; ++i) {
      const Vec3d to = low + m_grid.spacing * m_points[i];
      int crossed = 0;
      for (const Corners& t : local) crossed += crossing(t, from, to);
      if (std::abs(winding + crossed) > layer.least) inside |= uint64_t{1} << i;
    }
    return inside;
  }

  Corners corners(int32_t triangle) const {
    const Vec3i& t = m_triangles[static_cast<size_t>(triangle)];
    Corners result;
    for (int k = 0; k < 3; ++k)
      result[static_cast<size_t>(k)] = m_positions[static_cast<size_t>(t[k])].cast<double>();
    return result;
  }

  const VoxelGrid& m_grid;
  const CellTriangles& m_overlaps;
  std::span<const Vec3f> m_positions;
  std::span<const Vec3i> m_triangles;
  std::vector<uint8_t> m_open;    // 1 for triangles of shells with holes
  std::array<Layer, 2> m_layers;  // closed shells, shells with holes
  std::array<Vec3d, samples> m_points;
};

}  // namespace

std::vector<float> cell_coverage(const VoxelGrid& grid, const CellTriangles& overlaps,
                                 std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                                 const CoverageOptions& options) {
  constexpr double half_full = 0.5;
  const CoverageProbe probe(grid, overlaps, positions, triangles);
  std::vector<float> coverage(grid.cells(), -1);
  parallel_for(grid.cells(), 512, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      if (grid.kinds[i] == CellKind::outside) continue;
      if (grid.kinds[i] == CellKind::inside) {
        coverage[i] = 1;
        continue;
      }
      const double least = probe.entered(i, options);
      const double part = options.half ? (least >= 0 ? half_full : -1) : probe.covered(i);
      if (part > 0 || least >= 0) coverage[i] = static_cast<float>(std::max(part, least));
    }
  });
  // Sheets that lie in a plane between cells enter none: they keep the cells on both sides.
  const double least = options.half ? half_full : std::max(options.least, options.sheets);
  std::vector<bool> kept(triangles.size(), false);
  for (size_t i = 0; i < grid.cells(); ++i)
    if (coverage[i] >= 0)
      for (const int32_t t : overlaps.of(i)) kept[static_cast<size_t>(t)] = true;
  for (size_t i = 0; i < grid.cells(); ++i)
    for (const int32_t t : overlaps.of(i))
      if (!kept[static_cast<size_t>(t)])
        coverage[i] = std::max(coverage[i], static_cast<float>(least));
  return coverage;
}

}  // namespace supple
