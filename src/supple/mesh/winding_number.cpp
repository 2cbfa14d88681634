#include "supple/mesh/winding_number.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "supple/core/parallel.h"

namespace supple {
namespace {

// Groups of this many triangles are summed one by one.
constexpr int32_t leaf_size = 8;

using Corners = std::array<Vec3d, 3>;

Vec3d area_vector(const Corners& c) { return (c[1] - c[0]).cross(c[2] - c[0]) / 2; }

// Sums half of the signed solid angles of triangles seen from a point:
// tan(Ω/2) = a·(b×c) / (|a||b||c| + (a·b)|c| + (b·c)|a| + (c·a)|b|). [Van Oosterom 1983]
// Angles are those of complex numbers, whose product has their sum: one arc tangent is enough for
// many triangles, as long as each factor stays within a quarter turn, and so the product within a
// half.
class HalfAngles {
 public:
  explicit HalfAngles(const Vec3d& point) : m_point(point) {}

  void add(const Corners& corners) {
    const Vec3d a = corners[0] - m_point, b = corners[1] - m_point, c = corners[2] - m_point;
    const double top = a.dot(b.cross(c));
    if (top == 0) return;
    const double la = a.norm(), lb = b.norm(), lc = c.norm();
    // A quarter of all, so that products of many never grow.
    const double scale = 0.25 / (la * lb * lc);
    const double bottom = 0.25 + (a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb) * scale;
    multiply(top * scale, bottom);
  }

  double sum() const { return m_sum + std::atan2(m_imaginary, m_real); }

 private:
  void multiply(double imaginary, double real) {
    if (!(real > 0)) {
      m_sum += std::atan2(imaginary, real);
      return;
    }
    const double product = m_real * real - m_imaginary * imaginary;
    m_imaginary = m_real * imaginary + m_imaginary * real;
    m_real = product;
    // Before it gets beyond a quarter turn, or too small for a number.
    if (m_real > smallest) return;
    m_sum += std::atan2(m_imaginary, m_real);
    m_real = 1;
    m_imaginary = 0;
  }

  static constexpr double smallest = 1e-60;

