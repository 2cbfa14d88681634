#include "supple/contact/inside_test.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/mesh/topology.h"
#include "supple/mesh/weld.h"

namespace supple {
namespace {

// Refuses what no surface can be made from.
void check_mesh(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                double spacing) {
  if (triangles.empty()) throw_input_error("contact", "skin", "there are no triangles");
  if (!(spacing > 0) || !std::isfinite(spacing))
    throw_input_error("contact", "spacing", fmt::format("{} m; more than 0 is needed", spacing));
  for (size_t v = 0; v < positions.size(); ++v)
    if (!positions[v].allFinite())
      throw_input_error("contact", fmt::format("vertex {}", v), "is not a finite number");
  const auto count = static_cast<int64_t>(positions.size());
  for (size_t t = 0; t < triangles.size(); ++t)
    if (triangles[t].minCoeff() < 0 || triangles[t].maxCoeff() >= count)
      throw_input_error("contact", fmt::format("triangle {}", t),
                        fmt::format("has a vertex beyond the {} there are", count));
}

TriangleMesh chosen(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                    std::span<const uint8_t> open, uint8_t which) {
  TriangleMesh mesh{{positions.begin(), positions.end()}, {}};
  for (size_t t = 0; t < triangles.size(); ++t)
    if (open[t] == which) mesh.triangles.push_back(triangles[t]);
  return mesh;
}

// The triangles over points: corners at the same place are one. Returns the number of points.
size_t weld_triangles(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                      std::vector<Vec3i>& welded) {
  const Weld weld = weld_by_position(positions);
  welded.reserve(triangles.size());
  for (const Vec3i& t : triangles)
    welded.emplace_back(weld.point_of_vertex[static_cast<size_t>(t[0])],
                        weld.point_of_vertex[static_cast<size_t>(t[1])],
                        weld.point_of_vertex[static_cast<size_t>(t[2])]);
  return weld.points();
}

// 1 for triangles with a side along which more triangles run one way than the other.
std::vector<uint8_t> triangles_at_ends(std::span<const Vec3f> positions,
                                       std::span<const Vec3i> triangles) {
  std::vector<Vec3i> welded;
  weld_triangles(positions, triangles, welded);
  using Side = std::tuple<int32_t, int32_t, int32_t, size_t>;  // low, high, direction, triangle
  std::vector<Side> sides;
  for (size_t t = 0; t < welded.size(); ++t)
    for (int k = 0; k < 3; ++k) {
      const int32_t a = welded[t][k], b = welded[t][(k + 1) % 3];
      if (a != b) sides.emplace_back(std::min(a, b), std::max(a, b), a < b ? 1 : -1, t);
    }
  std::sort(sides.begin(), sides.end());
  std::vector<uint8_t> ends(triangles.size(), 0);
  for (size_t i = 0, j = 0; i < sides.size(); i = j) {
    int balance = 0;
    for (j = i; j < sides.size() && std::get<0>(sides[j]) == std::get<0>(sides[i]) &&
                std::get<1>(sides[j]) == std::get<1>(sides[i]);
         ++j)
      balance += std::get<2>(sides[j]);
    if (balance != 0)
      for (size_t s = i; s < j; ++s) ends[std::get<3>(sides[s])] = 1;
  }
  return ends;
}

// The triangles, those of shells with a negative volume turned round. Volumes are measured about
// the middle of each shell's area, so that holes count little.
std::vector<Vec3i> turned_outwards(std::span<const Vec3f> positions,
                                   std::span<const Vec3i> triangles) {
  std::vector<Vec3i> welded;
  const size_t points = weld_triangles(positions, triangles, welded);
  const std::vector<int32_t> shell = analyse_topology(points, welded).shell_of_triangle;
  int32_t shells = 0;
  for (const int32_t s : shell) shells = std::max(shells, s + 1);
  const auto corner = [&](size_t t, int k) -> Vec3d {
    return positions[static_cast<size_t>(triangles[t][k])].cast<double>();
  };
  std::vector<Vec3d> middle(static_cast<size_t>(shells), Vec3d::Zero());
  std::vector<double> area(static_cast<size_t>(shells), 0), volume(static_cast<size_t>(shells), 0);
  for (size_t t = 0; t < triangles.size(); ++t) {
    const Vec3d a = corner(t, 0), b = corner(t, 1), c = corner(t, 2);
    const double size = (b - a).cross(c - a).norm();
    middle[static_cast<size_t>(shell[t])] += size * (a + b + c) / 3;
    area[static_cast<size_t>(shell[t])] += size;
  }
  for (size_t s = 0; s < middle.size(); ++s)
    if (area[s] > 0) middle[s] /= area[s];
  for (size_t t = 0; t < triangles.size(); ++t) {
    const auto s = static_cast<size_t>(shell[t]);
    const Vec3d a = corner(t, 0) - middle[s], b = corner(t, 1) - middle[s],
                c = corner(t, 2) - middle[s];
    volume[s] += a.dot(b.cross(c));
  }
  std::vector<Vec3i> result(triangles.begin(), triangles.end());
  for (size_t t = 0; t < result.size(); ++t)
    if (volume[static_cast<size_t>(shell[t])] < 0) std::swap(result[t][1], result[t][2]);
  return result;
}

// Whether the way from a to b meets a triangle, its sides included.
bool blocks(const std::array<Vec3d, 3>& t, const Vec3d& a, const Vec3d& b) {
  const Vec3d normal = (t[1] - t[0]).cross(t[2] - t[0]);
  const double before = normal.dot(a - t[0]), after = normal.dot(b - t[0]);
  if ((before > 0 && after > 0) || (before < 0 && after < 0)) return false;
  const Vec3d way = b - a;
  const auto volume = [&](const Vec3d& p, const Vec3d& q) { return way.dot((p - a).cross(q - a)); };
  const double u = volume(t[0], t[1]), v = volume(t[1], t[2]), w = volume(t[2], t[0]);
  return (u >= 0 && v >= 0 && w >= 0) || (u <= 0 && v <= 0 && w <= 0);
}

// How much the winding number grows along the way from a to b by crossing a triangle. Of two
// triangles that share a side, exactly one is crossed by a way through the side.
int crossing(const std::array<Vec3d, 3>& t, const Vec3d& a, const Vec3d& b) {
  const Vec3d normal = (t[1] - t[0]).cross(t[2] - t[0]);
  const bool before = normal.dot(a - t[0]) > 0, after = normal.dot(b - t[0]) > 0;
  if (before == after) return 0;
  const Vec3d way = b - a;
  const auto turns = [&](const Vec3d& p, const Vec3d& q) {
    return way.dot((p - a).cross(q - a)) > 0;
  };
  const bool u = turns(t[0], t[1]);
  if (u != turns(t[1], t[2]) || u != turns(t[2], t[0])) return 0;
  return before ? 1 : -1;
}

}  // namespace

// The mesh turned outwards, and which of its triangles are of shells with holes.
struct InsideTest::Oriented {
  Oriented(std::span<const Vec3f> p, std::span<const Vec3i> t, double spacing)
      : positions((check_mesh(p, t, spacing), p)),
        triangles(turned_outwards(p, t)),
        open(triangles_of_open_shells(p, triangles)) {}

