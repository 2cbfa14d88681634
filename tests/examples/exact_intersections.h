// Self-intersections of triangle meshes, decided exactly: vertices are put on a grid of 15 nm, and
// all signs come from integers. Touching counts; sharing a vertex or an edge does not.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "supple/mesh/triangle_mesh.h"

namespace supple::test {

using Whole = __int128;
using GridPoint = std::array<int64_t, 3>;

inline int sign(Whole value) { return (value > 0) - (value < 0); }

/// On which side of the plane through a, b, c the point d is.
inline int orientation(const GridPoint& a, const GridPoint& b, const GridPoint& c,
                       const GridPoint& d) {
  Whole m[3][3];
  const GridPoint* rows[3] = {&a, &b, &c};
  for (int r = 0; r < 3; ++r)
    for (int k = 0; k < 3; ++k) m[r][k] = (*rows[r])[k] - d[k];
  return sign(m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
              m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
              m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]));
}

/// The same in the plane of two axes, for a line.
inline int orientation(const GridPoint& a, const GridPoint& b, const GridPoint& c, int x, int y) {
  return sign(Whole(b[x] - a[x]) * (c[y] - a[y]) - Whole(b[y] - a[y]) * (c[x] - a[x]));
}

/// Two axes of a plane in which the triangle does not vanish; false when it has no area.
inline bool shadow(const std::array<GridPoint, 3>& t, int& x, int& y) {
  for (int axis = 0; axis < 3; ++axis) {
    x = (axis + 1) % 3;
    y = (axis + 2) % 3;
    if (orientation(t[0], t[1], t[2], x, y) != 0) return true;
  }
  return false;
}

/// Whether two segments in one plane meet.
inline bool segments_meet(const GridPoint& p, const GridPoint& q, const GridPoint& a,
                          const GridPoint& b, int x, int y) {
  const int pa = orientation(p, q, a, x, y), pb = orientation(p, q, b, x, y);
  const int ap = orientation(a, b, p, x, y), aq = orientation(a, b, q, x, y);
  if (pa * pb > 0 || ap * aq > 0) return false;
  if (pa || pb || ap || aq) return true;
  for (const int k : {x, y})
    if (std::max(p[k], q[k]) < std::min(a[k], b[k]) || std::max(a[k], b[k]) < std::min(p[k], q[k]))
      return false;
  return true;
}

/// Whether a segment meets a triangle.
inline bool segment_meets_triangle(const GridPoint& p, const GridPoint& q,
                                   const std::array<GridPoint, 3>& t) {
  const int sp = orientation(t[0], t[1], t[2], p), sq = orientation(t[0], t[1], t[2], q);
  if (sp * sq > 0) return false;
  if (sp == 0 && sq == 0) {
    int x, y;
    if (!shadow(t, x, y)) return false;
    for (int k = 0; k < 3; ++k)
      if (segments_meet(p, q, t[k], t[(k + 1) % 3], x, y)) return true;
    int inside = 0;
    for (int k = 0; k < 3; ++k) inside += orientation(t[k], t[(k + 1) % 3], p, x, y);
    return std::abs(inside) == 3;
  }
  const int s[3] = {orientation(p, q, t[0], t[1]), orientation(p, q, t[1], t[2]),
                    orientation(p, q, t[2], t[0])};
  return (s[0] >= 0 && s[1] >= 0 && s[2] >= 0) || (s[0] <= 0 && s[1] <= 0 && s[2] <= 0);
}

/// Finds pairs of triangles that meet without being neighbours, or that fold onto each other.
class IntersectionFinder {
 public:
  explicit IntersectionFinder(const TriangleMesh& mesh) : m_mesh(mesh) {
    for (const Vec3f& p : mesh.positions)
      m_points.push_back({std::llround(double{p[0]} * 0x1p26), std::llround(double{p[1]} * 0x1p26),
                          std::llround(double{p[2]} * 0x1p26)});
    double edges = 0;
    for (const Vec3i& t : mesh.triangles)
      edges += double{(mesh.positions[t[0]] - mesh.positions[t[1]]).norm()};
    const double mean = edges / static_cast<double>(mesh.triangles.size());
    m_cell = std::max<int64_t>(1, std::llround(2 * mean * 0x1p26));
  }

