#include "supple/mesh/cell_skin.h"

#include <algorithm>

#include "supple/core/parallel.h"
#include "supple/mesh/cell_skin_kernels.h"

namespace supple {
namespace {

// Points are kept cell by cell within blocks of vertices that follow each other, so that what is
// written stays in the cache until it is whole.
constexpr size_t vertices_per_block = 4096;

// How far beyond its cell a point may lie, in cells, and still move trilinearly.
constexpr double slack = 1e-4;

}  // namespace

CellSkin::CellSkin(const SolidLattice& solid, const LatticeMesh& mesh,
                   std::span<const Vec3f> points)
    : m_corners(mesh.corners) {
  std::vector<int32_t> cells(points.size());
  std::vector<Vec3f> local(points.size());
  std::vector<int32_t> inside;
  parallel_for(points.size(), 1024, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const Vec3d point = points[i].cast<double>();
      cells[i] = nearest_cell(solid, mesh, point);
      const LatticePlace& place = mesh.cells[static_cast<size_t>(cells[i])];
      const Vec3d low = solid.lattice.coordinates(place.block, place.local).cast<double>();
      local[i] = ((point - solid.origin) / solid.spacing - low).cast<float>();
    }
  });
  for (size_t i = 0; i < points.size(); ++i) {
    const auto beyond = static_cast<double>((local[i].array() - 0.5f).abs().maxCoeff()) - 0.5;
    if (beyond > slack) {
      m_outside.push_back(static_cast<int32_t>(i));
      m_ties.push_back(tie_to_cell(solid, mesh, cells[i], points[i].cast<double>()));
    } else {
      inside.push_back(static_cast<int32_t>(i));
    }
  }
  std::stable_sort(inside.begin(), inside.end(), [&](int32_t a, int32_t b) {
    const auto block = [](int32_t i) { return static_cast<size_t>(i) / vertices_per_block; };
    return std::pair(block(a), cells[static_cast<size_t>(a)]) <
           std::pair(block(b), cells[static_cast<size_t>(b)]);
  });
  int32_t cell = -1;
  for (const int32_t vertex : inside) {
    const auto v = static_cast<size_t>(vertex);
    while (m_blocks.size() <= v / vertices_per_block) {
      m_blocks.push_back(static_cast<uint32_t>(m_runs.size()));
      cell = -1;
    }
    if (cells[v] != cell) m_runs.push_back({cells[v], static_cast<uint32_t>(m_u.size()), 0});
    cell = cells[v];
    m_u.push_back(local[v][0]);
    m_v.push_back(local[v][1]);
    m_w.push_back(local[v][2]);
    m_vertices.push_back(vertex);
    ++m_runs.back().count;
  }
  m_blocks.push_back(static_cast<uint32_t>(m_runs.size()));
  for (auto* numbers : {&m_u, &m_v, &m_w}) numbers->resize(numbers->size() + points_padding, 0.0f);
}

void CellSkin::interpolate(std::span<const Vec3d> nodes, std::span<Vec3f> out) const {
  parallel_for(m_blocks.size() - 1, 2, [&](size_t begin, size_t end) {
    for (size_t r = m_blocks[begin]; r < m_blocks[end]; ++r) {
      const Run& run = m_runs[r];
      std::array<float, 24> corners;
      for (size_t i = 0; i < 8; ++i) {
        const Vec3d& node = nodes[static_cast<size_t>(m_corners[static_cast<size_t>(run.cell)][i])];
        for (size_t k = 0; k < 3; ++k)
          corners[3 * i + k] = static_cast<float>(node[static_cast<Eigen::Index>(k)]);
      }
      move_cell_points({corners.data(), m_u.data() + run.first, m_v.data() + run.first,
                        m_w.data() + run.first, m_vertices.data() + run.first, run.count},
                       out.data()->data());
    }
  });
  for (size_t i = 0; i < m_outside.size(); ++i)
    out[static_cast<size_t>(m_outside[i])] = m_ties[i].position(nodes).cast<float>();
}

size_t CellSkin::bytes() const {
  return m_corners.size() * sizeof(m_corners[0]) + m_runs.size() * sizeof(Run) +
         m_u.size() * 4 * sizeof(float) + m_ties.size() * (sizeof(LatticeTie) + sizeof(int32_t));
}

}  // namespace supple
