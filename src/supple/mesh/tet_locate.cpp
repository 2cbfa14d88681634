#include "supple/mesh/tet_locate.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "supple/core/parallel.h"

namespace supple {
namespace {

constexpr int32_t leaf_size = 4;

// Squared distance of the origin from the triangle abc: that to its plane where the foot is inside,
// else that to the nearest side.
double squared_distance(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const Vec3d n = (b - a).cross(c - a);
  const double area = n.squaredNorm();
  if (area > 0 && n.dot(a.cross(b)) >= 0 && n.dot(b.cross(c)) >= 0 && n.dot(c.cross(a)) >= 0) {
    const double height = n.dot(a);
    return height * height / area;
  }
  const auto to_side = [](const Vec3d& p, const Vec3d& q) {
    const Vec3d way = q - p;
    const double length = way.squaredNorm();
    const double t = length > 0 ? std::clamp(-p.dot(way) / length, 0.0, 1.0) : 0.0;
    return (p + t * way).squaredNorm();
  };
  return std::min({to_side(a, b), to_side(b, c), to_side(c, a)});
}

}  // namespace

Eigen::Vector4d tet_weights(const TetMesh& mesh, const Vec4i& tet, const Vec3d& point) {
  const Vec3d& o = mesh.positions[tet[0]];
  const Vec3d a = mesh.positions[tet[1]] - o, b = mesh.positions[tet[2]] - o,
              c = mesh.positions[tet[3]] - o, p = point - o;
  const double volume = a.dot(b.cross(c));
  if (volume == 0) return Eigen::Vector4d::Constant(0.25);
  // p = u a + v b + w c by Cramer's rule.
  const double u = p.dot(b.cross(c)) / volume, v = a.dot(p.cross(c)) / volume,
               w = a.dot(b.cross(p)) / volume;
  return {1 - u - v - w, u, v, w};
}

// The best found so far: the largest smallest weight of those that hold the point, or else the
// smallest distance.
struct TetTree::Search {
  Vec3d point;
  TetLocation found;
  double distance = std::numeric_limits<double>::infinity();  // squared; 0 when held
  double weight = -std::numeric_limits<double>::infinity();   // smallest, of the one that holds it
  bool done = false;                                          // no other can be better
};

TetTree::TetTree(const TetMesh& mesh) : m_mesh(mesh), m_order(mesh.tets.size()) {
  std::iota(m_order.begin(), m_order.end(), 0);
  std::vector<Vec3d> middles;
  middles.reserve(mesh.tets.size());
  for (size_t t = 0; t < mesh.tets.size(); ++t)
    middles.push_back(tet_box(static_cast<int32_t>(t)).center());
  if (!m_order.empty()) build(0, static_cast<int32_t>(m_order.size()), middles);
}

Box3d TetTree::tet_box(int32_t tet) const {
  Box3d box;
  for (int k = 0; k < 4; ++k) box.extend(m_mesh.positions[m_mesh.tets[tet][k]]);
  return box;
}

// Halves the tetrahedra at the median of their middles along the longest side.
int32_t TetTree::build(int32_t begin, int32_t end, std::span<const Vec3d> middles) {
  const auto index = static_cast<int32_t>(m_nodes.size());
  m_nodes.emplace_back();
  Node node;
  node.begin = begin;
  node.end = end;
  Box3d box;
  for (int32_t i = begin; i < end; ++i) {
    node.box.extend(tet_box(m_order[i]));
    box.extend(middles[m_order[i]]);
  }
  if (end - begin > leaf_size) {
    int axis = 0;
    box.sizes().maxCoeff(&axis);
    const int32_t half = begin + (end - begin) / 2;
    std::nth_element(
        m_order.begin() + begin, m_order.begin() + half, m_order.begin() + end,
        [&](int32_t a, int32_t b) {
          return middles[a][axis] != middles[b][axis] ? middles[a][axis] < middles[b][axis] : a < b;
        });
    build(begin, half, middles);
    node.second = build(half, end, middles);
  }
  m_nodes[index] = node;
  return index;
}

void TetTree::search(int32_t index, Search& search) const {
  const Node& node = m_nodes[index];
  if (search.done || node.box.squaredExteriorDistance(search.point) > search.distance) return;
  if (node.second >= 0) {
    const int32_t first = index + 1;
    const bool swap = m_nodes[node.second].box.squaredExteriorDistance(search.point) <
                      m_nodes[first].box.squaredExteriorDistance(search.point);
    this->search(swap ? node.second : first, search);
    this->search(swap ? first : node.second, search);
    return;
  }
  for (int32_t i = node.begin; i < node.end; ++i) {
    const int32_t t = m_order[i];
    const Eigen::Vector4d weights = tet_weights(m_mesh, m_mesh.tets[t], search.point);
    const double least = weights.minCoeff();
    if (least >= least_inside_weight) {
      if (least > search.weight) {
        search.found = {t, weights};
        search.distance = 0;
        search.weight = least;
      }
      search.done = search.done || least >= 0;
    } else if (search.distance > 0) {
      std::array<Vec3d, 4> x;
      for (int k = 0; k < 4; ++k) x[k] = m_mesh.positions[m_mesh.tets[t][k]] - search.point;
      const double distance =
          std::min({squared_distance(x[1], x[2], x[3]), squared_distance(x[0], x[3], x[2]),
                    squared_distance(x[0], x[1], x[3]), squared_distance(x[0], x[2], x[1])});
      if (distance < search.distance) {
        search.found = {t, weights};
        search.distance = distance;
      }
    }
  }
}

TetLocation TetTree::locate(const Vec3d& point) const {
  Search result{.point = point, .found = {}};
  if (!m_nodes.empty()) search(0, result);
  return result.found;
}

std::vector<TetLocation> locate_points(const TetMesh& mesh, std::span<const Vec3d> points) {
  const TetTree tree(mesh);
  std::vector<TetLocation> locations(points.size());
  parallel_for(points.size(), 256, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) locations[i] = tree.locate(points[i]);
  });
  return locations;
}

}  // namespace supple
