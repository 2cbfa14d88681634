#include "supple/contact/skin_crossings.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "supple/core/parallel.h"

namespace supple {
namespace {

constexpr size_t vertex_block = 128;
constexpr size_t patch_block = 64;
constexpr size_t triangle_block = 4096;

// Vertices are tested a little outside of their own surface, relative to the reach.
constexpr double off = 0.02;

// A vertex is squarely behind a triangle when its distance from the plane is at least this part of
// that from the triangle.
constexpr double squarely = 0.5;

// The whole skin winds round what is inside it, and others of it mostly.
constexpr double whole = 0.5, others = 0.75;

// Groups of triangles are one from this many of their radii on.
constexpr double accuracy = 3;

// Whether a point is squarely behind a triangle with an area vector, whose closest point is
// `there`.
bool is_squarely_behind(const Vec3d& point, const Vec3d& there, const Vec3d& area) {
  const Vec3d way = there - point;
  return area.dot(way) > squarely * way.norm() * area.norm();
}

Vec3d area_vector(const TriangleCorners& c) { return (c[1] - c[0]).cross(c[2] - c[0]) / 2; }

// The closest of triangles that a point is squarely behind, in whatever order they come.
struct ClosestBehind {
  Vec3d point;
  double away;   // as far as is searched
  double least;  // what is closer has no direction
  int32_t triangle = -1;
  Vec3d weights = Vec3d::Zero();
  Vec3d at = Vec3d::Zero();

  // Whether a triangle with an area vector may be one: by its plane and its box alone.
  bool may_be(const TriangleCorners& corners, const Vec3d& area) const {
    const double behind = area.dot(corners[0] - point);
    if (!(behind > 0)) return false;
    const Vec3d low = corners[0].cwiseMin(corners[1]).cwiseMin(corners[2]);
    const Vec3d high = corners[0].cwiseMax(corners[1]).cwiseMax(corners[2]);
    const double to_box = (low - point).cwiseMax(point - high).cwiseMax(0).squaredNorm();
    // With some slack, so that of triangles equally close all are seen, in whatever order.
    return to_box <= away * away * (1 + 1e-12) &&
           behind * behind >= squarely * squarely * to_box * area.squaredNorm();
  }

  void consider(int32_t number, const TriangleCorners& corners, const Vec3d& area) {
    const Vec3d w = closest_weights(corners, point);
    const Vec3d there = at_weights(corners, w);
    const double far = (there - point).norm();
    if (!is_squarely_behind(point, there, area) || !(far > least)) return;
    if (!(far < away || (far == away && number < triangle))) return;
    away = far;
    triangle = number;
    weights = w;
    at = there;
  }
};

}  // namespace

SkinCrossings::SkinCrossings(const SkinSurface& skin, std::vector<int32_t> vertices,
                             const SkinCrossingOptions& options)
    : m_skin(skin),
      m_reach(static_cast<float>(options.reach * skin.spacing())),
      m_next(static_cast<float>(options.next * skin.spacing())),
      m_search(options.search * skin.spacing()),
      m_patches(skin.positions(), skin.outward_triangles(),
                std::vector<int32_t>(skin.positions().size(), 0)),
      m_rest(m_patches.patches.size()),
      m_vertices(std::move(vertices)),
      m_is_chosen(skin.positions().size(), 0),
      m_is_outer(skin.outward_triangles().size(), 0),
      m_around_starts(skin.positions().size() + 1, 0),
      m_around(3 * skin.outward_triangles().size()),
      m_posed(m_patches.patches.size()),
      m_winding(skin.positions(), skin.outward_triangles(), accuracy),
      m_areas(skin.outward_triangles().size()) {
  for (size_t p = 0; p < m_patches.patches.size(); ++p)
    m_rest.set(p, m_patches.box(p, skin.positions()).cast<double>());
  m_rest.update();
  for (const SkinPiece& piece : skin.pieces())
    if (piece.kind == SkinKind::outer) m_is_outer[static_cast<size_t>(piece.triangle)] = 1;
  const auto triangles = skin.outward_triangles();
  for (const Vec3i& t : triangles)
    for (const int v : t) ++m_around_starts[static_cast<size_t>(v) + 1];
  for (size_t v = 1; v < m_around_starts.size(); ++v) m_around_starts[v] += m_around_starts[v - 1];
  std::vector<uint32_t> next(m_around_starts.begin(), m_around_starts.end() - 1);
  for (size_t t = 0; t < triangles.size(); ++t)
    for (const int v : triangles[t])
      m_around[next[static_cast<size_t>(v)]++] = static_cast<int32_t>(t);

  // What is within another part at rest is there on purpose.
  follow(skin.positions());
  parallel_for(m_vertices.size(), vertex_block, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const int32_t v = m_vertices[i];
      m_is_chosen[static_cast<size_t>(v)] = is_within_others(skin.positions(), v) ? 0 : 1;
    }
  });
  std::erase_if(m_vertices, [&](int32_t v) { return m_is_chosen[static_cast<size_t>(v)] == 0; });
}

