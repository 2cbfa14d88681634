#include "supple/surface/detail_mesh.h"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <limits>

#include "supple/contact/box_tree.h"
#include "supple/contact/closest_point.h"
#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/mesh/triangle_mesh.h"

namespace supple {
namespace {

// A coarse triangle with the unit normals of its corners.
struct PhongTriangle {
  std::array<Vec3d, 3> p, n;

  Vec3d at(const Vec3d& w) const { return w[0] * p[0] + w[1] * p[1] + w[2] * p[2]; }
  Vec3d normal(const Vec3d& w) const {
    const Vec3d mixed = w[0] * n[0] + w[1] * n[1] + w[2] * n[2];
    const double length = mixed.norm();
    if (length > 1e-6) return mixed / length;
    return (p[1] - p[0]).cross(p[2] - p[0]).stableNormalized();
  }
  // Along the first edge, across it, along the normal.
  Mat3d frame(const Vec3d& w) const {
    Mat3d axes;
    const Vec3d z = normal(w);
    Vec3d x = p[1] - p[0];
    x -= z.dot(x) * z;
    const double length = x.norm();
    x = length > 0 ? Vec3d(x / length) : z.unitOrthogonal();
    axes << x, z.cross(x), z;
    return axes;
  }
};

// The mesh, and a tree to find triangles by.
class TieFinder {
 public:
  TieFinder(std::span<const Vec3f> coarse, std::span<const Vec3i> triangles)
      : m_coarse(coarse),
        m_triangles(triangles),
        m_normals(coarse.size()),
        m_tree(triangles.size()) {
    vertex_normals(coarse, triangles, m_normals);
    for (size_t t = 0; t < triangles.size(); ++t) {
      Box3d box;
      for (const Vec3d& p : triangle(t).p) box.extend(p);
      m_tree.set(t, box);
    }
    m_tree.update();
  }

  PhongTriangle triangle(size_t t) const {
    PhongTriangle result;
    for (size_t k = 0; k < 3; ++k) {
      const auto v = static_cast<size_t>(m_triangles[t][static_cast<int>(k)]);
      result.p[k] = m_coarse[v].cast<double>();
      result.n[k] = m_normals[v].cast<double>();
    }
    return result;
  }

  // The tie of a vertex, and whether it lies along a normal.
  std::pair<DetailTie, bool> find(const Vec3d& p) const {
    const auto [nearest, distance] = find_nearest(p);
    const size_t t = static_cast<size_t>(nearest);
    // Points along normals may be somewhat further away than the nearest one.
    const PhongTriangle first = triangle(t);
    const double edge = (first.p[1] - first.p[0]).norm() + (first.p[2] - first.p[0]).norm();
    std::vector<int32_t> candidates = within(p, 1.5 * distance + 0.25 * edge);
    std::sort(candidates.begin(), candidates.end());
    DetailTie best;
    double least = std::numeric_limits<double>::infinity();
    for (const int32_t c : candidates) {
      Vec3d weights;
      double along = 0;
      if (!solve(triangle(static_cast<size_t>(c)), p, weights, along)) continue;
      if (!(std::abs(along) < least)) continue;
      least = std::abs(along);
      best = {c, static_cast<float>(weights[0]), static_cast<float>(weights[1]),
              Vec3f(0, 0, static_cast<float>(along))};
    }
    if (best.triangle >= 0) return {best, true};
    const Vec3d weights = closest_weights(first.p, p);
    const Vec3d offset = first.frame(weights).transpose() * (p - first.at(weights));
    return {{nearest, static_cast<float>(weights[0]), static_cast<float>(weights[1]),
             offset.cast<float>()},
            false};
  }

 private:
  // Newton's method for q(α, β) + d n(α, β) = p, which is F = (p - q) × n = 0 with the distance as
  // an unknown of its own, so that there are as many equations as unknowns.
  static bool solve(const PhongTriangle& t, const Vec3d& p, Vec3d& weights, double& along) {
    weights = closest_weights(t.p, p);
    const auto mixed = [&](const Vec3d& w) -> Vec3d {
      return w[0] * t.n[0] + w[1] * t.n[1] + w[2] * t.n[2];
    };
    double d = (p - t.at(weights)).dot(mixed(weights));
    const double size = (t.p[1] - t.p[0]).norm() + (t.p[2] - t.p[0]).norm();
    for (int step = 0; step < 20; ++step) {
      const Vec3d n = mixed(weights);
      const Vec3d miss = p - t.at(weights) - d * n;
      if (miss.norm() < 1e-9 * size) break;
      Mat3d slope;
      slope << t.p[0] - t.p[2] + d * (t.n[0] - t.n[2]), t.p[1] - t.p[2] + d * (t.n[1] - t.n[2]), n;
      const Vec3d change = slope.fullPivLu().solve(miss);
      if (!change.allFinite() || std::abs(change[0]) + std::abs(change[1]) > 10) return false;
      weights[0] += change[0];
      weights[1] += change[1];
      weights[2] = 1 - weights[0] - weights[1];
      d += change[2];
    }
    const Vec3d n = mixed(weights);
    if (!((p - t.at(weights) - d * n).norm() < 1e-6 * size) || n.norm() < 0.1) return false;
    along = d * n.norm();
    return weights.minCoeff() > -1e-4;
  }

