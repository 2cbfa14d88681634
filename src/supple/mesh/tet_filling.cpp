#include "supple/mesh/tet_filling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/mesh/skin_solid.h"
#include "supple/mesh/tet_crossings.h"
#include "supple/mesh/tet_quality.h"

namespace supple {
namespace {

using Corners = std::array<Vec3d, 3>;

// The digits of a number after the point, read backwards [Halton 1960].
double halton(int index, int base) {
  double result = 0, digit = 1;
  for (; index > 0; index /= base) {
    digit /= base;
    result += digit * (index % base);
  }
  return result;
}

// Moved round by a step that is different for every corner of every tetrahedron, so that their
// errors cancel: the additive recurrence of the powers of the root of x^3 = x + 1.
double moved(double place, size_t corner, double step) {
  const double at = place + static_cast<double>(corner + 1) * step;
  return at - std::floor(at);
}

using Pair = std::array<double, 2>;  // of closed shells, of shells with holes

// A place of a line where it meets a triangle of one of the two kinds of shells, and how much the
// winding number changes there.
struct Crossing {
  double place;
  int layer, change;
  bool operator<(const Crossing& other) const {
    return std::tie(place, layer, change) < std::tie(other.place, other.layer, other.change);
  }
};

// Triangles as lines from one point see them: a line along d runs through a triangle when d has the
// same side of the three planes through the point and an edge.
class Seen {
 public:
  Seen(std::span<const Corners> triangles, const Vec3d& from) {
    for (const Corners& t : triangles) {
      const Vec3d a = t[0] - from, b = t[1] - from, c = t[2] - from;
      m_triangles.push_back({a.cross(b), b.cross(c), c.cross(a), a.dot(b.cross(c))});
    }
  }

  // Adds where the line from + r d meets triangles for r from 0 to 1, and by how much its winding
  // number changes there.
  void add_crossings(const Vec3d& d, int layer, std::vector<Crossing>& crossings) const {
    for (const Triangle& t : m_triangles) {
      const double u = d.dot(t.ab), v = d.dot(t.bc), w = d.dot(t.ca);
      if (!((u > 0 && v > 0 && w > 0) || (u < 0 && v < 0 && w < 0))) continue;
      const double r = t.volume / (u + v + w);
      if (r > 0 && r <= 1) crossings.push_back({r, layer, u > 0 ? -1 : 1});
    }
  }

 private:
  struct Triangle {
    Vec3d ab, bc, ca;
    double volume;
  };
  std::vector<Triangle> m_triangles;
};

// A tetrahedron as lines from one of its corners see it.
struct View {
  std::array<Vec3d, 4> x;  // all corners
  int corner = 0;          // from which
  Pair winding{};          // there
  std::array<Seen, 2> seen;
  // What triangles do not explain of the change of the winding number of shells with holes on the
  // way to each other corner.
  Eigen::Vector4d fades = Eigen::Vector4d::Zero();
};

// Measures the tetrahedra that triangles run through, along lines from their corners to the sides
// opposite: on each line what is inside is known exactly.
class FillingProbe {
 public:
  FillingProbe(const TetMesh& mesh, const TriangleMesh& skin, int samples)
      : m_mesh(mesh),
        m_skin(skin),
        m_solid(skin),
        m_crossings(triangles_in_tets(mesh, skin)),
        m_windings(mesh.positions.size(), Pair{}) {
    std::vector<int32_t> nodes;
    int64_t crossed = 0;
    for (size_t t = 0; t < mesh.tets.size(); ++t) {
      if (m_crossings.of(t).empty()) continue;
      ++crossed;
      nodes.insert(nodes.end(), mesh.tets[t].begin(), mesh.tets[t].end());
    }
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    parallel_for(nodes.size(), 32, [&](size_t begin, size_t end) {
      for (size_t n = begin; n < end; ++n)
        m_windings[nodes[n]] = m_solid.winding(mesh.positions[nodes[n]]);
    });
    // Few large tetrahedra get more lines each (errors of many cancel), on which the winding number
    // of shells with holes is measured again and again.
    constexpr int64_t all_lines = 30000, most_lines = 4096, measured_lines = 40000;
    const int64_t lines =
        std::max<int64_t>(samples, std::min(all_lines / std::max<int64_t>(crossed, 1), most_lines));
    m_measures = crossed * lines <= measured_lines;
    for (int i = 1; i <= (lines + 3) / 4; ++i) m_places.emplace_back(halton(i, 2), halton(i, 3));
  }

  // The mean of the corners' weights over the tetrahedron, places outside counting as nothing; the
  // sum is the filled part.
  Eigen::Vector4d filled(size_t tet) const {
    const std::array<Vec3d, 4> x = tet_corners(m_mesh, m_mesh.tets[tet]);
    if (m_crossings.of(tet).empty())
      return Eigen::Vector4d::Constant(m_solid.inside((x[0] + x[1] + x[2] + x[3]) / 4) ? 0.25 : 0);
    std::array<std::vector<Corners>, 2> local;
    for (const int32_t t : m_crossings.of(tet)) local[m_solid.open()[t]].push_back(corners(t));
    Eigen::Vector4d sum = Eigen::Vector4d::Zero();
    for (int corner = 0; corner < 4; ++corner) {
      View view{x,
                corner,
                m_windings[m_mesh.tets[tet][corner]],
                {Seen(local[0], x[corner]), Seen(local[1], x[corner])}};
      for (int other = 0; other < 4; ++other)
        if (other != corner && !m_solid.closed())
          view.fades[other] = fade(view, x[other], m_windings[m_mesh.tets[tet][other]]);
      sum += filled_from(view, 4 * tet + static_cast<size_t>(corner));
    }
    return sum / 4;
  }

