// Whether a triangle and a tetrahedron overlap, by separating axes, as triangle_box.h does for
// boxes: the four sides of the tetrahedron, the triangle's normal, the 18 products of their edges.
// Touching counts as overlap, and shapes apart by less than `touching` times the tetrahedron's size
// count as touching. Degenerate triangles (segments, points) are handled: axes that vanish separate
// nothing.
#pragma once

#include <array>
#include <cmath>

#include "supple/math/types.h"

namespace supple {

/// A tetrahedron made ready for tests against many triangles.
class TetShape {
 public:
  /// What is closer than this, against the longest edge, touches.
  static constexpr double touching = 1e-9;

  /// For positively oriented corners.
  explicit TetShape(const std::array<Vec3d, 4>& corners) : m_corners(corners) {
    const Vec3d &o = corners[0], a = corners[1] - o, b = corners[2] - o, c = corners[3] - o;
    m_edges = {a, b, c, b - a, c - a, c - b};
    double longest = 0;
    for (const Vec3d& edge : m_edges) longest = std::fmax(longest, edge.squaredNorm());
    m_slack = touching * std::sqrt(longest);
    m_normals = {-(b.cross(c) + c.cross(a) + a.cross(b)), b.cross(c), c.cross(a), a.cross(b)};
    for (size_t i = 0; i < 4; ++i) {
      m_normals[i].normalize();
      m_offsets[i] = m_normals[i].dot(i == 0 ? corners[1] : o);
    }
  }

  /// Whether a triangle overlaps or touches the tetrahedron.
  bool overlaps(const std::array<Vec3d, 3>& triangle) const {
    // The sides of the tetrahedron; a corner that is inside all of them settles it.
    std::array<bool, 3> in{true, true, true};
    for (size_t i = 0; i < 4; ++i) {
      bool apart = true;
      for (size_t k = 0; k < 3; ++k) {
        const bool inner = m_normals[i].dot(triangle[k]) - m_offsets[i] >= -m_slack;
        in[k] = in[k] && inner;
        apart = apart && !inner;
      }
      if (apart) return false;
    }
    if (in[0] || in[1] || in[2]) return true;
    const std::array<Vec3d, 3> sides{triangle[1] - triangle[0], triangle[2] - triangle[1],
                                     triangle[0] - triangle[2]};
    if (separated(sides[0].cross(sides[1]), triangle)) return false;
    for (const Vec3d& edge : m_edges)
      for (const Vec3d& side : sides)
        if (separated(edge.cross(side), triangle)) return false;
    return true;
  }

 private:
  bool separated(const Vec3d& axis, const std::array<Vec3d, 3>& triangle) const {
    const Vec3d& o = m_corners[0];
    double low = 0, high = 0;  // of the tetrahedron, from its first corner
    for (size_t i = 0; i < 3; ++i) {
      const double at = axis.dot(m_edges[i]);
      low = std::fmin(low, at);
      high = std::fmax(high, at);
    }
    const double a = axis.dot(triangle[0] - o), b = axis.dot(triangle[1] - o),
                 c = axis.dot(triangle[2] - o), slack = m_slack * axis.norm();
    return std::fmin(a, std::fmin(b, c)) > high + slack ||
           std::fmax(a, std::fmax(b, c)) < low - slack;
  }

  std::array<Vec3d, 4> m_corners;
  std::array<Vec3d, 6> m_edges;    // the first three from the first corner
  std::array<Vec3d, 4> m_normals;  // inwards, of unit length
  std::array<double, 4> m_offsets{};
  double m_slack = 0;
};

}  // namespace supple