  std::pair<int32_t, double> find_nearest(const Vec3d& p) const {
    struct Search {
      const TieFinder* finder;
      const Vec3d* p;
      int32_t triangle;
      double distance;
    } search{this, &p, 0, std::numeric_limits<double>::infinity()};
    m_tree.search(p, search.distance, &search, [](void* context, uint32_t item) {
      auto& s = *static_cast<Search*>(context);
      const PhongTriangle t = s.finder->triangle(item);
      const double distance = (at_weights(t.p, closest_weights(t.p, *s.p)) - *s.p).norm();
      const auto number = static_cast<int32_t>(item);
      if (distance < s.distance || (distance == s.distance && number < s.triangle)) {
        s.distance = distance;
        s.triangle = number;
      }
      return s.distance;
    });
    return {search.triangle, search.distance};
  }

  std::vector<int32_t> within(const Vec3d& p, double radius) const {
    struct Search {
      std::vector<int32_t> found;
      double radius;
    } search{{}, radius};
    m_tree.search(p, radius, &search, [](void* context, uint32_t item) {
      auto& s = *static_cast<Search*>(context);
      s.found.push_back(static_cast<int32_t>(item));
      return s.radius;
    });
    return search.found;
  }

  std::span<const Vec3f> m_coarse;
  std::span<const Vec3i> m_triangles;
  std::vector<Vec3f> m_normals;
  BoxTree m_tree;
};

void check(std::span<const Vec3f> positions, const char* field) {
  for (const Vec3f& p : positions)
    if (!p.allFinite()) throw_input_error("detailed mesh", field, "a number is not finite");
}

}  // namespace

DetailMesh::DetailMesh(std::span<const Vec3f> coarse, std::span<const Vec3i> triangles,
                       std::span<const Vec3f> vertices)
    : m_triangles(triangles.begin(), triangles.end()), m_ties(vertices.size()) {
  check(coarse, "coarse positions");
  check(vertices, "positions");
  if (triangles.empty())
    throw_input_error("detailed mesh", "triangles", "there are none to hang it on");
  const TieFinder finder(coarse, triangles);
  m_off_normal = parallel_reduce(
      vertices.size(), 256, size_t{0},
      [&](size_t begin, size_t end) {
        size_t off = 0;
        for (size_t v = begin; v < end; ++v) {
          const auto [tie, along_normal] = finder.find(vertices[v].cast<double>());
          m_ties[v] = tie;
          off += along_normal ? 0 : 1;
        }
        return off;
      },
      std::plus<>());
}

void DetailMesh::follow(std::span<const Vec3f> coarse, std::span<Vec3f> vertices) const {
  std::vector<Vec3f> normals(coarse.size());
  vertex_normals(coarse, m_triangles, normals);
  parallel_for(m_ties.size(), 1024, [&](size_t begin, size_t end) {
    for (size_t v = begin; v < end; ++v) {
      const DetailTie& tie = m_ties[v];
      PhongTriangle t;
      for (size_t k = 0; k < 3; ++k) {
        const auto corner = static_cast<size_t>(
            m_triangles[static_cast<size_t>(tie.triangle)][static_cast<int>(k)]);
        t.p[k] = coarse[corner].cast<double>();
        t.n[k] = normals[corner].cast<double>();
      }
      const double a = static_cast<double>(tie.alpha), b = static_cast<double>(tie.beta);
      const Vec3d weights(a, b, 1 - a - b);
      const Vec3d offset = tie.offset.cast<double>();
      const bool along_normal = offset[0] == 0 && offset[1] == 0;
      const Vec3d step =
          along_normal ? Vec3d(offset[2] * t.normal(weights)) : Vec3d(t.frame(weights) * offset);
      vertices[v] = (t.at(weights) + step).cast<float>();
    }
  });
}

}  // namespace supple
