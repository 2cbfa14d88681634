#include "supple/contact/skin_clearance.h"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>

#include "supple/core/parallel.h"

namespace supple {
namespace {

// Of a vertex's displacement, the part that its neighbours' mean takes in a round of smoothing.
constexpr double blend = 0.5;

// How far around vertices others are looked at, in cells: when a turn begins, and in its passes.
constexpr double wide = 2, narrow = 0.5;

// Passes without fewer conditions after which a turn ends.
constexpr int patience = 3;

// Vertices of the skin that lie on its free surface, sheets included.
std::vector<int32_t> free_vertices(const SkinSurface& skin) {
  std::vector<uint8_t> is_free(skin.positions().size(), 0);
  for (const SkinPiece& piece : skin.pieces()) {
    const Vec3i& triangle = skin.triangles()[static_cast<size_t>(piece.triangle)];
    for (const int v : triangle) {
      const Vec3d at = skin.positions()[static_cast<size_t>(v)].cast<double>();
      for (const Vec3d& corner : piece.corners)
        if (corner == at) is_free[static_cast<size_t>(v)] = 1;
    }
  }
  std::vector<int32_t> vertices;
  for (size_t v = 0; v < is_free.size(); ++v)
    if (is_free[v] != 0) vertices.push_back(static_cast<int32_t>(v));
  return vertices;
}

// Pairs of vertices with an edge between them, both ways, in order and each once.
std::vector<std::pair<int32_t, int32_t>> edges_of(std::span<const Vec3i> triangles) {
  std::vector<std::pair<int32_t, int32_t>> edges;
  for (const Vec3i& t : triangles)
    for (int k = 0; k < 3; ++k) {
      const int a = t[k], b = t[(k + 1) % 3];
      if (a == b) continue;
      edges.emplace_back(a, b);
      edges.emplace_back(b, a);
    }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

void keep_each_once(std::vector<int32_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

}  // namespace

SkinClearance::SkinClearance(const SolidLattice& solid, const LatticeMesh& mesh,
                             std::span<const Vec3d> rest, const SkinSurface& skin,
                             const SkinClearanceOptions& options)
    : m_skin(skin),
      m_spacing(solid.spacing),
      m_options(options),
      m_by_triangles(skin, free_vertices(skin)),
      m_edge_starts(skin.positions().size() + 1, 0),
      m_slots(skin.positions().size(), -1) {
  std::vector<ContactPoint> points;
  for (const int32_t v : free_vertices(skin))
    points.push_back(
        {.rest = skin.positions()[static_cast<size_t>(v)].cast<double>(), .vertex = v});
  // What is in other flesh in the bind pose is there on purpose.
  SelfCollision all(solid, mesh, skin, points, {.ring = 0});
  all.find(rest, m_contacts);
  for (const SelfContact& c : m_contacts) points[static_cast<size_t>(c.point)].vertex = -1;
  std::erase_if(points, [](const ContactPoint& p) { return p.vertex < 0; });
  if (!points.empty())
    m_collision = std::make_unique<SelfCollision>(solid, mesh, skin, std::move(points),
                                                  SelfCollisionOptions{.ring = 0});

  for (const auto& [a, b] : edges_of(skin.triangles())) {
    ++m_edge_starts[static_cast<size_t>(a) + 1];
    m_edges.push_back(b);
  }
  for (size_t v = 1; v < m_edge_starts.size(); ++v) m_edge_starts[v] += m_edge_starts[v - 1];
}

SkinClearanceReport SkinClearance::clear(std::span<const Vec3d> nodes, std::span<Vec3f> points) {
  SkinClearanceReport report;
  m_carried.assign(points.begin(), points.end());
  find_doubtful(nodes);
  find_by_cells(nodes, points);
  meet(points, report);
  // As long as turns find less and less to move.
  size_t least = points.size();
  for (int turn = 0; turn < m_options.turns; ++turn) {
    const size_t found = clear_folds(points, report);
    if (found == 0 || found >= least) break;
    least = found;
  }
  if (report.conditions > 0) limit(points, report);
  return report;
}

// Takes vertices back that have been moved too far in all.
void SkinClearance::limit(std::span<Vec3f> points, SkinClearanceReport& report) const {
  const double most = m_options.most * m_spacing;
  for (size_t v = 0; v < points.size(); ++v) {
    const Vec3f way = points[v] - m_carried[v];
    const auto far = static_cast<double>(way.norm());
    if (far > most) points[v] = m_carried[v] + static_cast<float>(most / far) * way;
    report.moved = std::max(report.moved, std::min(far, most));
  }
}

// Moves vertices around doubtful ones, and what that moves into something else; what was moved is
// doubtful then. Returns how many there were at first.
size_t SkinClearance::clear_folds(std::span<Vec3f> points, SkinClearanceReport& report) {
  m_around.swap(m_doubtful);
  keep_each_once(m_around);
  m_doubtful.clear();
  size_t first = 0, least = points.size();
  for (int pass = 0, idle = 0; pass < m_options.passes && idle < patience; ++pass) {
    find_by_triangles(pass == 0 ? wide : narrow, points);
    if (m_conditions.empty()) break;
    if (pass == 0) first = m_conditions.size();
    idle = m_conditions.size() < least ? 0 : idle + 1;
    least = std::min(least, m_conditions.size());
    meet(points, report);
    m_around.clear();
    for (const Condition& c : m_conditions)
      m_around.insert(m_around.end(), {c.vertex, c.corners[0], c.corners[1], c.corners[2]});
    keep_each_once(m_around);
    m_doubtful.insert(m_doubtful.end(), m_around.begin(), m_around.end());
  }
  return first;
}

// Moves the points so that they meet the conditions.
void SkinClearance::meet(std::span<Vec3f> points, SkinClearanceReport& report) {
  report.conditions += m_conditions.size();
  if (m_conditions.empty()) return;
  for (int round = 0; round < m_options.rounds; ++round) {
    if (round > 0) smooth();
    project();
  }
  for (size_t i = 0; i < m_moved.size(); ++i) {
    const auto v = static_cast<size_t>(m_moved[i]);
    points[v] += m_displaced[i].cast<float>();
    m_slots[v] = -1;
  }
  m_moved.clear();
  m_displaced.clear();
}

// The conditions of vertices in cells elsewhere.
void SkinClearance::find_by_cells(std::span<const Vec3d> nodes, std::span<const Vec3f> points) {
  m_conditions.clear();
  if (!m_collision) return;
  m_collision->find(nodes, m_contacts);
  const double allowed = m_options.allowed * m_spacing, farthest = m_options.farthest * m_spacing;
  for (const SelfContact& contact : m_contacts) {
    Condition c;
    c.vertex = m_collision->points()[static_cast<size_t>(contact.point)].vertex;
    c.corners = m_skin.triangles()[static_cast<size_t>(contact.triangle)];
    TriangleCorners rest, now;
    for (int k = 0; k < 3; ++k) {
      rest[static_cast<size_t>(k)] =
          m_skin.positions()[static_cast<size_t>(c.corners[k])].cast<double>();
      now[static_cast<size_t>(k)] = points[static_cast<size_t>(c.corners[k])].cast<double>();
    }
    c.weights = closest_weights(rest, contact.rest_surface);
    const Vec3d way =
        at_weights(now, c.weights) - points[static_cast<size_t>(c.vertex)].cast<double>();
    const double depth = way.stableNorm();
    if (!(depth > allowed) || !std::isfinite(depth)) continue;
    c.way = way / depth;
    c.length = std::min(depth - allowed, farthest);
    m_conditions.push_back(c);
  }
}

// Vertices of cells that are thin in some direction, or inside out.
void SkinClearance::find_doubtful(std::span<const Vec3d> nodes) {
  m_doubtful.clear();
  if (!m_collision) return;
  const double least = m_options.thin * m_options.thin;
  const auto ties = m_collision->ties();
  const auto vertices = m_collision->points();
  m_is_thin.assign(vertices.size(), 0);
  parallel_for(vertices.size(), 1024, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const Mat3d f = cell_gradient(nodes, ties[i].nodes, m_spacing);
      Eigen::SelfAdjointEigenSolver<Mat3d> solver;
      solver.computeDirect(f.transpose() * f, Eigen::EigenvaluesOnly);
      m_is_thin[i] = !(solver.eigenvalues()[0] > least) || !(f.determinant() > 0) ? 1 : 0;
    }
  });
  for (size_t i = 0; i < vertices.size(); ++i)
    if (m_is_thin[i] != 0) m_doubtful.push_back(vertices[i].vertex);
}

// The conditions of vertices in other parts of the skin as it is now. Where the way out leads
// through a vertex's own surface, as at the bottom of a crease, it is gone to its end and a little
// further. Others go to the depth that is left alone once they are twice as deep.
void SkinClearance::find_by_triangles(double reach, std::span<const Vec3f> points) {
  m_conditions.clear();
  m_by_triangles.find_around(m_around, reach, points, m_crossings);
  const double allowed = m_options.allowed * m_spacing, farthest = m_options.farthest * m_spacing;
  for (const SkinCrossing& c : m_crossings) {
    const double left = c.own ? -2 * allowed : allowed;
    if (c.own || c.depth > 2 * allowed)
      m_conditions.push_back({c.vertex, m_skin.outward_triangles()[static_cast<size_t>(c.triangle)],
                              c.weights, c.way, std::min(c.depth - left, farthest)});
  }
}

Vec3d& SkinClearance::displacement(int32_t vertex) {
  int32_t& slot = m_slots[static_cast<size_t>(vertex)];
  if (slot < 0) {
    slot = static_cast<int32_t>(m_moved.size());
    m_moved.push_back(vertex);
    m_displaced.push_back(Vec3d::Zero());
  }
  return m_displaced[static_cast<size_t>(slot)];
}

// Meets one condition after the other, by the least displacement that does.
void SkinClearance::project() {
  for (const Condition& c : m_conditions) {
    double done = c.way.dot(displacement(c.vertex));
    for (int k = 0; k < 3; ++k) done -= c.weights[k] * c.way.dot(displacement(c.corners[k]));
    if (done >= c.length) continue;
    const Vec3d push = (c.length - done) / (1 + c.weights.squaredNorm()) * c.way;
    displacement(c.vertex) += push;
    for (int k = 0; k < 3; ++k) displacement(c.corners[k]) -= c.weights[k] * push;
  }
}

std::span<const int32_t> SkinClearance::neighbours(int32_t vertex) const {
  const auto begin = m_edge_starts[static_cast<size_t>(vertex)];
  return std::span(m_edges).subspan(begin, m_edge_starts[static_cast<size_t>(vertex) + 1] - begin);
}

// Every displacement goes part of the way to the mean of its neighbours', and so reaches one edge
// further.
void SkinClearance::smooth() {
  const size_t reached = m_moved.size();
  for (size_t i = 0; i < reached; ++i)
    for (const int32_t other : neighbours(m_moved[i])) displacement(other);
  m_smoothed.resize(m_moved.size());
  for (size_t i = 0; i < m_moved.size(); ++i) {
    Vec3d sum = Vec3d::Zero();
    const auto around = neighbours(m_moved[i]);
    for (const int32_t other : around) {
      const int32_t slot = m_slots[static_cast<size_t>(other)];
      if (slot >= 0) sum += m_displaced[static_cast<size_t>(slot)];
    }
    const double part = around.empty() ? 0 : blend / static_cast<double>(around.size());
    m_smoothed[i] = (around.empty() ? 1 : 1 - blend) * m_displaced[i] + part * sum;
  }
  std::swap(m_displaced, m_smoothed);
}

}  // namespace supple