void SkinCrossings::find(std::span<const Vec3f> points, std::vector<SkinCrossing>& out) {
  find_among(m_vertices, points, out);
}

void SkinCrossings::find_around(std::span<const int32_t> certain, double reach,
                                std::span<const Vec3f> points, std::vector<SkinCrossing>& out) {
  std::vector<uint8_t> is_around(m_patches.patches.size(), 0);
  for (const int32_t v : certain)
    m_rest.search(m_skin.positions()[static_cast<size_t>(v)].cast<double>(),
                  reach * m_skin.spacing(), is_around.data(), [](void* marks, uint32_t patch) {
                    static_cast<uint8_t*>(marks)[patch] = 1;
                    return std::numeric_limits<double>::infinity();
                  });
  std::vector<int32_t> vertices;
  for (size_t p = 0; p < is_around.size(); ++p) {
    if (is_around[p] == 0) continue;
    const SurfacePatch& patch = m_patches.patches[p];
    for (uint32_t i = patch.first_own; i < patch.last_own; ++i)
      if (m_is_chosen[static_cast<size_t>(m_patches.own[i])] != 0)
        vertices.push_back(m_patches.own[i]);
  }
  std::sort(vertices.begin(), vertices.end());
  find_among(vertices, points, out);
}

void SkinCrossings::find_among(std::span<const int32_t> vertices, std::span<const Vec3f> points,
                               std::vector<SkinCrossing>& out) {
  out.clear();
  if (vertices.empty() ||
      !std::all_of(points.begin(), points.end(), [](const Vec3f& p) { return p.allFinite(); }))
    return;
  follow(points);
  m_found.resize((vertices.size() + vertex_block - 1) / vertex_block);
  parallel_for(vertices.size(), vertex_block, [&](size_t begin, size_t end) {
    std::vector<SkinCrossing>& found = m_found[begin / vertex_block];
    found.clear();
    for (size_t i = begin; i < end; ++i)
      if (SkinCrossing c; closest_behind(points, vertices[i], c)) found.push_back(c);
  });
  for (const auto& block : m_found) out.insert(out.end(), block.begin(), block.end());
  if (out.empty()) return;
  m_winding.refit(points);
  parallel_for(out.size(), vertex_block / 8, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      if (!is_within_others(points, out[i].vertex)) out[i].vertex = -1;
  });
  std::erase_if(out, [](const SkinCrossing& c) { return c.vertex < 0; });
}

// Takes boxes and area vectors over from the pose.
void SkinCrossings::follow(std::span<const Vec3f> points) {
  parallel_for(m_posed.size(), patch_block, [&](size_t begin, size_t end) {
    for (size_t p = begin; p < end; ++p) m_posed.set(p, m_patches.box(p, points).cast<double>());
  });
  m_posed.update();
  parallel_for(m_areas.size(), triangle_block, [&](size_t begin, size_t end) {
    for (size_t t = begin; t < end; ++t) {
      const TriangleCorners c = corners(static_cast<int32_t>(t), points);
      m_areas[t] = area_vector(c);
    }
  });
}

std::span<const int32_t> SkinCrossings::triangles_of(uint32_t patch) const {
  const SurfacePatch& p = m_patches.patches[patch];
  return std::span(m_patches.triangle)
      .subspan(p.first_triangle, p.last_triangle - p.first_triangle);
}

TriangleCorners SkinCrossings::corners(int32_t triangle, std::span<const Vec3f> points) const {
  const Vec3i& t = m_skin.outward_triangles()[static_cast<size_t>(triangle)];
  return {points[static_cast<size_t>(t[0])].cast<double>(),
          points[static_cast<size_t>(t[1])].cast<double>(),
          points[static_cast<size_t>(t[2])].cast<double>()};
}

