#include "supple/mesh/tet_placing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "supple/mesh/tet_locate.h"
#include "supple/mesh/tet_quality.h"

namespace supple {
namespace {

// Angles above this, in degrees, are good enough not to be looked at again.
constexpr double margin = 10;

// Points nearer than this to a node that is held, in spacings, share it.
constexpr double sharing = 0.25;

// The sides of a tetrahedron opposite each corner, seen from outside.
constexpr int sides[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

}  // namespace

TetPlacing::TetPlacing(TetMesh mesh, double spacing, double smallest_angle)
    : m_mesh(std::move(mesh)),
      m_spacing(spacing),
      m_smallest(smallest_angle),
      m_goal(smallest_angle + margin),
      m_held(m_mesh.positions.size(), 0),
      m_gone(m_mesh.tets.size(), 0),
      m_of_node(m_mesh.positions.size()) {
  for (size_t t = 0; t < m_mesh.tets.size(); ++t) link(static_cast<int32_t>(t));
  std::vector<int32_t> boundary;
  boundary_surface(m_mesh, &boundary);
  for (const int32_t node : boundary) m_held[node] = 1;
}

void TetPlacing::link(int32_t tet) {
  m_gone[tet] = 0;
  for (int k = 0; k < 4; ++k) m_of_node[m_mesh.tets[tet][k]].push_back(tet);
}

void TetPlacing::unlink(int32_t tet) {
  m_gone[tet] = 1;
  for (int k = 0; k < 4; ++k) std::erase(m_of_node[m_mesh.tets[tet][k]], tet);
}

double TetPlacing::quality(const Vec4i& tet) const { return tet_quality(tet_corners(m_mesh, tet)); }

double TetPlacing::worst_around(int32_t node) const {
  double worst = 180;
  for (const int32_t tet : m_of_node[node]) worst = std::min(worst, quality(m_mesh.tets[tet]));
  return worst;
}

double TetPlacing::worst_among(std::span<const int32_t> nodes) const {
  double worst = 180;
  for (const int32_t node : nodes) worst = std::min(worst, worst_around(node));
  return worst;
}

// Pattern search: steps in fourteen directions, halved when none of them helps.
bool TetPlacing::improve(int32_t node, double goal, Undo& undo) {
  static const std::vector<Vec3d> directions = [] {
    std::vector<Vec3d> result;
    for (int x = -1; x <= 1; ++x)
      for (int y = -1; y <= 1; ++y)
        for (int z = -1; z <= 1; ++z)
          if (const int steps = std::abs(x) + std::abs(y) + std::abs(z); steps == 1 || steps == 3)
            result.push_back(Vec3d(x, y, z).normalized());
    return result;
  }();
  const double before = worst_around(node);
  if (before >= goal) return false;
  const Vec3d start = m_mesh.positions[node];
  double best = before;
  double step = 0.2;  // in spacings
  for (int steps = 0; step > 0.01 && steps < 40; ++steps) {
    const Vec3d from = m_mesh.positions[node];
    Vec3d to = from;
    for (const Vec3d& direction : directions) {
      m_mesh.positions[node] = from + step * m_spacing * direction;
      // Stops at the first tetrahedron that is no better.
      double worst = 180;
      for (const int32_t tet : m_of_node[node]) {
        worst = std::min(worst, quality(m_mesh.tets[tet]));
        if (worst <= best) break;
      }
      if (worst > best) {
        best = worst;
        to = m_mesh.positions[node];
      }
    }
    m_mesh.positions[node] = to;
    if (best >= goal) break;
    if (to == from) step /= 2;
  }
  if (best <= before) {
    m_mesh.positions[node] = start;
    return false;
  }
  undo.emplace_back(node, start);
  return true;
}

void TetPlacing::relax(std::span<const int32_t> nodes, double goal, int sweeps, Undo& undo) {
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    bool moved = false;
    for (const int32_t node : nodes)
      if (!m_held[node] && improve(node, goal, undo)) moved = true;
    if (!moved) return;
  }
}

// The node and those within so many edges of it, near ones first.
std::vector<int32_t> TetPlacing::nodes_near(int32_t node, int rings) const {
  std::vector<int32_t> nodes{node};
  size_t from = 0;
  for (int count = 0; count < rings; ++count) {
    const size_t end = nodes.size();
    for (; from < end; ++from)
      for (const int32_t tet : m_of_node[nodes[from]])
        for (int k = 0; k < 4; ++k) {
          const int32_t other = m_mesh.tets[tet][k];
          if (std::find(nodes.begin(), nodes.end(), other) == nodes.end()) nodes.push_back(other);
        }
  }
  return nodes;
}

// Moves a node to a point and makes room; undoes it when that makes bad tetrahedra.
bool TetPlacing::move(int32_t node, const Vec3d& point) {
  const std::vector<int32_t> near = nodes_near(node, 2);
  const double before = worst_among(near);
  Undo undo{{node, m_mesh.positions[node]}};
  m_mesh.positions[node] = point;
  m_held[node] = 1;
  relax(near, m_goal, 6, undo);
  if (worst_among(near) >= std::min(m_smallest, before)) return true;
  for (size_t i = undo.size(); i-- > 0;) m_mesh.positions[undo[i].first] = undo[i].second;
  m_held[node] = 0;
  return false;
}

int32_t TetPlacing::place(const Vec3d& point) {
  // Near nodes, the nearest first.
  constexpr size_t tries = 3;
  std::vector<std::pair<double, int32_t>> near;
  for (size_t n = 0; n < m_mesh.positions.size(); ++n) {
    const double distance = (m_mesh.positions[n] - point).norm() / m_spacing;
    if (distance < 1) near.emplace_back(distance, static_cast<int32_t>(n));
  }
  std::sort(near.begin(), near.end());
  for (const auto& [distance, node] : near)
    if (m_held[node] && distance < sharing) return -1;
  std::erase_if(near, [&](const auto& entry) { return m_held[entry.second] != 0; });
  if (near.size() > tries) near.resize(tries);
  for (const auto& [distance, node] : near)
    if (move(node, point)) return node;
  return insert(point);
}

std::vector<int32_t> TetPlacing::tets_holding(const Vec3d& point) const {
  std::vector<int32_t> found;
  for (size_t t = 0; t < m_mesh.tets.size(); ++t) {
    if (m_gone[t]) continue;
    const Vec4i& tet = m_mesh.tets[t];
    if ((m_mesh.positions[tet[0]] - point).squaredNorm() > 16 * m_spacing * m_spacing) continue;
    if (tet_weights(m_mesh, tet, point).minCoeff() >= least_inside_weight)
      found.push_back(static_cast<int32_t>(t));
  }
  return found;
}

// The tetrahedra around an edge.
std::vector<int32_t> TetPlacing::ring(int32_t a, int32_t b) const {
  std::vector<int32_t> around;
  for (const int32_t tet : m_of_node[a])
    if ((m_mesh.tets[tet].array() == b).any()) around.push_back(tet);
  return around;
}

// The tetrahedra around one whose circumspheres hold a point.
std::vector<int32_t> TetPlacing::sphere_cavity(int32_t first, const Vec3d& point) const {
  const auto in_sphere = [&](int32_t tet) {
    const std::array<Vec3d, 4> x = tet_corners(m_mesh, m_mesh.tets[tet]);
    const Vec3d a = x[1] - x[0], b = x[2] - x[0], c = x[3] - x[0];
    const double volume = a.dot(b.cross(c));
    const Vec3d centre = (a.squaredNorm() * b.cross(c) + b.squaredNorm() * c.cross(a) +
                          c.squaredNorm() * a.cross(b)) /
                         (2 * volume);
    return (point - x[0] - centre).squaredNorm() < centre.squaredNorm();
  };
  std::vector<int32_t> cavity{first};
  for (size_t i = 0; i < cavity.size(); ++i) {
    const Vec4i tet = m_mesh.tets[cavity[i]];
    for (const auto& side : sides)
      for (const int32_t other : ring(tet[side[0]], tet[side[1]]))
        if ((m_mesh.tets[other].array() == tet[side[2]]).any() &&
            std::find(cavity.begin(), cavity.end(), other) == cavity.end() && in_sphere(other))
          cavity.push_back(other);
  }
  return cavity;
}

// Tetrahedra from the outer sides of a cavity to a node.
std::vector<Vec4i> TetPlacing::star(std::span<const int32_t> cavity, int32_t node) const {
  std::map<std::array<int32_t, 3>, std::pair<int, Vec3i>> outer;
  for (const int32_t tet : cavity)
    for (const auto& side : sides) {
      const Vec4i& t = m_mesh.tets[tet];
      const Vec3i nodes(t[side[0]], t[side[1]], t[side[2]]);
      std::array<int32_t, 3> key{nodes[0], nodes[1], nodes[2]};
      std::sort(key.begin(), key.end());
      auto& [count, kept] = outer[key];
      ++count;
      kept = nodes;
    }
  std::vector<Vec4i> tets;
  for (const auto& [key, side] : outer)
    if (side.first == 1) tets.emplace_back(node, side.second[0], side.second[1], side.second[2]);
  return tets;
}

// Whether all tetrahedra around some node are in a cavity, so that it would be lost.
bool TetPlacing::swallows(std::span<const int32_t> cavity) const {
  std::map<int32_t, size_t> counts;
  for (const int32_t tet : cavity)
    for (int k = 0; k < 4; ++k) ++counts[m_mesh.tets[tet][k]];
  return std::any_of(counts.begin(), counts.end(), [&](const auto& entry) {
    return m_of_node[entry.first].size() == entry.second;
  });
}

// Of the cavities around a point (one tetrahedron, those around one of its edges, those whose
// spheres hold the point) takes the one whose star is best.
int32_t TetPlacing::insert(const Vec3d& point) {
  const std::vector<int32_t> holding = tets_holding(point);
  if (holding.empty()) return -1;
  const auto node = static_cast<int32_t>(m_mesh.positions.size());
  std::vector<std::vector<int32_t>> cavities{{holding[0]}, holding};
  const Vec4i first = m_mesh.tets[holding[0]];
  for (int a = 0; a < 4; ++a)
    for (int b = a + 1; b < 4; ++b) cavities.push_back(ring(first[a], first[b]));
  cavities.push_back(sphere_cavity(holding[0], point));
  m_mesh.positions.push_back(point);
  double best = 0;
  std::vector<int32_t> cavity;
  std::vector<Vec4i> added;
  for (const std::vector<int32_t>& tried : cavities) {
    if (swallows(tried)) continue;
    const std::vector<Vec4i> tets = star(tried, node);
    double worst = 180;
    for (const Vec4i& tet : tets) worst = std::min(worst, quality(tet));
    if (worst > best) {
      best = worst;
      cavity = tried;
      added = tets;
    }
  }
  if (cavity.empty()) {
    m_mesh.positions.pop_back();
    return -1;
  }
  // Puts the star in and makes room around it.
  const auto end = static_cast<int32_t>(m_mesh.tets.size());
  m_of_node.emplace_back();
  m_held.push_back(1);
  for (const int32_t tet : cavity) unlink(tet);
  for (const Vec4i& tet : added) add(tet);
  const std::vector<int32_t> near = nodes_near(node, 2);
  Undo undo;
  relax(near, m_goal, 8, undo);
  if (worst_among(near) >= m_smallest) return node;
  for (size_t i = undo.size(); i-- > 0;) m_mesh.positions[undo[i].first] = undo[i].second;
  for (auto tet = static_cast<int32_t>(m_mesh.tets.size()); tet-- > end;) unlink(tet);
  m_mesh.tets.resize(static_cast<size_t>(end));
  m_gone.resize(static_cast<size_t>(end));
  if (!m_chosen.empty()) m_chosen.resize(static_cast<size_t>(end));
  for (const int32_t tet : cavity) link(tet);
  m_of_node.pop_back();
  m_held.pop_back();
  m_mesh.positions.pop_back();
  return -1;
}

void TetPlacing::smooth(double goal, int sweeps) {
  Undo undo;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    const bool changed = reconnect(goal);
    std::vector<int32_t> nodes;
    for (size_t t = 0; t < m_mesh.tets.size(); ++t) {
      if (m_gone[t] || (!m_chosen.empty() && !m_chosen[t]) || quality(m_mesh.tets[t]) >= goal)
        continue;
      for (int k = 0; k < 4; ++k) nodes.push_back(m_mesh.tets[t][k]);
    }
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    const size_t before = undo.size();
    relax(nodes, goal, 1, undo);
    if (!changed && undo.size() == before) return;
  }
}

TetMesh TetPlacing::mesh() const {
  TetMesh result;
  result.positions = m_mesh.positions;
  for (size_t t = 0; t < m_mesh.tets.size(); ++t)
    if (!m_gone[t]) result.tets.push_back(m_mesh.tets[t]);
  return result;
}

}  // namespace supple
