#include "supple/mesh/tet_filling.h"

#include <algorithm>
#include <array>
#include <cmath>

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

// Well spread points of the unit cube.
std::vector<Vec3d> cube_samples(int samples) {
  std::vector<Vec3d> points;
  for (int i = 1; i <= samples; ++i) points.emplace_back(halton(i, 2), halton(i, 3), halton(i, 5));
  return points;
}

// The cube of samples is moved round by this for each tetrahedron, so that their errors cancel: the
// additive recurrence of the powers of the root of x^4 = x + 1.
Vec3d shift_of(size_t tet) {
  constexpr double root = 1.2207440846057596;
  const Vec3d at =
      static_cast<double>(tet + 1) * Vec3d(1 / root, 1 / (root * root), 1 / (root * root * root));
  return at.array() - at.array().floor();
}

// The weights of a point of a tetrahedron, evenly spread where those of the unit cube are. (The
// original folds random points of the cube instead.)
Eigen::Vector4d tet_sample(const Vec3d& cube) {
  const double a = 1 - std::cbrt(cube[0]), b = (1 - a) * (1 - std::sqrt(cube[1])),
               c = (1 - a - b) * cube[2];
  return {a, b, c, 1 - a - b - c};
}

// How much the winding number grows along the way from a to b by crossing a triangle.
int crossing(const Corners& t, const Vec3d& a, const Vec3d& b) {
  const Vec3d normal = (t[1] - t[0]).cross(t[2] - t[0]);
  const double before = normal.dot(a - t[0]), after = normal.dot(b - t[0]);
  if ((before > 0) == (after > 0)) return 0;
  const auto volume = [](const Vec3d& p, const Vec3d& q, const Vec3d& r) {
    return p.dot(q.cross(r));
  };
  const Vec3d way = b - a;
  const double u = volume(way, t[0] - a, t[1] - a), v = volume(way, t[1] - a, t[2] - a),
               w = volume(way, t[2] - a, t[0] - a);
  const bool through = (u > 0 && v > 0 && w > 0) || (u < 0 && v < 0 && w < 0);
  return through ? (before > 0 ? 1 : -1) : 0;
}

// Measures the tetrahedra that triangles run through.
class FillingProbe {
 public:
  FillingProbe(const TetMesh& mesh, const TriangleMesh& skin, int samples)
      : m_mesh(mesh),
        m_skin(skin),
        m_solid(skin),
        m_crossings(triangles_in_tets(mesh, skin)),
        m_samples(cube_samples(samples)) {}

  // The mean of the corners' weights over all samples, those outside counting as nothing; the sum
  // is the filled part.
  Eigen::Vector4d filled(size_t tet) const {
    const std::array<Vec3d, 4> x = tet_corners(m_mesh, m_mesh.tets[tet]);
    const auto at = [&](const Eigen::Vector4d& w) -> Vec3d {
      return w[0] * x[0] + w[1] * x[1] + w[2] * x[2] + w[3] * x[3];
    };
    if (m_crossings.of(tet).empty())
      return Eigen::Vector4d::Constant(m_solid.inside(at(Eigen::Vector4d::Constant(0.25))) ? 0.25
                                                                                           : 0);
    // The winding number is computed at one point; on the way from there to the others it changes
    // by one at every triangle, all of which overlap the tetrahedron. Its slow change near holes is
    // left out.
    const Vec3d from = at({0.2571, 0.2437, 0.2513, 0.2479});
    const std::array<double, 2> winding = m_solid.winding(from);
    std::array<std::vector<Corners>, 2> local;  // of closed shells, of those with holes
    for (const int32_t t : m_crossings.of(tet)) local[m_solid.open()[t]].push_back(corners(t));
    Eigen::Vector4d sum = Eigen::Vector4d::Zero();
    const Vec3d shift = shift_of(tet);
    for (const Vec3d& sample : m_samples) {
      const Vec3d moved = sample + shift;
      const Eigen::Vector4d weights = tet_sample(moved.array() - moved.array().floor());
      const Vec3d to = at(weights);
      std::array<double, 2> there = winding;
      for (size_t layer = 0; layer < 2; ++layer)
        for (const Corners& t : local[layer]) there[layer] += crossing(t, from, to);
      if (SkinSolid::inside(there)) sum += weights;
    }
    return sum / static_cast<double>(m_samples.size());
  }

  // Whether triangles of shells with holes run through a tetrahedron.
  bool has_sheets(size_t tet) const {
    const std::span<const int32_t> triangles = m_crossings.of(tet);
    return std::any_of(triangles.begin(), triangles.end(),
                       [&](int32_t t) { return m_solid.open()[t] != 0; });
  }

 private:
  Corners corners(int32_t triangle) const {
    const Vec3i& t = m_skin.triangles[triangle];
    return {m_skin.positions[t[0]].cast<double>(), m_skin.positions[t[1]].cast<double>(),
            m_skin.positions[t[2]].cast<double>()};
  }

  const TetMesh& m_mesh;
  const TriangleMesh& m_skin;
  SkinSolid m_solid;
  TetCrossings m_crossings;
  std::vector<Vec3d> m_samples;  // in the unit cube
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