  /// All pairs that meet.
  std::vector<std::pair<int, int>> find() {
    struct Entry {
      GridPoint cell;
      int triangle;
    };
    std::vector<Entry> entries;
    for (int t = 0; t < static_cast<int>(m_mesh.triangles.size()); ++t) {
      const auto [low, high] = box(t);
      for (int64_t i = cell(low[0]); i <= cell(high[0]); ++i)
        for (int64_t j = cell(low[1]); j <= cell(high[1]); ++j)
          for (int64_t k = cell(low[2]); k <= cell(high[2]); ++k) entries.push_back({{i, j, k}, t});
    }
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.cell < b.cell; });
    std::vector<std::pair<int, int>> found;
    for (size_t begin = 0, end; begin < entries.size(); begin = end) {
      for (end = begin; end < entries.size() && entries[end].cell == entries[begin].cell;) ++end;
      for (size_t a = begin; a < end; ++a)
        for (size_t b = a + 1; b < end; ++b)
          if (is_home(entries[a].triangle, entries[b].triangle, entries[begin].cell) &&
              meet(entries[a].triangle, entries[b].triangle))
            found.emplace_back(entries[a].triangle, entries[b].triangle);
    }
    return found;
  }

 private:
  int64_t cell(int64_t place) const {
    return place >= 0 ? place / m_cell : -((-place + m_cell - 1) / m_cell);
  }

  std::pair<GridPoint, GridPoint> box(int t) const {
    GridPoint low = m_points[m_mesh.triangles[t][0]], high = low;
    for (int c = 1; c < 3; ++c)
      for (int k = 0; k < 3; ++k) {
        low[k] = std::min(low[k], m_points[m_mesh.triangles[t][c]][k]);
        high[k] = std::max(high[k], m_points[m_mesh.triangles[t][c]][k]);
      }
    return {low, high};
  }

  // Whether the boxes of two triangles overlap, and the overlap's first corner lies in this cell:
  // every pair has one home.
  bool is_home(int a, int b, const GridPoint& here) const {
    const auto [low_a, high_a] = box(a);
    const auto [low_b, high_b] = box(b);
    for (int k = 0; k < 3; ++k) {
      const int64_t low = std::max(low_a[k], low_b[k]);
      if (low > std::min(high_a[k], high_b[k]) || cell(low) != here[k]) return false;
    }
    return true;
  }

  // Moves corners shared with the other triangle to the front; returns how many there are.
  static int shared_first(Vec3i& t, const Vec3i& other) {
    int shared = 0;
    for (int c = 0; c < 3; ++c)
      if ((other.array() == t[c]).any()) std::swap(t[shared++], t[c]);
    return shared;
  }

  bool meet(int first, int second) const {
    Vec3i a = m_mesh.triangles[first], b = m_mesh.triangles[second];
    const int shared = shared_first(a, b);
    shared_first(b, a);
    std::array<GridPoint, 3> p, q;
    for (int c = 0; c < 3; ++c) {
      p[c] = m_points[a[c]];
      q[c] = m_points[b[c]];
    }
    if (shared == 3) return true;
    if (shared == 2) {
      int x, y;
      return orientation(p[0], p[1], p[2], q[2]) == 0 && shadow(p, x, y) &&
             orientation(p[0], p[1], p[2], x, y) == orientation(p[0], p[1], q[2], x, y);
    }
    if (shared == 1)
      return segment_meets_triangle(p[1], p[2], q) || segment_meets_triangle(q[1], q[2], p);
    for (int c = 0; c < 3; ++c)
      if (segment_meets_triangle(p[c], p[(c + 1) % 3], q) ||
          segment_meets_triangle(q[c], q[(c + 1) % 3], p))
        return true;
    return false;
  }

  const TriangleMesh& m_mesh;
  std::vector<GridPoint> m_points;
  int64_t m_cell;
};

}  // namespace supple::test