// Whether a triangle has a corner within reach of a place at rest.
bool SkinCrossings::is_near(int32_t triangle, const Vec3f& rest, float reach) const {
  for (const int v : m_skin.outward_triangles()[static_cast<size_t>(triangle)])
    if ((m_skin.positions()[static_cast<size_t>(v)] - rest).squaredNorm() < reach * reach)
      return true;
  return false;
}

// Whether a triangle is one that a place of its own surface is squarely behind at rest: with flesh
// between the two, as around an edge or across a finger.
bool SkinCrossings::is_other_side(int32_t triangle, const Vec3f& rest) const {
  if (!is_near(triangle, rest, m_reach)) return false;
  const Vec3d place = rest.cast<double>();
  const TriangleCorners c = corners(triangle, m_skin.positions());
  return is_squarely_behind(place, at_weights(c, closest_weights(c, place)), area_vector(c));
}

bool SkinCrossings::closest_behind(std::span<const Vec3f> points, int32_t vertex,
                                   SkinCrossing& out) const {
  struct Context {
    const SkinCrossings& self;
    std::span<const Vec3f> points;
    const Vec3f& rest;
    ClosestBehind closest;
  } context{*this,
            points,
            m_skin.positions()[static_cast<size_t>(vertex)],
            {points[static_cast<size_t>(vertex)].cast<double>(), m_search, 1e-6 * m_search}};
  m_posed.search(context.closest.point, m_search, &context, [](void* pointer, uint32_t item) {
    auto& [self, points, rest, closest] = *static_cast<Context*>(pointer);
    for (const int32_t t : self.triangles_of(item)) {
      const TriangleCorners corners = self.corners(t, points);
      const Vec3d& area = self.m_areas[static_cast<size_t>(t)];
      if (self.m_is_outer[static_cast<size_t>(t)] != 0 && closest.may_be(corners, area) &&
          !self.is_near(t, rest, self.m_next) && !self.is_other_side(t, rest))
        closest.consider(t, corners, area);
    }
    return closest.away;
  });
  const ClosestBehind& closest = context.closest;
  if (closest.triangle < 0) return false;
  out.vertex = vertex;
  out.triangle = closest.triangle;
  out.weights = closest.weights;
  out.depth = closest.away;
  out.own = is_near(closest.triangle, context.rest, m_reach);
  out.way = (closest.at - closest.point) / closest.away;
  return true;
}

// The outward normal of the skin at a vertex.
Vec3d SkinCrossings::normal(int32_t vertex) const {
  Vec3d sum = Vec3d::Zero();
  for (uint32_t i = m_around_starts[static_cast<size_t>(vertex)];
       i < m_around_starts[static_cast<size_t>(vertex) + 1]; ++i)
    sum += m_areas[static_cast<size_t>(m_around[i])];
  return sum.stableNormalized();
}

bool SkinCrossings::is_within_others(std::span<const Vec3f> points, int32_t vertex) const {
  const Vec3d at = points[static_cast<size_t>(vertex)].cast<double>() +
                   off * static_cast<double>(m_reach) * normal(vertex);
  const double around = m_winding.at(at);
  if (!(around >= whole)) return false;
  struct Context {
    const SkinCrossings& self;
    const Vec3f& rest;
    std::vector<int32_t> own;
  } context{*this, m_skin.positions()[static_cast<size_t>(vertex)], {}};
  m_rest.search(context.rest.cast<double>(), static_cast<double>(m_reach), &context,
                [](void* pointer, uint32_t item) {
                  auto& [self, rest, own] = *static_cast<Context*>(pointer);
                  for (const int32_t t : self.triangles_of(item))
                    if (self.is_near(t, rest, self.m_reach)) own.push_back(t);
                  return static_cast<double>(self.m_reach);
                });
  // In a fixed order, so that sums have the same bits.
  std::sort(context.own.begin(), context.own.end());
  std::vector<Vec3i> own;
  for (const int32_t t : context.own)
    own.push_back(m_skin.outward_triangles()[static_cast<size_t>(t)]);
  return around - winding_number(points, own, at) > others;
}

}  // namespace supple
