#include "supple/contact/surface_contact.h"

#include <algorithm>
#include <cmath>

#include "supple/core/error.h"
#include "supple/core/parallel.h"

namespace supple {
namespace {

// How far behind a surface vertices are searched, and that of their own object: in mean edges.
constexpr float usual_reach = 1.25f, own_reach = 1;
// How far a vertex may have been behind its own surface before the step, in mean edges, and still
// come from outside: rounding.
constexpr float outside = 1e-3f;
// Patches of an object that are this close at rest do not meet, in mean edges: so far that resting
// bodies have hardly any pairs, as those in the tree overlap up to reach and twice the slack.
constexpr float neighbourhood = 2.75f;
// What moves this much against another in a step is searched along its way, in mean edges.
constexpr float far_way = 0.4f;
// How much larger than need be boxes in the tree are, in mean edges.
constexpr float slack = 0.7f;
constexpr size_t patch_block = 4;
constexpr size_t most_close = 256;  // patches that are searched at once
constexpr size_t rows_of_patch = 9 * patch_triangles;

size_t at(int32_t i) { return static_cast<size_t>(i); }

float box_distance2(const Box3f& a, const Box3f& b) { return a.squaredExteriorDistance(b); }

// The same, in a register of four.
float box_distance2(const PatchTriangles& a, const PatchTriangles& b) {
  using Corner = Eigen::Map<const Eigen::Array4f, Eigen::Aligned16>;
  const Corner a_low(a.low), a_high(a.high), b_low(b.low), b_high(b.high);
  return (a_low - b_high).max(b_low - a_high).max(0.0f).square().sum();
}

void check_touch(const std::string& where, const char* field, double value) {
  if (!(value >= 0) || !std::isfinite(value))
    throw_input_error(where, field, fmt::format("{}; 0 or more is needed", value));
}

}  // namespace

// What the search of a patch's vertices needs.
struct SurfaceContact::Near {
  double dt;
  float reach;
  std::span<const Vec3f> x, v;
};

SurfaceContact::SurfaceContact(const SurfaceCollisionModel& model, const std::string& where)
    : m_patches(model.rest, model.triangles, model.objects),
      m_triangles(model.triangles.begin(), model.triangles.end()),
      m_objects(model.objects.begin(), model.objects.end()),
      m_inverse_masses(model.inverse_masses.begin(), model.inverse_masses.end()),
      m_touches(model.touches.begin(), model.touches.end()),
      m_edges(model.touches.size(), 0),
      m_tree(m_patches.patches.size()),
      m_self_touching(model.rest.size(), 0),
      m_boxes(m_patches.patches.size()),
      m_kept_boxes(m_patches.patches.size()),
      m_velocities(m_patches.patches.size()),
      m_ways(m_patches.patches.size()),
      m_rows(m_patches.patches.size() * rows_of_patch, 0) {
  for (const SurfaceTouch& touch : m_touches) {
    check_touch(where, "friction", touch.friction);
    check_touch(where, "gap", touch.gap);
    check_touch(where, "firmness", touch.firmness);
  }
  std::vector<size_t> edges(m_touches.size(), 0);
  m_fan_starts.assign(model.rest.size() + 1, 0);
  for (const Vec3i& t : m_triangles)
    for (int c = 0; c < 3; ++c) {
      const size_t object = at(m_objects[at(t[c])]);
      m_edges[object] += (model.rest[at(t[c])] - model.rest[at(t[(c + 1) % 3])]).norm();
      ++edges[object];
      ++m_fan_starts[at(t[c]) + 1];
    }
  for (size_t o = 0; o < edges.size(); ++o)
    m_edges[o] /= static_cast<float>(std::max(edges[o], size_t{1}));
  for (size_t i = 1; i < m_fan_starts.size(); ++i) m_fan_starts[i] += m_fan_starts[i - 1];
  m_fans.resize(m_fan_starts.back());
  std::vector<uint32_t> next = m_fan_starts;
  for (size_t t = 0; t < m_triangles.size(); ++t)
    for (int c = 0; c < 3; ++c) m_fans[next[at(m_triangles[t][c])]++] = static_cast<int32_t>(t);
  for (size_t p = 0; p < m_boxes.size(); ++p) {
    const SurfacePatch& patch = m_patches.patches[p];
    m_boxes[p] = m_patches.box(p, model.rest);
    m_searched.push_back({{m_rows.data() + p * rows_of_patch, patch_triangles},
                          patch.last_triangle - patch.first_triangle,
                          static_cast<int32_t>(patch.first_triangle)});
  }
  for (size_t i = 0; i < model.rest.size(); ++i)
    if (m_fan_starts[i] == m_fan_starts[i + 1]) m_loose.push_back(static_cast<int32_t>(i));
  m_vertex_starts.assign(m_touches.size() + 1, 0);
  for (const int32_t o : m_objects) ++m_vertex_starts[at(o) + 1];
  for (size_t o = 0; o < m_touches.size(); ++o) m_vertex_starts[o + 1] += m_vertex_starts[o];
  m_vertices.resize(m_objects.size());
  std::vector<uint32_t> place = m_vertex_starts;
  for (size_t i = 0; i < m_objects.size(); ++i)
    m_vertices[place[at(m_objects[i])]++] = static_cast<int32_t>(i);
  m_wholes.resize(m_touches.size());
  m_meets.resize(m_touches.size());
  for (const float edge : m_edges) m_largest_edge = std::max(m_largest_edge, edge);
  find_neighbours();
}

SurfaceContact::~SurfaceContact() = default;

// Patches of one object that are close at rest.
void SurfaceContact::find_neighbours() {
  const auto& patches = m_patches.patches;
  m_neighbour_starts.assign(1, 0);
  for (size_t a = 0, begin = 0; a < patches.size(); ++a) {
    while (patches[begin].object != patches[a].object) ++begin;
    const float near = neighbourhood * m_edges[at(patches[a].object)];
    for (size_t b = begin; b < patches.size() && patches[b].object == patches[a].object; ++b)
      if (b > a && box_distance2(m_boxes[a], m_boxes[b]) < near * near)
        m_neighbours.push_back(static_cast<uint32_t>(b));
    m_neighbour_starts.push_back(static_cast<uint32_t>(m_neighbours.size()));
  }
}

void SurfaceContact::find_contacts(double dt, std::span<const Vec3f> x, std::span<const Vec3f> v) {
  m_contacts.clear();
  measure_patches(dt, x, v);
  // Patches of two objects come together by their difference in speed at most.
  const float reach = usual_reach * m_largest_edge;
  Vec3f mean = Vec3f::Zero();
  for (const Vec3f& velocity : m_velocities) mean += velocity / static_cast<float>(m_boxes.size());
  float fastest = 0;
  for (const Vec3f& velocity : m_velocities)
    fastest = std::max(fastest, (velocity - mean).squaredNorm());
  const float way = 2 * static_cast<float>(dt) * std::sqrt(fastest);
  find_pairs(reach + (way < 1e6f * reach ? way : 0.0f));
  if (m_pairs.empty()) return;
  load_triangles(x);
  const size_t patches = m_patches.patches.size();
  m_found.resize((patches + patch_block - 1) / patch_block);
  const Near near{dt, reach, x, v};
  parallel_for(patches, patch_block, [&](size_t begin, size_t end) {
    std::vector<Contact>& found = m_found[begin / patch_block];
    found.clear();
    for (size_t p = begin; p < end; ++p) search_patch(p, near, found);
  });
  for (const std::vector<Contact>& found : m_found)
    m_contacts.insert(m_contacts.end(), found.begin(), found.end());
}

// Boxes of patches, how they move, and how far a vertex of each goes in a step.
void SurfaceContact::measure_patches(double dt, std::span<const Vec3f> x,
                                     std::span<const Vec3f> v) {
  parallel_for(m_patches.patches.size(), 64, [&](size_t begin, size_t end) {
    for (size_t p = begin; p < end; ++p) {
      const SurfacePatch& patch = m_patches.patches[p];
      Box3f box;
      Vec3f sum = Vec3f::Zero();
      float fastest = 0;
      for (uint32_t i = patch.first_corner; i < patch.last_corner; ++i) {
        const size_t vertex = at(m_patches.corner[i]);
        box.extend(x[vertex]);
        sum += v[vertex];
        fastest = std::max(fastest, v[vertex].squaredNorm());
      }
      m_boxes[p] = box;
      Vec3f::Map(m_searched[p].low) = box.min();
      Vec3f::Map(m_searched[p].high) = box.max();
      m_velocities[p] = sum / static_cast<float>(patch.last_corner - patch.first_corner);
      m_ways[p] = static_cast<float>(dt) * std::sqrt(fastest);
    }
  });
}

// Patches that come within reach of each other, but for neighbours. Boxes in the tree are larger
// than need be: as long as patches are still in them, the pairs are those of an earlier step. There
// may be more pairs than need be then, which changes no result.
void SurfaceContact::find_pairs(float reach) {
  const size_t patches = m_patches.patches.size();
  const Vec3f half = Vec3f::Constant(reach / 2);
  const int outside_boxes = parallel_reduce(
      patches, 256, 0,
      [&](size_t begin, size_t end) {
        int count = 0;
        for (size_t p = begin; p < end; ++p) {
          const Box3f needed(m_boxes[p].min() - half, m_boxes[p].max() + half);
          count += m_kept_boxes[p].contains(needed) ? 0 : 1;
        }
        return count;
      },
      std::plus<>());
  if (outside_boxes == 0) return;
  const Vec3f room = half + Vec3f::Constant(slack * m_largest_edge);
  parallel_for(patches, 64, [&](size_t begin, size_t end) {
    for (size_t p = begin; p < end; ++p) {
      m_kept_boxes[p] = Box3f(m_boxes[p].min() - room, m_boxes[p].max() + room);
      m_tree.set(p, m_kept_boxes[p].cast<double>());
    }
  });
  m_tree.update();
  m_tree.overlaps(
      this,
      [](const void* context, uint32_t a, uint32_t b) {
        const auto& self = *static_cast<const SurfaceContact*>(context);
        const int32_t object = self.m_patches.patches[a].object;
        if (object != self.m_patches.patches[b].object) return true;
        if (!self.m_touches[at(object)].self) return false;
        const auto begin = self.m_neighbours.begin() + self.m_neighbour_starts[a],
                   end = self.m_neighbours.begin() + self.m_neighbour_starts[a + 1];
        return !std::binary_search(begin, end, b);
      },
      m_pairs);
  // Both ways, partners in rising order.
  m_other_starts.assign(patches + 1, 0);
  for (const auto& [a, b] : m_pairs) {
    ++m_other_starts[a + 1];
    ++m_other_starts[b + 1];
  }
  for (size_t p = 1; p <= patches; ++p) m_other_starts[p] += m_other_starts[p - 1];
  m_others.resize(2 * m_pairs.size());
  for (const auto& [a, b] : m_pairs) {
    m_others[m_other_starts[a]++] = b;
    m_others[m_other_starts[b]++] = a;
  }
  for (size_t p = patches; p > 0; --p) m_other_starts[p] = m_other_starts[p - 1];
  m_other_starts[0] = 0;
  parallel_for(patches, 64, [&](size_t begin, size_t end) {
    const auto from = [&](size_t p) { return m_others.begin() + m_other_starts[p]; };
    for (size_t p = begin; p < end; ++p) std::sort(from(p), from(p + 1));
  });
}

// Corners of the triangles of patches that have partners, side by side.
void SurfaceContact::load_triangles(std::span<const Vec3f> x) {
  parallel_for(m_patches.patches.size(), 16, [&](size_t begin, size_t end) {
    for (size_t p = begin; p < end; ++p) {
      if (m_other_starts[p] == m_other_starts[p + 1]) continue;
      const SurfacePatch& patch = m_patches.patches[p];
      float* rows = m_rows.data() + p * rows_of_patch;
      const size_t count = patch.last_triangle - patch.first_triangle;
      for (size_t i = 0; i < patch_triangles; ++i) {
        const Vec3i& t =
            m_triangles[at(m_patches.triangle[patch.first_triangle + std::min(i, count - 1)])];
        const Vec3f &a = x[at(t[0])], &b = x[at(t[1])], &c = x[at(t[2])];
        for (int k = 0; k < 3; ++k) {
          rows[static_cast<size_t>(k) * patch_triangles + i] = a[k];
          rows[static_cast<size_t>(3 + k) * patch_triangles + i] = b[k] - a[k];
          rows[static_cast<size_t>(6 + k) * patch_triangles + i] = c[k] - a[k];
        }
      }
    }
  });
}

// The closest triangle of a patch that faces against a direction, by its number among all.
ClosestTriangle SurfaceContact::closest_facing_in(uint32_t patch, const Vec3f& point,
                                                  const Vec3f& direction) const {
  const SurfacePatch& of = m_patches.patches[patch];
  const TriangleRows rows{m_rows.data() + patch * rows_of_patch, patch_triangles};
  ClosestTriangle found =
      closest_facing(rows, of.last_triangle - of.first_triangle, point.data(), direction.data());
  found.triangle = m_patches.triangle[of.first_triangle + static_cast<size_t>(found.triangle)];
  return found;
}

// The closest triangle of every object near to each vertex of a patch; of those that move far
// against it, first the one a vertex has passed on its way.
void SurfaceContact::search_patch(size_t patch, const Near& near, std::vector<Contact>& out) const {
  const SurfacePatch& own = m_patches.patches[patch];
  const auto others = std::span<const uint32_t>(m_others).subspan(
      m_other_starts[patch], m_other_starts[patch + 1] - m_other_starts[patch]);
  const auto object_of = [&](uint32_t other) { return m_patches.patches[other].object; };
  std::array<uint32_t, most_close> close;
  size_t count = 0;
  float way = 0;
  // Those of one object come one after the other. Very many that are within reach are searched in
  // several parts.
  for (size_t k = 0; k < others.size(); ++k) {
    const uint32_t other = others[k];
    const float distance2 = box_distance2(m_searched[patch], m_searched[other]);
    const float farthest = near.reach + m_ways[patch] + m_ways[other];
    if (distance2 < farthest * farthest) {
      const bool is_other = object_of(other) != own.object;
      const float relative = is_other ? static_cast<float>(near.dt) *
                                            (m_velocities[patch] - m_velocities[other]).norm()
                                      : 0.0f;
      const float reach = near.reach + relative;
      if (distance2 < reach * reach) {
        way = std::max(way, relative);
        close[count++] = other;
      }
    }
    const bool is_last = k + 1 == others.size() || object_of(others[k + 1]) != object_of(other);
    if (count == close.size() || (is_last && count > 0)) {
      search_close(own, std::span<const uint32_t>(close).first(count), way, near, out);
      count = 0;
      way = 0;
    }
  }
}

// The same for patches of one object that are close, and move by so much against this one.
void SurfaceContact::search_close(const SurfacePatch& own, std::span<const uint32_t> patches,
                                  float way, const Near& near, std::vector<Contact>& out) const {
  const bool is_fast = way > far_way * m_edges[at(m_patches.patches[patches[0]].object)];
  const Vec3f moved = static_cast<float>(near.dt) * m_velocities[patches[0]];
  for (uint32_t first = own.first_own; first < own.last_own; first += points_at_once) {
    const size_t count = std::min(points_at_once, size_t{own.last_own - first});
    PointRows points;
    std::array<ClosestTriangle, points_at_once> best;
    for (size_t i = 0; i < points_at_once; ++i) {
      const int32_t vertex = m_patches.own[first + std::min(i, count - 1)];
      for (int k = 0; k < 3; ++k) points.rows[k][i] = near.x[at(vertex)][k];
      best[i] = {near.reach * near.reach, -1, 0, 0};
    }
    closest_of_patches(m_searched, patches, points, std::span(best).first(count));
    for (size_t i = 0; i < count; ++i) {
      const int32_t vertex = m_patches.own[first + i];
      if (is_fast && add_crossing(near, vertex, patches,
                                  static_cast<float>(near.dt) * near.v[at(vertex)] - moved, out))
        continue;
      if (best[i].triangle < 0) continue;
      best[i].triangle = m_patches.triangle[at(best[i].triangle)];
      add_contact(near, vertex, patches, best[i], out);
    }
  }
}

// Adds the contact of a vertex with the first triangle it has passed on its way, as seen from the
// other object; whether there was one.
bool SurfaceContact::add_crossing(const Near& near, int32_t vertex,
                                  std::span<const uint32_t> patches, const Vec3f& way,
                                  std::vector<Contact>& out) const {
  const Vec3f &to = near.x[at(vertex)], from = to - way;
  Box3f path(from.cwiseMin(to), from.cwiseMax(to));
  ClosestTriangle first{1e30f, -1, 0, 0};
  for (const uint32_t patch : patches) {
    if (!m_boxes[patch].intersects(path)) continue;
    const SurfacePatch& of = m_patches.patches[patch];
    const TriangleRows rows{m_rows.data() + patch * rows_of_patch, patch_triangles};
    const ClosestTriangle found =
        first_crossing(rows, of.last_triangle - of.first_triangle, from.data(), to.data());
    if (!(found.distance2 < first.distance2)) continue;
    first = found;
    first.triangle = m_patches.triangle[of.first_triangle + static_cast<size_t>(found.triangle)];
  }
  if (first.triangle < 0) return false;
  const Vec3i& t = m_triangles[at(first.triangle)];
  const Vec3f a = near.x[at(t[0])];
  const Vec3f normal = (near.x[at(t[1])] - a).cross(near.x[at(t[2])] - a).stableNormalized();
  if (!normal.allFinite() || !(normal.squaredNorm() > 0.5f)) return false;
  out.push_back(
      contact_of(vertex, t, {1 - first.second - first.third, first.second, first.third}, normal));
  return true;
}

Vec3f SurfaceContact::vertex_normal(std::span<const Vec3f> x, int32_t vertex) const {
  Vec3f sum = Vec3f::Zero();
  for (uint32_t i = m_fan_starts[at(vertex)]; i < m_fan_starts[at(vertex) + 1]; ++i) {
    const Vec3i& t = m_triangles[at(m_fans[i])];
    sum += (x[at(t[1])] - x[at(t[0])]).cross(x[at(t[2])] - x[at(t[0])]);
  }
  return sum;
}

namespace {

// Where a vertex is over a triangle.
struct Over {
  Vec3f weights, away, side;  // of the corners; from the closest point; outwards there
  float apart;                // how far, negative behind
  bool is_border;             // whether the closest point is on an edge or a corner
};

// The side is that of the triangle in its middle, and of its corners at its border.
template <class Normal>
Over measure(std::span<const Vec3f> x, const Vec3f& p, const Vec3i& t, const ClosestTriangle& best,
             const Normal& vertex_normal) {
  Over over;
  over.weights = {1 - best.second - best.third, best.second, best.third};
  over.away = p;
  for (int k = 0; k < 3; ++k) over.away -= over.weights[k] * x[at(t[k])];
  over.is_border = !(over.weights.minCoeff() > 1e-4f);
  over.side = (x[at(t[1])] - x[at(t[0])]).cross(x[at(t[2])] - x[at(t[0])]);
  if (over.is_border) {
    over.side.setZero();
    for (int k = 0; k < 3; ++k)
      if (over.weights[k] > 0) over.side += over.weights[k] * vertex_normal(t[k]);
  }
  over.side = over.side.stableNormalized();
  over.apart = over.away.dot(over.side) < 0 ? -over.away.norm() : over.away.norm();
  return over;
}

}  // namespace

// Adds a contact if the vertex is behind the surface there, or nearly so.
void SurfaceContact::add_contact(const Near& near, int32_t vertex,
                                 std::span<const uint32_t> patches, const ClosestTriangle& closest,
                                 std::vector<Contact>& out) const {
  const Vec3f& p = near.x[at(vertex)];
  const auto normal_of = [&](int32_t v) { return vertex_normal(near.x, v); };
  Vec3i t = m_triangles[at(closest.triangle)];
  const size_t own = at(m_objects[at(vertex)]), other = at(m_objects[at(t[0])]);
  const float edge = m_edges[other];
  const float gap = gap_between(own, other);
  Over over = measure(near.x, p, t, closest, normal_of);
  if (!(over.apart < gap) || (own == other && -over.apart > own_reach * edge)) return;
  const Vec3f own_normal = vertex_normal(near.x, vertex);
  if (over.apart < 0 && !(over.side.dot(own_normal) < 0)) {
    // It came in by another side than the closest.
    ClosestTriangle facing{near.reach * near.reach, -1, 0, 0};
    for (const uint32_t patch : patches) {
      if (!(m_boxes[patch].squaredExteriorDistance(p) < facing.distance2)) continue;
      const ClosestTriangle found = closest_facing_in(patch, p, own_normal);
      if (found.distance2 < facing.distance2) facing = found;
    }
    if (facing.triangle < 0) return;
    t = m_triangles[at(facing.triangle)];
    over = measure(near.x, p, t, facing, normal_of);
    if (!(over.apart < 0)) return;
  }
  if (own == other && !m_self_touching[at(vertex)] && !came_from_outside(near, vertex, t)) return;
  // Out of it: straight to the closest point, where that is a direction.
  Vec3f normal = over.side;
  if (over.is_border && std::abs(over.apart) > 1e-3f * edge) normal = over.away / over.apart;
  if (normal.allFinite()) out.push_back(contact_of(vertex, t, over.weights, normal));
}

float SurfaceContact::gap_between(size_t own, size_t other) const {
  return 0.5f * static_cast<float>(m_touches[own].gap * static_cast<double>(m_edges[own]) +
                                   m_touches[other].gap * static_cast<double>(m_edges[other]));
}

SurfaceContact::Contact SurfaceContact::contact_of(int32_t vertex, const Vec3i& t,
                                                   const Vec3f& weights,
                                                   const Vec3f& normal) const {
  const size_t own = at(m_objects[at(vertex)]), other = at(m_objects[at(t[0])]);
  Contact contact{{vertex, t[0], t[1], t[2]},
                  {1, -weights[0], -weights[1], -weights[2]},
                  normal,
                  gap_between(own, other),
                  static_cast<float>(0.5 * (m_touches[own].friction + m_touches[other].friction)),
                  0};
  for (size_t k = 0; k < 4; ++k)
    contact.softness +=
        m_inverse_masses[at(contact.particles[k])] * contact.shares[k] * contact.shares[k];
  return contact;
}

// Whether a vertex was before a triangle when the step began.
bool SurfaceContact::came_from_outside(const Near& near, int32_t vertex,
                                       const Vec3i& triangle) const {
  const auto before = [&](int32_t i) {
    return Vec3f(near.x[at(i)] - static_cast<float>(near.dt) * near.v[at(i)]);
  };
  const Vec3f a = before(triangle[0]);
  const Vec3f side = (before(triangle[1]) - a).cross(before(triangle[2]) - a).stableNormalized();
  const float edge = m_edges[at(m_objects[at(vertex)])];
  return (before(vertex) - a).dot(side) > -outside * edge;
}

}  // namespace supple
