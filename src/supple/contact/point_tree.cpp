#include "supple/contact/point_tree.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace supple {
namespace {

constexpr int32_t leaf_points = 8;
constexpr double infinity = std::numeric_limits<double>::infinity();
const Box3d everywhere(Vec3d::Constant(-infinity), Vec3d::Constant(infinity));

}  // namespace

PointTree::PointTree(std::span<const Vec3d> points) : m_order(points.size()) {
  std::iota(m_order.begin(), m_order.end(), 0);
  if (points.empty()) return;
  split(points, 0, static_cast<int32_t>(points.size()));
  refit(points);
}

void PointTree::split(std::span<const Vec3d> points, int32_t begin, int32_t end) {
  const size_t node = m_nodes.size();
  m_nodes.push_back({Box3d(), begin, end});
  if (end - begin > leaf_points) {
    Box3d box;
    for (int32_t i = begin; i < end; ++i)
      box.extend(points[static_cast<size_t>(m_order[static_cast<size_t>(i)])]);
    int axis = 0;
    box.sizes().maxCoeff(&axis);
    const int32_t middle = begin + (end - begin) / 2;
    const auto less = [&](int32_t a, int32_t b) {
      const double left = points[static_cast<size_t>(a)][axis],
                   right = points[static_cast<size_t>(b)][axis];
      return left != right ? left < right : a < b;
    };
    std::nth_element(m_order.begin() + begin, m_order.begin() + middle, m_order.begin() + end,
                     less);
    split(points, begin, middle);
    m_nodes[node].second = static_cast<int32_t>(m_nodes.size());
    split(points, middle, end);
  }
  m_nodes[node].past = static_cast<int32_t>(m_nodes.size());
}

// Children come after their parents: from the back, they are ready when they are needed.
void PointTree::refit(std::span<const Vec3d> points) {
  for (size_t n = m_nodes.size(); n-- > 0;) {
    Node& node = m_nodes[n];
    if (node.second >= 0) {
      node.box = m_nodes[n + 1].box.merged(m_nodes[static_cast<size_t>(node.second)].box);
      continue;
    }
    node.box.setEmpty();
    for (int32_t i = node.begin; i < node.end; ++i) {
      const Vec3d& point = points[static_cast<size_t>(m_order[static_cast<size_t>(i)])];
      // A point that is nowhere makes boxes that are never passed over.
      node.box.extend(point.allFinite() ? Box3d(point) : everywhere);
    }
  }
}

size_t PointTree::find_near(const Collider& collider, std::span<const Vec3d> points, double reach,
                            std::vector<int32_t>& out, const Affine& placed) const {
  size_t asked = 0;
  const double scale = placed.linear().col(0).norm();
  const double far = reach + 2 * collider.inaccuracy();  // of the centre's distance, of a point's
  for (size_t n = 0; n < m_nodes.size();) {
    const Node& node = m_nodes[n];
    // No point of a ball is nearer than its centre by more than the radius.
    const Vec3d centre = placed * node.box.center();
    ++asked;
    if (collider.distance(centre) - scale / 2 * node.box.diagonal().norm() >= far) {
      n = static_cast<size_t>(node.past);
      continue;
    }
    ++n;
    if (node.second >= 0) continue;
    asked += static_cast<size_t>(node.end - node.begin);
    for (int32_t i = node.begin; i < node.end; ++i) {
      const int32_t point = m_order[static_cast<size_t>(i)];
      if (collider.distance(placed * points[static_cast<size_t>(point)]) < reach)
        out.push_back(point);
    }
  }
  return asked;
}

}  // namespace supple