  TriangleMesh part(uint8_t which) const { return chosen(positions, triangles, open, which); }

  std::span<const Vec3f> positions;
  std::vector<Vec3i> triangles;
  std::vector<uint8_t> open;
};

InsideTest::InsideTest(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                       double spacing)
    : InsideTest(Oriented(positions, triangles, spacing), spacing) {}

InsideTest::InsideTest(const Oriented& mesh, double spacing)
    : m_positions(mesh.positions.begin(), mesh.positions.end()),
      m_triangles(mesh.triangles),
      m_grid(grid_around(m_positions, {.spacing = spacing})),
      m_overlaps(triangles_in_cells(m_grid, m_positions, m_triangles)),
      m_is_open(mesh.open),
      m_winding{WindingNumber(m_positions, mesh.part(0).triangles),
                WindingNumber(m_positions, mesh.part(1).triangles)} {
  classify_cells(m_grid, m_overlaps, m_positions, m_triangles);
  mark_borders(triangles_at_ends(m_positions, m_triangles));
  measure_cells();
}

std::array<Vec3d, 3> InsideTest::corners(int32_t triangle) const {
  const Vec3i& t = m_triangles[static_cast<size_t>(triangle)];
  std::array<Vec3d, 3> result;
  for (int k = 0; k < 3; ++k)
    result[static_cast<size_t>(k)] = m_positions[static_cast<size_t>(t[k])].cast<double>();
  return result;
}

// Where a cell's winding numbers are measured: off its centre, which symmetric meshes run through.
Vec3d InsideTest::anchor(const Vec3i& cell) const {
  return m_grid.centre(cell) + m_grid.spacing * Vec3d(0.0071, -0.0063, 0.0113);
}

void InsideTest::mark_borders(std::span<const uint8_t> ends) {
  m_near_border.assign(m_grid.cells(), 0);
  for (size_t i = 0; i < m_grid.cells(); ++i) {
    const auto list = m_overlaps.of(i);
    const bool has_end = std::any_of(list.begin(), list.end(),
                                     [&](int32_t t) { return ends[static_cast<size_t>(t)] != 0; });
    if (!has_end) continue;
    for (int n = 0; n < 27; ++n) {
      const Vec3i near = m_grid.cell(i) + Vec3i(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1);
      if (m_grid.has(near)) m_near_border[m_grid.index(near)] = 1;
    }
  }
}

void InsideTest::measure_cells() {
  m_air.assign(m_grid.cells(), 0);
  m_anchors.assign(m_grid.cells(), {0, 0});
  parallel_for(m_grid.cells(), 512, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      if (m_grid.kinds[i] == CellKind::outside) continue;
      const Vec3d at = anchor(m_grid.cell(i));
      for (size_t layer = 0; layer < 2; ++layer)
        m_anchors[i][layer] = static_cast<float>(m_winding[layer].at(at));
      if (m_grid.kinds[i] == CellKind::inside) m_air[i] = wound(at, i) ? 0 : 1;
    }
  });
}

