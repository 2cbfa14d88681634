#include "supple/mesh/solid_sight.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "supple/core/parallel.h"

namespace supple {
namespace {

constexpr size_t block = 512;

// A way that passes this close to an edge, in parts of the triangle, crosses the triangles on both
// sides; crossings this close, in parts of the way, with the same sense are one.
constexpr double edge_margin = 1e-9, same_crossing = 1e-7;

}  // namespace

SolidSight::SolidSight(const VoxelGrid& grid, const CellTriangles& overlaps,
                       const TriangleMesh& mesh)
    : m_grid(grid),
      m_overlaps(overlaps),
      m_mesh(mesh),
      m_winding(mesh.positions, mesh.triangles),
      m_centre_winding(grid.cells(), 0) {
  parallel_for(grid.cells(), block, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      if (grid.kinds[i] == CellKind::boundary)
        m_centre_winding[i] = static_cast<float>(m_winding.at(grid.centre(grid.cell(i))));
  });
}

bool SolidSight::centre_inside(size_t cell) const {
  const CellKind kind = m_grid.kinds[cell];
  return kind == CellKind::inside ||
         (kind == CellKind::boundary && std::abs(m_centre_winding[cell]) > 0.5f);
}

// from + along * way = corner0 + u * edge1 + v * edge2, by Cramer's rule.
void SolidSight::add_crossing(int32_t triangle, const Vec3d& from, const Vec3d& way,
                              std::vector<Crossing>& crossings) const {
  const Vec3i& t = m_mesh.triangles[triangle];
  const Vec3d corner = m_mesh.positions[t[0]].cast<double>();
  const Vec3d edge1 = m_mesh.positions[t[1]].cast<double>() - corner;
  const Vec3d edge2 = m_mesh.positions[t[2]].cast<double>() - corner;
  const Vec3d normal = edge1.cross(edge2);
  const double determinant = -way.dot(normal);
  if (determinant == 0) return;
  const Vec3d start = from - corner;
  const Vec3d turned = start.cross(way);
  const double u = edge2.dot(turned) / determinant, v = -edge1.dot(turned) / determinant;
  const double along = start.dot(normal) / determinant;
  if (u < -edge_margin || v < -edge_margin || u + v > 1 + edge_margin) return;
  if (along < 0 || along > 1) return;
  crossings.push_back({along, determinant < 0 ? 1 : -1});
}

bool SolidSight::sees(size_t cell, const Vec3d& point, int32_t ignored_vertex) const {
  const Vec3i start = m_grid.cell(cell), end = m_grid.cell_at(point);
  const Vec3d from = m_grid.centre(start), way = point - from;
  const Vec3i low = start.cwiseMin(end).cwiseMax(0);
  const Vec3i high = start.cwiseMax(end).cwiseMin(m_grid.size - Vec3i::Ones());
  static thread_local std::vector<Crossing> crossings;
  crossings.clear();
  for (int32_t z = low[2]; z <= high[2]; ++z)
    for (int32_t y = low[1]; y <= high[1]; ++y)
      for (int32_t x = low[0]; x <= high[0]; ++x)
        for (const int32_t triangle : m_overlaps.of(m_grid.index({x, y, z})))
          if (ignored_vertex < 0 || (m_mesh.triangles[triangle].array() != ignored_vertex).all())
            add_crossing(triangle, from, way, crossings);
  if (crossings.empty()) return true;

  std::sort(crossings.begin(), crossings.end());
  double winding = m_grid.kinds[cell] == CellKind::boundary ? double{m_centre_winding[cell]}
                                                            : m_winding.at(from);
  const double sign = winding < 0 ? -1 : 1;
  std::array<double, 2> last{-1, -1};  // where the way last crossed outwards and inwards
  for (const Crossing& crossing : crossings) {
    double& before = last[crossing.side > 0];
    if (crossing.along - before > same_crossing) winding -= crossing.side;
    before = crossing.along;
    if (sign * winding < 0.5) return false;
  }
  return true;
}

}  // namespace supple
