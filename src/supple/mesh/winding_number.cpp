#include "supple/mesh/winding_number.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace supple {
namespace {

// Groups of this many triangles are summed one by one.
constexpr int32_t leaf_size = 8;

using Corners = std::array<Vec3d, 3>;

Vec3d area_vector(const Corners& c) { return (c[1] - c[0]).cross(c[2] - c[0]) / 2; }

// Half the signed solid angle of a triangle seen from `point`:
// tan(Ω/2) = a·(b×c) / (|a||b||c| + (a·b)|c| + (b·c)|a| + (c·a)|b|). [Van Oosterom 1983]
double half_solid_angle(const Corners& corners, const Vec3d& point) {
  const Vec3d a = corners[0] - point, b = corners[1] - point, c = corners[2] - point;
  const double la = a.norm(), lb = b.norm(), lc = c.norm();
  const double top = a.dot(b.cross(c));
  if (top == 0) return 0;
  return std::atan2(top, la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb);
}

Corners corners_of(std::span<const Vec3f> positions, const Vec3i& triangle) {
  return {positions[triangle[0]].cast<double>(), positions[triangle[1]].cast<double>(),
          positions[triangle[2]].cast<double>()};
}

}  // namespace

double winding_number(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                      const Vec3d& point) {
  double sum = 0;
  for (const Vec3i& triangle : triangles)
    sum += half_solid_angle(corners_of(positions, triangle), point);
  return sum / (2 * std::numbers::pi);
}

WindingNumber::WindingNumber(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                             double accuracy)
    : m_accuracy(accuracy) {
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
    const auto middle = [](const Corners& c) -> Vec3d { return c[0] + c[1] + c[2]; };
    Box3d box;
    for (int32_t t = begin; t < end; ++t) box.extend(middle(m_corners[t]));
    int axis = 0;
    box.sizes().maxCoeff(&axis);
    const int32_t half = begin + (end - begin) / 2;
    std::nth_element(
        m_corners.begin() + begin, m_corners.begin() + half, m_corners.begin() + end,
        [&](const Corners& a, const Corners& b) { return middle(a)[axis] < middle(b)[axis]; });
    build(begin, half);
    node.second = build(half, end);
  }
  m_nodes[index] = node;
  return index;
}

// The dipole of a group: its area vectors, put at the middle of its area.
void WindingNumber::gather(Node& node) const {
  double area = 0;
  Vec3d moment = Vec3d::Zero(), middle = Vec3d::Zero();
  for (int32_t t = node.begin; t < node.end; ++t) {
    const Corners& c = m_corners[t];
    const Vec3d vector = area_vector(c), centre = (c[0] + c[1] + c[2]) / 3;
    node.normal += vector;
    area += vector.norm();
    moment += vector.norm() * centre;
    middle += centre;
  }
  node.centre = area > 0 ? Vec3d(moment / area) : Vec3d(middle / (node.end - node.begin));
  for (int32_t t = node.begin; t < node.end; ++t)
    for (const Vec3d& corner : m_corners[t])
      node.radius = std::max(node.radius, (corner - node.centre).norm());
}

double WindingNumber::at(const Vec3d& point) const {
  double angles = 0, dipoles = 0;
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
      for (int32_t t = node.begin; t < node.end; ++t)
        angles += half_solid_angle(m_corners[t], point);
    } else {
      stack[depth++] = node.second;
      stack[depth++] = index + 1;
    }
  }
  return (2 * angles + dipoles) / (4 * std::numbers::pi);
}

}  // namespace supple