bool InsideTest::wound(const Vec3d& point, size_t cell) const {
  const Vec3d from = anchor(m_grid.cell(cell));
  std::array<int, 2> crossed{0, 0};
  for (const int32_t t : m_overlaps.of(cell))
    crossed[m_is_open[static_cast<size_t>(t)]] += crossing(corners(t), from, point);
  const auto about = [&](size_t layer) {
    return std::abs(static_cast<double>(m_anchors[cell][layer]) + crossed[layer]);
  };
  if (about(0) > 0.5) return true;
  if (m_near_border[cell] == 0) {
    if (about(1) > 0.8) return true;
    if (about(1) < 0.2) return false;
  }
  return std::abs(m_winding[1].at(point)) > least_open;
}

bool InsideTest::inside(const Vec3d& point) const {
  if (!point.allFinite()) return false;
  const Vec3i cell = m_grid.cell_at(point);
  if (!m_grid.has(cell)) return false;
  const CellKind kind = m_grid.kinds[m_grid.index(cell)];
  if (kind != CellKind::boundary) return kind == CellKind::inside;
  return wound(point, m_grid.index(cell)) || sees_enclosed_air(point, cell);
}

bool InsideTest::sees_enclosed_air(const Vec3d& point, const Vec3i& cell) const {
  for (int n = 0; n < 27; ++n) {
    const Vec3i next = cell + Vec3i(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1);
    if (!m_grid.has(next) || m_air[m_grid.index(next)] == 0) continue;
    if (way_is_free(point, cell, next)) return true;
  }
  return false;
}

// The way from a point to the centre of a neighbouring cell runs through the cells between the two.
bool InsideTest::way_is_free(const Vec3d& point, const Vec3i& cell, const Vec3i& next) const {
  const Vec3d centre = m_grid.centre(next);
  const Vec3i low = cell.cwiseMin(next), high = cell.cwiseMax(next);
  for (int32_t z = low[2]; z <= high[2]; ++z)
    for (int32_t y = low[1]; y <= high[1]; ++y)
      for (int32_t x = low[0]; x <= high[0]; ++x)
        for (const int32_t t : m_overlaps.of(m_grid.index({x, y, z})))
          if (blocks(corners(t), point, centre)) return false;
  return true;
}

}  // namespace supple
