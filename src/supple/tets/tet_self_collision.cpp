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

void TetSelfCollision::find(const TetVector& x, std::vector<TetSelfContact>& out) {
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
      if (test(x, p, best)) found.push_back(best);
    }
  });
  for (const auto& found : m_found) out.insert(out.end(), found.begin(), found.end());
}

bool TetSelfCollision::test(const TetVector& x, size_t point, TetSelfContact& best) const {
  const Vec3d here = at(m_spots[point], x);
  const Vec3d own = carried_normal(m_spots[point], m_points[point].normal, x);
  const auto now = [&](int32_t n) { return Vec3d(x.node(static_cast<size_t>(n))); };
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
    found |= consider(point, tet, rest, facing, best);
  }
  return found;
}

// The closest place of the skin at rest that looks towards the point.
bool TetSelfCollision::consider(size_t point, int32_t tet, const Vec3d& rest, const Vec3d& facing,
                                TetSelfContact& best) const {
  if (!m_model.skin.is_inside(rest)) return false;
  struct Search {
    std::span<const SkinPiece> pieces;
    const Vec3d &rest, &facing;
    double distance;
    uint32_t piece;
    bool found;
    Vec3d place;
  } search{m_model.skin.pieces(), rest, facing, greatest_depth * m_model.spacing, 0, false, {}};
  if (best.point >= 0) search.distance = std::min(search.distance, best.rest_depth);
  m_piece_tree.search(rest, search.distance, &search, [](void* context, uint32_t number) {
    auto& s = *static_cast<Search*>(context);
    const SkinPiece& piece = s.pieces[number];
    if (piece.kind != SkinKind::outer || piece.normal().dot(s.facing) > most_along)
      return s.distance;
    const Vec3d place = at_weights(piece.corners, closest_weights(piece.corners, s.rest));
    const double distance = (place - s.rest).norm();
    if (distance < s.distance || (distance == s.distance && s.found && number < s.piece)) {
      s.distance = distance;
      s.piece = number;
      s.found = true;
      s.place = place;
    }
    return s.distance;
  });
  if (!search.found) return false;
  const SkinPiece& piece = m_model.skin.pieces()[search.piece];
  TriangleCorners corners;
  const Vec3i& triangle = m_model.skin.triangles()[static_cast<size_t>(piece.triangle)];
  for (size_t c = 0; c < 3; ++c)
    corners[c] =
        m_model.skin.positions()[static_cast<size_t>(triangle[static_cast<int>(c)])].cast<double>();
  const SkinSpot spot{piece.triangle, closest_weights(corners, search.place)};
  if (meets_spot(m_own[point], spot)) return false;
  // Of an element that is there for each of several limbs only its own limb is matter.
  if (m_copied[static_cast<size_t>(tet)] != 0 && !meets_spot(tet, spot)) return false;
  Vec3d out = piece.normal();
  if (search.distance > least_depth * m_model.spacing) {
    const Vec3d way = (search.place - rest) / search.distance;
    if (way.dot(out) > least_across) out = way;
  }
  best = {static_cast<int32_t>(point), spot, out, search.distance};
  return true;
}

}  // namespace supple
