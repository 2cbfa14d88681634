#include "supple/mesh/cell_skin.h"

#include "supple/core/parallel.h"
#include "supple/mesh/cell_skin_kernels.h"

namespace supple {
namespace {

constexpr size_t longest_run = 1024;

// How far beyond its cell a point may lie, in cells, and still move trilinearly.
constexpr double slack = 1e-4;

}  // namespace

CellSkin::CellSkin(const SolidLattice& solid, const LatticeMesh& mesh,
                   std::span<const Vec3f> points)
    : m_corners(mesh.corners) {
  std::vector<int32_t> cells(points.size());
  std::vector<Vec3f> local(points.size());
  std::vector<std::vector<int32_t>> of_cells(mesh.cells.size());
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
      of_cells[static_cast<size_t>(cells[i])].push_back(static_cast<int32_t>(i));
    }
  }
  for (size_t c = 0; c < of_cells.size(); ++c)
    for (size_t i = 0; i < of_cells[c].size(); ++i) {
      if (i % longest_run == 0)
        m_runs.push_back({static_cast<int32_t>(c), static_cast<uint32_t>(m_u.size()), 0});
      const auto point = static_cast<size_t>(of_cells[c][i]);
      m_u.push_back(local[point][0]);
      m_v.push_back(local[point][1]);
      m_w.push_back(local[point][2]);
      m_vertices.push_back(of_cells[c][i]);
      ++m_runs.back().count;
    }
}

void CellSkin::interpolate(std::span<const Vec3d> nodes, std::span<Vec3f> out) const {
  const size_t runs_per_block =
      m_runs.empty() ? 1 : std::max<size_t>(1, 8 * longest_run * m_runs.size() / (m_u.size() + 1));
  parallel_for(m_runs.size(), runs_per_block, [&](size_t begin, size_t end) {
    for (size_t r = begin; r < end; ++r) {
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
