// What a lattice body shows of itself: skin, maps, cells, facts. lattice_body.cpp moves it.
#include "supple/math/flat.h"
#include "supple/sim/lattice_body.h"

namespace supple {

// Points of the flesh move with their cells, also what blend shapes add to them; where the scene
// wants no flesh, and for props, the rig decides.
void LatticeBody::skin(BodyFrame& out) const {
  const std::vector<Vec3d> nodes = node_positions();
  std::vector<Vec3f> points(m_model.embedding.size());
  m_model.embedding.interpolate(nodes, points);
  const std::span<const float> flesh =
      m_model.attachment ? m_model.attachment->flesh() : std::span<const float>();
  std::vector<Vec3f> shaped = m_character.skin.positions;
  add_blend_shapes(m_character.shapes, m_now.pose.shape_weights, shaped);
  out.positions.resize(shaped.size());
  parallel_for(shaped.size(), 2048, [&](size_t begin, size_t end) {
    for (size_t v = begin; v < end; ++v) {
      const int32_t point = m_model.skin.point_of_vertex[v];
      if (point < 0) {
        out.positions[v] = m_plain[v];
        continue;
      }
      const auto p = static_cast<size_t>(point);
      out.positions[v] = points[p];
      const Vec3f added = shaped[v] - m_character.skin.positions[v];
      if (!added.isZero(0))
        out.positions[v] +=
            (cell_gradient(nodes, m_model.embedding.ties()[p].nodes, m_model.solid.spacing) *
             added.cast<double>())
                .cast<float>();
      if (!flesh.empty())
        out.positions[v] = m_plain[v] + flesh[p] * (out.positions[v] - m_plain[v]);
    }
  });
  add_maps(nodes, out);
}

void LatticeBody::add_maps(std::span<const Vec3d> nodes, BodyFrame& out) const {
  // Stretch as the mean of the cells around a node.
  std::vector<float> stretch(nodes.size(), 0), shares(nodes.size(), 0);
  for (size_t c = 0; c < m_model.mesh.cells.size(); ++c)
    for (const int32_t node : m_model.mesh.corners[c]) {
      stretch[static_cast<size_t>(node)] += m_cell_stretch[c] - 1;
      shares[static_cast<size_t>(node)] += 1;
    }
  for (size_t n = 0; n < nodes.size(); ++n) stretch[n] /= shares[n];
  std::vector<float> of_points(m_model.embedding.size());
  m_model.embedding.interpolate(stretch, of_points);
  std::vector<float> map(out.positions.size(), 0), distance(out.positions.size(), 0);
  for (size_t v = 0; v < map.size(); ++v) {
    const int32_t point = m_model.skin.point_of_vertex[v];
    if (point >= 0) map[v] = of_points[static_cast<size_t>(point)];
    if (!m_plain.empty()) distance[v] = (out.positions[v] - m_plain[v]).norm();
  }
  std::vector<Vec3f> shown;
  shown.reserve(nodes.size());
  for (const Vec3d& p : nodes) shown.push_back(p.cast<float>());
  Chunk extras;
  extras.add<float>("map/stretch", map);
  if (m_model.attachment) extras.add<float>("map/distance", distance);
  if (m_contact) extras.add<float>("map/contact", contact_map());
  extras.add<float>("mesh/nodes", as_floats(shown), 3);
  if (m_contact && !m_contact->colliders().triangles().empty())
    extras.add<float>("collider/vertices",
                      as_floats(m_contact->colliders().vertices({m_now.moment, m_now.joints})), 3);
  for (const ChunkArray& array : extras.arrays()) out.extras.push_back(array);
}

// How deep the skin was before it was pushed out: of the contact points, and none elsewhere; each
// vertex shows the deepest point of its cell.
std::vector<float> LatticeBody::contact_map() const {
  std::vector<float> nodes(m_model.rest.size(), 0);
  const auto points = m_contact->points();
  for (size_t p = 0; p < points.size(); ++p) {
    const float depth = m_contact->depths()[p];
    if (depth <= 0) continue;
    for (const int32_t node : m_contact->ties()[p].nodes)
      nodes[static_cast<size_t>(node)] = std::max(nodes[static_cast<size_t>(node)], depth);
  }
  std::vector<float> of_points(m_model.embedding.size());
  m_model.embedding.interpolate(nodes, of_points);
  std::vector<float> map(m_character.skin.positions.size(), 0);
  for (size_t v = 0; v < map.size(); ++v) {
    const int32_t point = m_model.skin.point_of_vertex[v];
    if (point >= 0) map[v] = std::max(0.0f, of_points[static_cast<size_t>(point)]);
  }
  return map;
}

std::vector<ChunkArray> LatticeBody::shown_once() const {
  const auto& corners = m_model.mesh.corners;
  Chunk chunk;
  chunk.add<int32_t>("mesh/hexahedra",
                     std::span<const int32_t>(corners.data()->data(), 8 * corners.size()), 8);
  if (m_contact && !m_contact->colliders().triangles().empty()) {
    const std::vector<Vec3i>& triangles = m_contact->colliders().triangles();
    chunk.add<int32_t>("collider/triangles",
                       std::span<const int32_t>(triangles.data()->data(), 3 * triangles.size()), 3);
  }
  return chunk.arrays();
}

std::vector<BodyFact> LatticeBody::facts() const {
  const size_t vectors = 8 * m_positions.size() * sizeof(double);
  const size_t bytes = m_system->hierarchy().bytes() + vectors + m_model.embedding.bytes() +
                       m_model.mesh.cells.size() * (sizeof(LatticePlace) + 32 + 20) +
                       m_model.mesh.nodes.size() * (sizeof(LatticePlace) + 32);
  return {{"cells", static_cast<double>(m_model.mesh.cells.size()), ""},
          {"nodes", static_cast<double>(m_model.mesh.nodes.size()), ""},
          {"spacing", m_model.solid.spacing, "m"},
          {"levels", static_cast<double>(m_system->hierarchy().levels()), ""},
          {"memory", static_cast<double>(bytes) / 1e6, "MB"},
          {"metres per unit", m_model.scale.metres_per_unit, ""}};
}

}  // namespace supple