  // Whether triangles of shells with holes run through a tetrahedron.
  bool has_sheets(size_t tet) const {
    const std::span<const int32_t> triangles = m_crossings.of(tet);
    return std::any_of(triangles.begin(), triangles.end(),
                       [&](int32_t t) { return m_solid.open()[t] != 0; });
  }

 private:
  static double fade(const View& view, const Vec3d& to, const Pair& winding) {
    std::vector<Crossing> crossings;
    view.seen[1].add_crossings(to - view.x[view.corner], 1, crossings);
    double result = winding[1] - view.winding[1];
    for (const Crossing& crossing : crossings) result -= crossing.change;
    return result;
  }

  // The same, by lines from one corner, at which the winding number is known. Places on a line to a
  // point of the side opposite with the weights y, at r from the corner, have the weights r y and
  // 1 - r and stand for 3 r² of the volume: their integrals are r³ and 3/4 r⁴.
  Eigen::Vector4d filled_from(const View& view, size_t number) const {
    constexpr double root = 1.324717957244746, slight = 0.05;
    const bool measures = m_measures && view.fades.cwiseAbs().maxCoeff() > slight;
    const Vec3d& from = view.x[view.corner];
    std::vector<Crossing> crossings;
    Eigen::Vector4d sum = Eigen::Vector4d::Zero();
    for (const Eigen::Vector2d& place : m_places) {
      const double u = 1 - std::sqrt(moved(place[0], number, 1 / root)),
                   v = (1 - u) * moved(place[1], number, 1 / (root * root));
      Eigen::Vector4d y = Eigen::Vector4d::Zero();
      y[(view.corner + 1) % 4] = u;
      y[(view.corner + 2) % 4] = v;
      y[(view.corner + 3) % 4] = 1 - u - v;
      Vec3d way = -from;
      for (int k = 0; k < 4; ++k) way += y[k] * view.x[k];
      crossings.clear();
      for (int layer = 0; layer < 2; ++layer) view.seen[layer].add_crossings(way, layer, crossings);
      std::sort(crossings.begin(), crossings.end());
      crossings.push_back({1, 0, 0});
      // Adds the stretches between crossings that are inside, in their middles.
      Pair winding = view.winding;
      const double fade = y.dot(view.fades);
      double last = 0;
      for (const auto& [next, layer, change] : crossings) {
        const double middle = (last + next) / 2;
        const double open =
            measures ? m_solid.open_winding(from + middle * way) : winding[1] + middle * fade;
        if (SkinSolid::inside(Pair{winding[0], open})) {
          const double volume = cube(next) - cube(last);
          const double moment = 0.75 * (next * cube(next) - last * cube(last));
          sum += moment * y;
          sum[view.corner] += volume - moment;
        }
        winding[layer] += change;
        last = next;
      }
    }
    return sum / static_cast<double>(m_places.size());
  }

  static double cube(double r) { return r * r * r; }

  Corners corners(int32_t triangle) const {
    const Vec3i& t = m_skin.triangles[triangle];
    return {m_skin.positions[t[0]].cast<double>(), m_skin.positions[t[1]].cast<double>(),
            m_skin.positions[t[2]].cast<double>()};
  }

  const TetMesh& m_mesh;
  const TriangleMesh& m_skin;
  SkinSolid m_solid;
  TetCrossings m_crossings;
  std::vector<Pair> m_windings;           // at nodes of tetrahedra that triangles run through
  std::vector<Eigen::Vector2d> m_places;  // in the unit square, for each line from a corner
  bool m_measures = false;                // whether winding numbers that fade out are measured
};

}  // namespace

TetFilling fill_tets(const TetMesh& mesh, const TriangleMesh& skin, int samples, double sheets) {
  if (samples < 1)
    throw Error(ErrorKind::usage, fmt::format("samples {}: must be at least 1", samples));
  const FillingProbe probe(mesh, skin, samples);
  TetFilling filling;
  filling.filled.resize(mesh.tets.size());
  filling.shares.resize(mesh.tets.size());
  parallel_for(mesh.tets.size(), 16, [&](size_t begin, size_t end) {
    for (size_t t = begin; t < end; ++t) {
      Eigen::Vector4d parts = probe.filled(t);
      if (sheets > 0 && parts.sum() < sheets && probe.has_sheets(t))
        parts.array() += (sheets - parts.sum()) / 4;
      filling.filled[t] = std::min(parts.sum(), 1.0);
      filling.shares[t] = six_volumes(mesh, mesh.tets[t]) / 6 * parts;
    }
  });
  return filling;
}

}  // namespace supple
