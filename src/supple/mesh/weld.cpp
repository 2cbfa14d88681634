#include "supple/mesh/weld.h"

#include <cmath>
#include <unordered_map>

namespace supple {
namespace {

struct Cell {
  int64_t x, y, z;
  bool operator==(const Cell&) const = default;
};

struct CellHash {
  size_t operator()(const Cell& c) const {
    uint64_t h = static_cast<uint64_t>(c.x) * 0x9E3779B97F4A7C15ull;
    h = (h ^ static_cast<uint64_t>(c.y)) * 0xC2B2AE3D27D4EB4Full;
    h = (h ^ static_cast<uint64_t>(c.z)) * 0x165667B19E3779F9ull;
    return static_cast<size_t>(h ^ (h >> 29));
  }
};

}  // namespace

Weld weld_by_position(std::span<const Vec3f> positions, double tolerance) {
  Weld weld;
  weld.point_of_vertex.reserve(positions.size());
  const Box3f box = bounding_box(positions);
  const double extent = positions.empty() ? 0 : box.cast<double>().sizes().maxCoeff();
  const double reach = tolerance * extent;
  // Cells of twice the tolerance: a match lies in the vertex's own cell or one of its neighbours.
  const double cell_size = reach > 0 ? 2 * reach : std::max(extent, 1.0) * 1e-12;
  const auto cell_of = [&](const Vec3d& p) {
    const Vec3d q = (p - box.min().cast<double>()) / cell_size;
    return Cell{static_cast<int64_t>(std::floor(q[0])), static_cast<int64_t>(std::floor(q[1])),
                static_cast<int64_t>(std::floor(q[2]))};
  };
  std::unordered_map<Cell, std::vector<int32_t>, CellHash> points_in_cell;
  points_in_cell.reserve(positions.size());

  const auto find_match = [&](const Vec3d& p) -> int32_t {
    const Cell low = cell_of(p - Vec3d::Constant(reach)),
               high = cell_of(p + Vec3d::Constant(reach));
    int32_t best = -1;
    double best_distance = reach * reach;
    for (int64_t z = low.z; z <= high.z; ++z)
      for (int64_t y = low.y; y <= high.y; ++y)
        for (int64_t x = low.x; x <= high.x; ++x) {
          const auto found = points_in_cell.find(Cell{x, y, z});
          if (found == points_in_cell.end()) continue;
          for (const int32_t point : found->second) {
            const Vec3d q = positions[weld.vertex_of_point[point]].cast<double>();
            const double distance = (p - q).squaredNorm();
            if (distance < best_distance ||
                (distance == best_distance && (best < 0 || point < best))) {
              best = point;
              best_distance = distance;
            }
          }
        }
    return best;
  };

  for (size_t v = 0; v < positions.size(); ++v) {
    const Vec3d p = positions[v].cast<double>();
    int32_t point = find_match(p);
    if (point < 0) {
      point = static_cast<int32_t>(weld.vertex_of_point.size());
      weld.vertex_of_point.push_back(static_cast<int32_t>(v));
      points_in_cell[cell_of(p)].push_back(point);
    }
    weld.point_of_vertex.push_back(point);
  }
  return weld;
}

TriangleMesh welded_mesh(const Weld& weld, std::span<const Vec3f> positions,
                         std::span<const Vec3i> triangles) {
  TriangleMesh mesh;
  mesh.positions.reserve(weld.points());
  for (const int32_t vertex : weld.vertex_of_point) mesh.positions.push_back(positions[vertex]);
  mesh.triangles.reserve(triangles.size());
  for (const Vec3i& tri : triangles) {
    const Vec3i t(weld.point_of_vertex[tri[0]], weld.point_of_vertex[tri[1]],
                  weld.point_of_vertex[tri[2]]);
    if (t[0] != t[1] && t[1] != t[2] && t[2] != t[0]) mesh.triangles.push_back(t);
  }
  return mesh;
}

void unweld(const Weld& weld, std::span<const Vec3f> points, std::span<Vec3f> vertices) {
  for (size_t v = 0; v < vertices.size(); ++v) vertices[v] = points[weld.point_of_vertex[v]];
}

}  // namespace supple
