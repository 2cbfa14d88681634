#include "supple/tets/tet_self_collision.h"

#include <Eigen/Geometry>
#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <map>

#include "supple/core/parallel.h"

namespace supple {
namespace {

constexpr size_t point_block = 128, tet_block = 256;

// How far nodes may move until near elements are found again, in edges of elements.
constexpr double margin = 0.25;

// Surfaces that look along with a point, by more than this cosine, are none it can touch.
constexpr double most_along = 0.3;

// Places less deep than this, in edges of elements, have the way out of the triangle, and so have
// those whose way out leads further aside than this cosine; deeper ones than the greatest have
// none.
constexpr double least_depth = 1e-3, least_across = 0.5, greatest_depth = 2;

// Points move no further than this within a step, in edges of elements.
constexpr double longest_way = 4;

// A point was before a surface when it was no deeper behind it than this, in edges of elements.
constexpr double most_behind = 0.25;

// Weights of corners may be this much below 0, so that nothing is lost between elements; smaller
// volumes, against those at rest, count as none.
constexpr double slack = 1e-9, least_volume = 1e-3;

Mat3d edges_of(const Vec4i& tet, const auto& position) {
  Mat3d edges;
  for (int c = 0; c < 3; ++c) edges.col(c) = position(tet[c + 1]) - position(tet[0]);
  return edges;
}

// cof(F) = det(F) F⁻ᵀ, without dividing.
Mat3d cofactors(const Mat3d& f) {
  Mat3d result;
  for (int c = 0; c < 3; ++c) result.col(c) = f.col((c + 1) % 3).cross(f.col((c + 2) % 3));
  return result;
}

}  // namespace

TetSelfCollision::TetSelfCollision(const TetSelfModel& model, std::vector<ContactPoint> points)
    : m_model(model),
      m_points(std::move(points)),
      m_copied(model.mesh.tets.size(), 0),
      m_margin(margin * model.spacing),
      m_tree(model.mesh.tets.size()),
      m_piece_tree(model.skin.pieces().size()),
      m_near(m_points.size()),
      m_found((m_points.size() + point_block - 1) / point_block) {
  for (const ContactPoint& point : m_points) {
    const Vec3i& corners = m_model.skin.triangles()[static_cast<size_t>(point.triangle)];
    SkinSpot spot{point.triangle, Vec3d::Zero()};
    TriangleCorners at;
    for (size_t c = 0; c < 3; ++c)
      at[c] = m_model.skin.positions()[static_cast<size_t>(corners[static_cast<int>(c)])]
                  .cast<double>();
    spot.weights = closest_weights(at, point.rest);
    for (int c = 0; c < 3; ++c)
      if (corners[c] == point.vertex) spot.weights = Vec3d::Unit(c);
    m_spots.push_back(spot);
    m_own.push_back(tet_of(spot));
  }
  for (size_t i = 0; i < m_model.skin.pieces().size(); ++i) {
    Box3d box;
    for (const Vec3d& corner : m_model.skin.pieces()[i].corners) box.extend(corner);
    m_piece_tree.set(i, box);
  }
  m_piece_tree.update();
  const auto rest = [&](int32_t n) -> const Vec3d& {
    return m_model.mesh.positions[static_cast<size_t>(n)];
  };
  std::map<std::array<double, 3>, size_t> first;
  for (size_t e = 0; e < m_model.mesh.tets.size(); ++e) {
    const Vec4i& tet = m_model.mesh.tets[e];
    m_inverse.emplace_back(edges_of(tet, rest).inverse());
    const Vec3d middle = rest(tet[0]) + rest(tet[1]) + rest(tet[2]) + rest(tet[3]);
    const auto [found, is_new] = first.insert({{middle[0], middle[1], middle[2]}, e});
    if (!is_new) m_copied[e] = m_copied[found->second] = 1;
  }
}

int32_t TetSelfCollision::tet_of(const SkinSpot& spot) const {
  int corner = 0;
  spot.weights.maxCoeff(&corner);
  const int32_t vertex = m_model.skin.triangles()[static_cast<size_t>(spot.triangle)][corner];
  return m_model.places[static_cast<size_t>(vertex)].tet;
}

bool TetSelfCollision::meet(int32_t tet, int32_t other) const {
  const Vec4i &a = m_model.mesh.tets[static_cast<size_t>(tet)],
              &b = m_model.mesh.tets[static_cast<size_t>(other)];
  for (int i = 0; i < 4; ++i)
    if ((b.array() == a[i]).any()) return true;
  return false;
}

bool TetSelfCollision::meets_spot(int32_t tet, const SkinSpot& spot) const {
  const Vec3i& corners = m_model.skin.triangles()[static_cast<size_t>(spot.triangle)];
  for (int c = 0; c < 3; ++c)
    if (meet(tet, m_model.places[static_cast<size_t>(corners[c])].tet)) return true;
  return false;
}

void TetSelfCollision::add_spot(const SkinSpot& spot, double factor, NodeSum& sum) const {
  const Vec3i& corners = m_model.skin.triangles()[static_cast<size_t>(spot.triangle)];
  for (int c = 0; c < 3; ++c) {
    if (spot.weights[c] == 0) continue;
    const TetTie& tie = m_model.ties[static_cast<size_t>(corners[c])];
    for (size_t k = 0; k < 4; ++k) sum.add(tie.nodes[k], factor * spot.weights[c] * tie.weights[k]);
  }
}

Vec3d TetSelfCollision::at(const SkinSpot& spot, const TetVector& x) const {
  NodeSum sum;
  add_spot(spot, 1, sum);
  return sum.of(x);
}

Vec3d TetSelfCollision::carried_normal(const SkinSpot& spot, const Vec3d& normal,
                                       const TetVector& x) const {
  const auto e = static_cast<size_t>(tet_of(spot));
  const auto now = [&](int32_t n) { return Vec3d(x.node(static_cast<size_t>(n))); };
  const Mat3d f = edges_of(m_model.mesh.tets[e], now) * m_inverse[e];
  return (cofactors(f) * normal).stableNormalized();
}

void TetSelfCollision::find_near(const TetVector& x) {
  const std::vector<Vec4i>& tets = m_model.mesh.tets;
  m_near_at = x;
  parallel_for(tets.size(), tet_block, [&](size_t begin, size_t end) {
    for (size_t e = begin; e < end; ++e) {
      Box3d box;
      for (int c = 0; c < 4; ++c) box.extend(Vec3d(x.node(static_cast<size_t>(tets[e][c]))));
      const Vec3d more = Vec3d::Constant(m_margin);
      m_tree.set(e, {box.min() - more, box.max() + more});
    }
  });
  m_tree.update();
  struct Search {
    const TetSelfCollision& self;
    int32_t own;
    std::vector<int32_t>& out;
  };
  parallel_for(m_points.size(), point_block, [&](size_t begin, size_t end) {
    for (size_t p = begin; p < end; ++p) {
      m_near[p].clear();
      Search search{*this, m_own[p], m_near[p]};
      // Points of the skin lie close to their elements, and move about as far as their nodes.
      m_tree.search(at(m_spots[p], x), 2 * m_margin, &search, [](void* context, uint32_t tet) {
        auto& s = *static_cast<Search*>(context);
        if (!s.self.meet(s.own, static_cast<int32_t>(tet)))
          s.out.push_back(static_cast<int32_t>(tet));
        return 2 * s.self.m_margin;
      });
      std::sort(m_near[p].begin(), m_near[p].end());
    }
  });
}

void TetSelfCollision::find(const TetVector& x, const TetVector& before,
                            std::vector<TetSelfContact>& out) {
  out.clear();
  if (!x.allFinite()) return;
  if (m_near_at.size() != x.size() || (x - m_near_at).cwiseAbs().maxCoeff() > m_margin / 2)
    find_near(x);
  parallel_for(m_points.size(), point_block, [&](size_t begin, size_t end) {
    std::vector<TetSelfContact>& found = m_found[begin / point_block];
    found.clear();
    for (size_t p = begin; p < end; ++p) {
      if (m_near[p].empty()) continue;
      TetSelfContact best;
      if (test(x, before, p, best)) found.push_back(best);
    }
  });
  for (const auto& found : m_found) out.insert(out.end(), found.begin(), found.end());
}

bool TetSelfCollision::test(const TetVector& x, const TetVector& before, size_t point,
                            TetSelfContact& best) const {
  const Vec3d here = at(m_spots[point], x);
  const Vec3d own = carried_normal(m_spots[point], m_points[point].normal, x);
  const Vec3d there = at(m_spots[point], before);
  const auto now = [&](int32_t n) { return Vec3d(x.node(static_cast<size_t>(n))); };
  const auto then = [&](int32_t n) { return Vec3d(before.node(static_cast<size_t>(n))); };
  bool found = false;
  for (const int32_t tet : m_near[point]) {
    const auto e = static_cast<size_t>(tet);
    const Vec4i& corners = m_model.mesh.tets[e];
    const Mat3d edges = edges_of(corners, now);
    if (!(edges.determinant() * m_inverse[e].determinant() > least_volume)) continue;
    const Vec3d w = edges.inverse() * (here - now(corners[0]));
    if (!(w.minCoeff() >= -slack && w.sum() <= 1 + slack)) continue;
    const Vec3d& origin = m_model.mesh.positions[static_cast<size_t>(corners[0])];
    Vec3d rest = origin;
    for (int c = 0; c < 3; ++c)
      rest += w[c] * (m_model.mesh.positions[static_cast<size_t>(corners[c + 1])] - origin);
    // The point's normal as this element has it at rest: normals go back by Fᵀ.
    const Vec3d facing = ((edges * m_inverse[e]).transpose() * own).stableNormalized();
    Vec3d rest_before = rest;
    const Mat3d edges_before = edges_of(corners, then);
    if (edges_before.determinant() * m_inverse[e].determinant() > least_volume) {
      const Vec3d w_before = edges_before.inverse() * (there - then(corners[0]));
      rest_before = origin;
      for (int c = 0; c < 3; ++c)
        rest_before +=
            w_before[c] * (m_model.mesh.positions[static_cast<size_t>(corners[c + 1])] - origin);
    }
    found |= consider(before, {point, tet, rest, rest_before, facing}, best);
  }
  return found;
}

SkinSpot TetSelfCollision::spot_at(const SkinPiece& piece, const Vec3d& place) const {
  TriangleCorners corners;
  const Vec3i& triangle = m_model.skin.triangles()[static_cast<size_t>(piece.triangle)];
  for (size_t c = 0; c < 3; ++c)
    corners[c] =
        m_model.skin.positions()[static_cast<size_t>(triangle[static_cast<int>(c)])].cast<double>();
  return {piece.triangle, closest_weights(corners, place)};
}

// Whether a point was on the outer side of a piece of skin, or not far behind it.
bool TetSelfCollision::was_before(const TetVector& before, const Vec3d& point,
                                  const SkinPiece& piece, const Vec3d& place) const {
  const SkinSpot spot = spot_at(piece, place);
  const Vec3d normal = carried_normal(spot, piece.normal(), before);
  return normal.dot(point - at(spot, before)) > -most_behind * m_model.spacing;
}

// Where the point came in: the first skin on its way back, if that leads out steeply.
TetSelfCollision::WayOut TetSelfCollision::crossed(const Entry& entry) const {
  struct Search {
    std::span<const SkinPiece> pieces;
    const Vec3d &from, way;
    double length, nearest;
    WayOut out;
  } search{m_model.skin.pieces(), entry.rest, entry.rest_before - entry.rest, 0, 1, {}};
  search.length = search.way.norm();
  if (!(search.length > least_depth * m_model.spacing) ||
      search.length > longest_way * m_model.spacing)
    return {};
  m_piece_tree.search(entry.rest, search.length, &search, [](void* context, uint32_t number) {
    auto& s = *static_cast<Search*>(context);
    const SkinPiece& piece = s.pieces[number];
    if (piece.kind != SkinKind::outer) return s.length;
    const Vec3d normal = piece.normal();
    const double rising = s.way.dot(normal);
    if (!(rising > least_across * s.length)) return s.length;
    const double along = normal.dot(piece.corners[0] - s.from) / rising;
    if (!(along >= 0 && along <= 1)) return s.length;
    const Vec3d place = s.from + along * s.way;
    if ((at_weights(piece.corners, closest_weights(piece.corners, place)) - place).norm() >
        1e-6 * s.length)
      return s.length;
    if (along < s.nearest || !s.out.found || (along == s.nearest && number < s.out.piece)) {
      s.nearest = along;
      s.out = {number, true, place, along * s.length};
    }
    return s.length;
  });
  return search.out;
}

// The closest place of the skin at rest that looks towards the point; with `before` of those that
// the point was before then.
TetSelfCollision::WayOut TetSelfCollision::closest(const Entry& entry,
                                                   const TetVector* before) const {
  struct Search {
    const TetSelfCollision& self;
    const TetVector* before;
    const Entry& entry;
    Vec3d came_from;
    WayOut out;
  } search{*this, before, entry, Vec3d::Zero(), {}};
  if (before) search.came_from = at(m_spots[entry.point], *before);
  search.out.distance = greatest_depth * m_model.spacing;
  m_piece_tree.search(entry.rest, search.out.distance, &search, [](void* context, uint32_t number) {
    auto& s = *static_cast<Search*>(context);
    const SkinPiece& piece = s.self.m_model.skin.pieces()[number];
    if (piece.kind != SkinKind::outer || piece.normal().dot(s.entry.facing) > most_along)
      return s.out.distance;
    const Vec3d place = at_weights(piece.corners, closest_weights(piece.corners, s.entry.rest));
    const double distance = (place - s.entry.rest).norm();
    const bool closer = distance < s.out.distance ||
                        (distance == s.out.distance && s.out.found && number < s.out.piece);
    if (closer && (!s.before || s.self.was_before(*s.before, s.came_from, piece, place)))
      s.out = {number, true, place, distance};
    return s.out.distance;
  });
  return search.out;
}

bool TetSelfCollision::consider(const TetVector& before, const Entry& entry,
                                TetSelfContact& best) const {
  if (!m_model.skin.is_inside(entry.rest)) return false;
  WayOut way = crossed(entry);
  const bool straight = !way.found;
  if (!way.found) way = closest(entry, &before);
  if (!way.found) way = closest(entry, nullptr);
  if (!way.found || (best.point >= 0 && way.distance >= best.rest_depth)) return false;
  const SkinPiece& piece = m_model.skin.pieces()[way.piece];
  const SkinSpot spot = spot_at(piece, way.place);
  if (meets_spot(m_own[entry.point], spot)) return false;
  // Of an element that is there for each of several limbs only its own limb is matter.
  if (m_copied[static_cast<size_t>(entry.tet)] != 0 && !meets_spot(entry.tet, spot)) return false;
  Vec3d out = piece.normal();
  if (straight && way.distance > least_depth * m_model.spacing) {
    const Vec3d direction = (way.place - entry.rest) / way.distance;
    if (direction.dot(out) > least_across) out = direction;
  }
  best = {static_cast<int32_t>(entry.point), spot, out, way.distance};
  return true;
}

}  // namespace supple
