#include "supple/mesh/node_gradients.h"

#include <Eigen/LU>

#include <map>

namespace supple {

std::array<Vec3d, 4> corner_gradients(const TetMesh& mesh, const Vec4i& tet) {
  const auto at = [&](int c) -> const Vec3d& {
    return mesh.positions[static_cast<size_t>(tet[c])];
  };
  Mat3d edges;
  edges << at(1) - at(0), at(2) - at(0), at(3) - at(0);
  const Mat3d inverse = edges.inverse();
  std::array<Vec3d, 4> g;
  for (size_t c = 1; c < 4; ++c) g[c] = inverse.row(static_cast<Eigen::Index>(c) - 1);
  g[0] = -(g[1] + g[2] + g[3]);
  return g;
}

NodeGradients::NodeGradients(size_t nodes, std::span<const ElementGradient> elements) {
  std::vector<double> share(nodes, 0);
  std::vector<std::map<int32_t, Vec3d>> rows(nodes);
  for (const ElementGradient& e : elements)
    for (const int32_t i : e.nodes) {
      const auto n = static_cast<size_t>(i);
      share[n] += e.volume;
      for (size_t c = 0; c < e.nodes.size(); ++c)
        rows[n].try_emplace(e.nodes[c], Vec3d::Zero()).first->second += e.volume * e.gradients[c];
    }
  m_offsets.push_back(0);
  for (size_t n = 0; n < nodes; ++n) {
    for (const auto& [node, sum] : rows[n]) {
      if (!(share[n] > 0)) break;
      m_nodes.push_back(node);
      const Vec3d mean = sum / share[n];
      m_gradients.push_back({mean.x(), mean.y(), mean.z(), 0});
    }
    m_offsets.push_back(static_cast<uint32_t>(m_nodes.size()));
  }
}

NodeGradients::NodeGradients(const TetMesh& mesh, std::span<const double> volumes) {
  std::vector<std::array<Vec3d, 4>> gradients;
  gradients.reserve(mesh.tets.size());
  for (const Vec4i& tet : mesh.tets) gradients.push_back(corner_gradients(mesh, tet));
  std::vector<ElementGradient> elements;
  for (size_t e = 0; e < mesh.tets.size(); ++e)
    elements.push_back(
        {std::span<const int32_t>(mesh.tets[e].data(), 4), gradients[e], volumes[e]});
  *this = NodeGradients(mesh.positions.size(), elements);
}

NodeGradients NodeGradients::of_some(std::span<const char> wanted) const {
  NodeGradients some;
  some.m_offsets.push_back(0);
  for (size_t n = 0; n < size(); ++n) {
    for (uint32_t k = m_offsets[n]; wanted[n] && k < m_offsets[n + 1]; ++k) {
      some.m_nodes.push_back(m_nodes[k]);
      some.m_gradients.push_back(m_gradients[k]);
    }
    some.m_offsets.push_back(static_cast<uint32_t>(some.m_nodes.size()));
  }
  return some;
}

Mat3d NodeGradients::at(size_t node, const double* x) const {
  Mat3d sum = Mat3d::Zero();
  for (uint32_t k = m_offsets[node]; k < m_offsets[node + 1]; ++k)
    sum += Eigen::Map<const Vec3d>(x + 3 * static_cast<size_t>(m_nodes[k])) *
           Eigen::Map<const Vec3d>(m_gradients[k].data()).transpose();
  return sum;
}

}  // namespace supple
