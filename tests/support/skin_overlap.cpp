#include "support/skin_overlap.h"

#include <algorithm>
#include <limits>

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

}  // namespace

OverlapMeter::OverlapMeter(const TriangleMesh& rest, double reach) : m_rest(rest), m_reach(reach) {
  m_inside_at_rest = inside(rest.positions);
  for (const uint8_t in : m_inside_at_rest) m_counted += in == 0 ? 1 : 0;
}

std::vector<uint8_t> OverlapMeter::inside(std::span<const Vec3f> posed) const {
  const WindingNumber winding(posed, m_rest.triangles, 6);
  const std::vector<Vec3d> normals = outward_normals(posed, m_rest.triangles);
  std::vector<uint8_t> result(posed.size(), 0);
  parallel_for(posed.size(), 64, [&](size_t begin, size_t end) {
    for (size_t v = begin; v < end; ++v) {
      const Vec3d at = posed[v].cast<double>() + off * m_reach * normals[v];
      result[v] = winding.at(at) > 0.5 ? 1 : 0;
    }
  });
  return result;
}

SkinOverlap OverlapMeter::measure(std::span<const Vec3f> posed, double allowed) const {
  const std::vector<uint8_t> in = inside(posed);
  std::vector<int32_t> suspects;
  for (size_t v = 0; v < in.size(); ++v)
    if (in[v] != 0 && m_inside_at_rest[v] == 0) suspects.push_back(static_cast<int32_t>(v));
  std::vector<double> depths(suspects.size(), 0);
  parallel_for(suspects.size(), 16, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const auto v = static_cast<size_t>(suspects[i]);
      const Vec3d at = posed[v].cast<double>();
      double nearest = std::numeric_limits<double>::infinity();
      for (const Vec3i& t : m_rest.triangles) {
        TriangleCorners corners;
        bool own = false;
        for (int k = 0; k < 3; ++k) {
          const auto c = static_cast<size_t>(t[k]);
          own = own ||
                static_cast<double>((m_rest.positions[c] - m_rest.positions[v]).norm()) < m_reach;
          corners[static_cast<size_t>(k)] = posed[c].cast<double>();
        }
        if (own) continue;
        const Vec3d closest = at_weights(corners, closest_weights(corners, at));
        nearest = std::min(nearest, (closest - at).norm());
      }
      if (nearest < std::numeric_limits<double>::infinity()) depths[i] = nearest;
    }
  });
  SkinOverlap overlap;
  for (const double depth : depths) {
    overlap.deep += depth > allowed ? 1 : 0;
    overlap.deepest = std::max(overlap.deepest, depth);
    overlap.depth += depth;
  }
  return overlap;
}

}  // namespace supple::test
