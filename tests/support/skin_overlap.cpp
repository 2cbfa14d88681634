#include "support/skin_overlap.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "supple/contact/closest_point.h"
#include "supple/core/parallel.h"
#include "supple/mesh/winding_number.h"

namespace supple::test {
namespace {

// Vertices are tested a little outside of their own surface, relative to the reach.
constexpr double off = 0.02;

std::vector<Vec3d> outward_normals(std::span<const Vec3f> positions,
                                   std::span<const Vec3i> triangles) {
  std::vector<Vec3d> normals(positions.size(), Vec3d::Zero());
  for (const Vec3i& t : triangles) {
    const Vec3d a = positions[static_cast<size_t>(t[0])].cast<double>(),
                b = positions[static_cast<size_t>(t[1])].cast<double>(),
                c = positions[static_cast<size_t>(t[2])].cast<double>();
    for (int k = 0; k < 3; ++k) normals[static_cast<size_t>(t[k])] += (b - a).cross(c - a);
  }
  for (Vec3d& n : normals) n.stableNormalize();
  return normals;
}

// How often a triangle winds around a point: its solid angle there, over that of all directions.
double windings(const TriangleCorners& corners, const Vec3d& at) {
  const Vec3d a = corners[0] - at, b = corners[1] - at, c = corners[2] - at;
  const double la = a.norm(), lb = b.norm(), lc = c.norm();
  const double over = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
  return std::atan2(a.dot(b.cross(c)), over) / (2 * std::numbers::pi);
}

TriangleCorners corners_of(const Vec3i& triangle, std::span<const Vec3f> positions) {
  TriangleCorners corners;
  for (size_t k = 0; k < 3; ++k)
    corners[k] = positions[static_cast<size_t>(triangle[static_cast<int>(k)])].cast<double>();
  return corners;
}

}  // namespace

OverlapMeter::OverlapMeter(const TriangleMesh& rest, double reach)
    : m_rest(rest), m_reach(reach), m_own(rest.positions.size()) {
  parallel_for(m_own.size(), 16, [&](size_t begin, size_t end) {
    for (size_t v = begin; v < end; ++v)
      for (size_t t = 0; t < rest.triangles.size(); ++t)
        for (const int c : rest.triangles[t])
          if (static_cast<double>(
                  (rest.positions[static_cast<size_t>(c)] - rest.positions[v]).norm()) < reach) {
            m_own[v].push_back(static_cast<int32_t>(t));
            break;
          }
  });
  m_inside_at_rest = inside(rest.positions);
  for (const uint8_t in : m_inside_at_rest) m_counted += in == 0 ? 1 : 0;
}

// The skin winds once around what is inside it. Of that, the surface around a vertex may be the
// cause, where it is folded; so another part must be as well: all but that surface winds around a
// vertex in another part at least once, and around one on open skin half as often at most. (More in
// a hollow, which the whole skin does not wind around.)
std::vector<uint8_t> OverlapMeter::inside(std::span<const Vec3f> posed) const {
  const WindingNumber winding(posed, m_rest.triangles, 6);
  const std::vector<Vec3d> normals = outward_normals(posed, m_rest.triangles);
  std::vector<uint8_t> result(posed.size(), 0);
  parallel_for(posed.size(), 64, [&](size_t begin, size_t end) {
    for (size_t v = begin; v < end; ++v) {
      const Vec3d at = posed[v].cast<double>() + off * m_reach * normals[v];
      double others = winding.at(at);
      if (others < 0.5) continue;
      for (const int32_t t : m_own[v])
        others -= windings(corners_of(m_rest.triangles[static_cast<size_t>(t)], posed), at);
      result[v] = others > 0.75 ? 1 : 0;
    }
  });
  return result;
}

double OverlapMeter::rest_distance(size_t triangle, size_t vertex) const {
  double nearest = std::numeric_limits<double>::infinity();
  for (const int c : m_rest.triangles[triangle])
    nearest = std::min(
        nearest, static_cast<double>(
                     (m_rest.positions[static_cast<size_t>(c)] - m_rest.positions[vertex]).norm()));
  return nearest;
}

// Whether there is outside just off one of the triangles around a vertex, near the vertex. At the
// bottom of a crease that is so off the triangles, but not off the vertex along its normal, which
// points across the crease.
bool OverlapMeter::borders_on_outside(std::span<const Vec3f> posed, size_t vertex,
                                      const WindingNumber& winding) const {
  constexpr double along = 0.08, above = 0.0025;  // relative to the reach
  for (const Vec3i& t : m_rest.triangles) {
    if ((t.array() != static_cast<int>(vertex)).all()) continue;
    const TriangleCorners c = corners_of(t, posed);
    const Vec3d at = posed[vertex].cast<double>();
    const Vec3d inwards = ((c[0] + c[1] + c[2]) / 3 - at).normalized();
    const Vec3d normal = (c[1] - c[0]).cross(c[2] - c[0]).normalized();
    if (winding.at(at + m_reach * (along * inwards + above * normal)) < 0.5) return true;
  }
  return false;
}

// How far a vertex is behind a surface, within 60° of its normal: 0 where it is behind none. What
// is next to the vertex at rest (half the reach) is none, nor is the other side of its own flesh,
// which it is behind at rest as well.
double OverlapMeter::behind(std::span<const Vec3f> posed, size_t vertex,
                            const WindingNumber& winding) const {
  if (borders_on_outside(posed, vertex, winding)) return 0;
  const auto way_to = [](const TriangleCorners& corners, const Vec3d& from) {
    const Vec3d way = at_weights(corners, closest_weights(corners, from)) - from;
    const Vec3d normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
    const bool is_behind = normal.dot(way) > way.norm() * normal.norm() / 2;
    return is_behind ? way.norm() : std::numeric_limits<double>::infinity();
  };
  double least = std::numeric_limits<double>::infinity();
  for (size_t t = 0; t < m_rest.triangles.size(); ++t) {
    const double way = way_to(corners_of(m_rest.triangles[t], posed), posed[vertex].cast<double>());
    if (!(way < least)) continue;
    const double apart = rest_distance(t, vertex);
    if (apart < m_reach / 2) continue;
    const double at_rest = way_to(corners_of(m_rest.triangles[t], m_rest.positions),
                                  m_rest.positions[vertex].cast<double>());
    if (apart < m_reach && std::isfinite(at_rest)) continue;
    least = way;
  }
  return std::isfinite(least) ? least : 0;
}

SkinOverlap OverlapMeter::measure(std::span<const Vec3f> posed, double allowed) const {
  const std::vector<uint8_t> in = inside(posed);
  std::vector<int32_t> suspects;
  for (size_t v = 0; v < in.size(); ++v)
    if (in[v] != 0 && m_inside_at_rest[v] == 0) suspects.push_back(static_cast<int32_t>(v));
  // Most triangles are further away than the closest so far by their middles alone.
  std::vector<Vec3d> middles;
  std::vector<double> radii;
  for (const Vec3i& t : m_rest.triangles) {
    const TriangleCorners corners = corners_of(t, posed);
    middles.emplace_back((corners[0] + corners[1] + corners[2]) / 3);
    double radius = 0;
    for (const Vec3d& corner : corners) radius = std::max(radius, (corner - middles.back()).norm());
    radii.push_back(radius);
  }
  std::vector<double> depths(suspects.size(), 0);
  parallel_for(suspects.size(), 16, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const auto v = static_cast<size_t>(suspects[i]);
      const Vec3d at = posed[v].cast<double>();
      double nearest = std::numeric_limits<double>::infinity();
      size_t own = 0;  // those of its own are in order
      for (size_t t = 0; t < m_rest.triangles.size(); ++t) {
        if (own < m_own[v].size() && m_own[v][own] == static_cast<int32_t>(t)) {
          ++own;
          continue;
        }
        if ((middles[t] - at).norm() - radii[t] >= nearest) continue;
        const TriangleCorners corners = corners_of(m_rest.triangles[t], posed);
        const Vec3d closest = at_weights(corners, closest_weights(corners, at));
        nearest = std::min(nearest, (closest - at).norm());
      }
      if (nearest < std::numeric_limits<double>::infinity()) depths[i] = nearest;
    }
  });
  const WindingNumber winding(posed, m_rest.triangles, 6);
  SkinOverlap overlap;
  for (size_t i = 0; i < depths.size(); ++i) {
    const double way =
        std::min(depths[i], behind(posed, static_cast<size_t>(suspects[i]), winding));
    overlap.furthest_behind = std::max(overlap.furthest_behind, way);
    overlap.behind += way > allowed ? 1 : 0;
    if (depths[i] > allowed) overlap.vertices.push_back(suspects[i]);
    overlap.deepest = std::max(overlap.deepest, depths[i]);
    overlap.depth += depths[i];
  }
  overlap.deep = overlap.vertices.size();
  return overlap;
}

}  // namespace supple::test