  Vec3d m_point;
  double m_sum = 0, m_real = 1, m_imaginary = 0;
};

Corners corners_of(std::span<const Vec3f> positions, const Vec3i& triangle) {
  return {positions[triangle[0]].cast<double>(), positions[triangle[1]].cast<double>(),
          positions[triangle[2]].cast<double>()};
}

}  // namespace

double winding_number(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                      const Vec3d& point) {
  HalfAngles angles(point);
  for (const Vec3i& triangle : triangles) angles.add(corners_of(positions, triangle));
  return angles.sum() / (2 * std::numbers::pi);
}

WindingNumber::WindingNumber(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                             double accuracy)
    : m_triangles(triangles.begin(), triangles.end()), m_accuracy(accuracy) {
  m_corners.reserve(triangles.size());
  for (const Vec3i& triangle : triangles) m_corners.push_back(corners_of(positions, triangle));
  if (!m_corners.empty()) build(0, static_cast<int32_t>(m_corners.size()));
}

// Halves the triangles at the median of their middles along the longest side.
int32_t WindingNumber::build(int32_t begin, int32_t end) {
  const auto index = static_cast<int32_t>(m_nodes.size());
  m_nodes.emplace_back();
  Node node;
  node.begin = begin;
  node.end = end;
  gather(node);
  if (end - begin > leaf_size) {
    const int32_t half = halve(begin, end);
    build(begin, half);
    node.second = build(half, end);
  }
  m_nodes[index] = node;
  return index;
}

// Puts the half of a group with the lower middles first; returns where the other half begins.
int32_t WindingNumber::halve(int32_t begin, int32_t end) {
  const auto middle = [](const Corners& c) -> Vec3d { return c[0] + c[1] + c[2]; };
  Box3d box;
  for (int32_t t = begin; t < end; ++t) box.extend(middle(m_corners[t]));
  int axis = 0;
  box.sizes().maxCoeff(&axis);
  std::vector<std::pair<double, int32_t>> order;
  order.reserve(static_cast<size_t>(end - begin));
  for (int32_t t = begin; t < end; ++t) order.emplace_back(middle(m_corners[t])[axis], t);
  const int32_t half = (end - begin) / 2;
  std::nth_element(order.begin(), order.begin() + half, order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Corners> corners;
  std::vector<Vec3i> triangles;
  for (const auto& [place, t] : order) {
    corners.push_back(m_corners[t]);
    triangles.push_back(m_triangles[t]);
  }
  std::copy(corners.begin(), corners.end(), m_corners.begin() + begin);
  std::copy(triangles.begin(), triangles.end(), m_triangles.begin() + begin);
  return begin + half;
}

void WindingNumber::refit(std::span<const Vec3f> positions) {
  parallel_for(m_nodes.size(), 512, [&](size_t begin, size_t end) {
    for (size_t n = begin; n < end; ++n) {
      Node& node = m_nodes[n];
      if (node.second >= 0) continue;
      for (int32_t t = node.begin; t < node.end; ++t)
        m_corners[t] = corners_of(positions, m_triangles[t]);
      gather(node);
    }
  });
  // Children come after their parents.
  for (auto index = static_cast<int32_t>(m_nodes.size()); index-- > 0;)
    if (m_nodes[index].second >= 0) gather_children(index);
}

// The dipole of a group from those of its halves. Its radius may be more than it must.
void WindingNumber::gather_children(int32_t index) {
  Node& node = m_nodes[index];
  const Node &a = m_nodes[index + 1], &b = m_nodes[node.second];
  node.normal = a.normal + b.normal;
  node.area = a.area + b.area;
  node.centre = node.area > 0 ? Vec3d((a.area * a.centre + b.area * b.centre) / node.area)
                              : Vec3d((a.centre + b.centre) / 2);
  node.radius = std::max((a.centre - node.centre).norm() + a.radius,
                         (b.centre - node.centre).norm() + b.radius);
}

// The dipole of a group: its area vectors, put at the middle of its area.
void WindingNumber::gather(Node& node) const {
  node.normal.setZero();
  node.area = node.radius = 0;
  Vec3d moment = Vec3d::Zero(), middle = Vec3d::Zero();
  for (int32_t t = node.begin; t < node.end; ++t) {
    const Corners& c = m_corners[t];
    const Vec3d vector = area_vector(c), centre = (c[0] + c[1] + c[2]) / 3;
    node.normal += vector;
    node.area += vector.norm();
    moment += vector.norm() * centre;
    middle += centre;
  }
  node.centre = node.area > 0 ? Vec3d(moment / node.area) : Vec3d(middle / (node.end - node.begin));
  for (int32_t t = node.begin; t < node.end; ++t)
    for (const Vec3d& corner : m_corners[t])
      node.radius = std::max(node.radius, (corner - node.centre).norm());
}

double WindingNumber::at(const Vec3d& point) const {
  HalfAngles angles(point);
  double dipoles = 0;
  std::array<int32_t, 64> stack;
  int depth = 0;
  if (!m_nodes.empty()) stack[depth++] = 0;
  while (depth > 0) {
    const int32_t index = stack[--depth];
    const Node& node = m_nodes[index];
    const Vec3d away = node.centre - point;
    const double distance = away.norm();
    if (distance > m_accuracy * node.radius) {
      // Ω ≈ n · r / |r|³. [Barill 2018]
      if (distance > 0) dipoles += node.normal.dot(away) / (distance * distance * distance);
    } else if (node.second < 0) {
      for (int32_t t = node.begin; t < node.end; ++t) angles.add(m_corners[t]);
    } else {
      stack[depth++] = node.second;
      stack[depth++] = index + 1;
    }
  }
  return (2 * angles.sum() + dipoles) / (4 * std::numbers::pi);
}

}  // namespace supple
