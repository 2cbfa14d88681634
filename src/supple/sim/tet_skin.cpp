#include "supple/sim/tet_skin.h"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>

#include "supple/core/parallel.h"

namespace supple {

SmoothTetSkin::SmoothTetSkin(const TetMesh& mesh, std::span<const double> volumes,
                             std::span<const Vec3f> points, std::span<const TetLocation> located)
    : m_mesh(mesh),
      m_volumes(volumes.begin(), volumes.end()),
      m_points(points.begin(), points.end()) {
  // Every node reaches a little further than its farthest neighbour's half way, such that each
  // place is reached by all corners of its element.
  std::vector<double> reach(mesh.positions.size(), 0);
  for (const Vec4i& tet : mesh.tets) {
    Mat3d edges;
    const auto at = [&](int c) -> const Vec3d& {
      return mesh.positions[static_cast<size_t>(tet[c])];
    };
    edges << at(1) - at(0), at(2) - at(0), at(3) - at(0);
    m_inverse.push_back(edges.inverse());
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b)
        reach[static_cast<size_t>(tet[a])] =
            std::max(reach[static_cast<size_t>(tet[a])], 1.05 * (at(a) - at(b)).norm());
  }
  std::vector<std::vector<int32_t>> around(mesh.positions.size());
  for (size_t e = 0; e < mesh.tets.size(); ++e)
    for (int c = 0; c < 4; ++c)
      around[static_cast<size_t>(mesh.tets[e][c])].push_back(static_cast<int32_t>(e));
  std::vector<Vec3d> places;
  for (const Vec3f& p : points) places.push_back(p.cast<double>());
  m_offsets.push_back(0);
  std::vector<int32_t> near;
  for (size_t p = 0; p < places.size(); ++p) {
    // Nodes of the elements around the corners of a place's own element.
    near.clear();
    for (int c = 0; c < 4; ++c)
      for (const int32_t e :
           around[static_cast<size_t>(mesh.tets[static_cast<size_t>(located[p].tet)][c])])
        for (int k = 0; k < 4; ++k) near.push_back(mesh.tets[static_cast<size_t>(e)][k]);
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    const size_t first = m_weights.size();
    double sum = 0;
    for (const int32_t n : near) {
      const double r = (places[p] - mesh.positions[static_cast<size_t>(n)]).norm() /
                       reach[static_cast<size_t>(n)];
      if (r >= 1) continue;
      // (1 - r²)³: twice continuously differentiable, to nothing at the end of the reach.
      const double weight = std::pow(1 - r * r, 3);
      m_weights.push_back({n, static_cast<float>(weight)});
      sum += weight;
    }
    for (size_t w = first; w < m_weights.size(); ++w)
      m_weights[w].weight = static_cast<float>(static_cast<double>(m_weights[w].weight) / sum);
    m_offsets.push_back(static_cast<uint32_t>(m_weights.size()));
  }
}

void SmoothTetSkin::interpolate(std::span<const Vec3d> nodes, std::span<Vec3f> out) const {
  std::vector<Mat3d> gradient(nodes.size(), Mat3d::Zero());
  std::vector<double> share(nodes.size(), 0);
  for (size_t e = 0; e < m_mesh.tets.size(); ++e) {
    const Vec4i& tet = m_mesh.tets[e];
    const auto at = [&](int c) -> const Vec3d& { return nodes[static_cast<size_t>(tet[c])]; };
    Mat3d edges;
    edges << at(1) - at(0), at(2) - at(0), at(3) - at(0);
    const Mat3d f = m_volumes[e] * (edges * m_inverse[e]);
    for (int c = 0; c < 4; ++c) {
      gradient[static_cast<size_t>(tet[c])] += f;
      share[static_cast<size_t>(tet[c])] += m_volumes[e];
    }
  }
  for (size_t n = 0; n < nodes.size(); ++n)
    if (share[n] > 0) gradient[n] /= share[n];
  parallel_for(m_points.size(), 1024, [&](size_t begin, size_t end) {
    for (size_t p = begin; p < end; ++p) {
      Vec3d sum = Vec3d::Zero();
      const Vec3d at = m_points[p].cast<double>();
      for (uint32_t w = m_offsets[p]; w < m_offsets[p + 1]; ++w) {
        const auto n = static_cast<size_t>(m_weights[w].node);
        sum += static_cast<double>(m_weights[w].weight) *
               (nodes[n] + gradient[n] * (at - m_mesh.positions[n]));
      }
      out[p] = sum.cast<float>();
    }
  });
}

}  // namespace supple
