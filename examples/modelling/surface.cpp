#include "modelling/surface.h"

#include <openvdb/openvdb.h>
#include <openvdb/tools/VolumeToMesh.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "supple/core/error.h"
#include "supple/core/parallel.h"

namespace supple::modelling {
namespace {

using Quads = std::vector<Vec4i>;

constexpr int band = 3;  // cells on either side of the surface that hold distances

// The grid's space, where the focus of a sculpture is magnified. Beyond the focus, distances from
// its centre keep their differences, so that the map back never stretches: cells are at most as
// large as without focus, and distances in the model bound distances in the grid.
class GridSpace {
 public:
  explicit GridSpace(const Focus& focus) : m_focus(focus), m_blend(focus.radius) {}

  /// The model's point for a point of the grid's space.
  Vec3d to_model(const Vec3d& point) const {
    const Vec3d out = point - m_focus.centre;
    const double length = out.norm();
    return length < 1e-12 ? m_focus.centre : m_focus.centre + to_radius(length) / length * out;
  }

  /// A box in the grid's space that holds a box of the model.
  Box3d to_grid(Box3d box) const {
    const double growth = (m_focus.zoom - 1) * (m_focus.radius + 0.5 * m_blend);
    box.min().array() -= growth;
    box.max().array() += growth;
    return box;
  }

 private:
  // The slope is 1 / zoom up to the focus' radius, then grows to 1 over the blend's length.
  double to_radius(double length) const {
    const double inner = m_focus.zoom * m_focus.radius;
    if (length <= inner) return length / m_focus.zoom;
    const double slope = 1 / m_focus.zoom;
    const double s = std::min((length - inner) / m_blend, 1.0);
    const double blended = m_focus.radius + m_blend * (slope * s + (1 - slope) * s * s / 2);
    return blended + std::max(0.0, length - inner - m_blend);
  }

  Focus m_focus;
  double m_blend;
};

// Distances within a band around the surface. Blocks of 8 cells whose centre is further away than
// their corners and the band reach are skipped: their sign is all that counts.
openvdb::FloatGrid::Ptr distance_grid(const Sculpture& sculpture, double cell) {
  constexpr int block = 8;
  auto grid = openvdb::FloatGrid::create(static_cast<float>(band * cell));
  grid->setTransform(openvdb::math::Transform::createLinearTransform(cell));
  grid->setGridClass(openvdb::GRID_LEVEL_SET);
  const GridSpace space(sculpture.focus());
  const Box3d box = space.to_grid(sculpture.box());
  Vec3i low, count;
  for (int axis = 0; axis < 3; ++axis) {
    low[axis] = static_cast<int>(std::floor(box.min()[axis] / cell / block)) - 1;
    count[axis] = static_cast<int>(std::ceil(box.max()[axis] / cell / block)) + 1 - low[axis];
  }
  const size_t blocks =
      static_cast<size_t>(count[0]) * static_cast<size_t>(count[1]) * static_cast<size_t>(count[2]);
  struct Filled {
    openvdb::Coord origin;
    std::vector<float> values;  // empty where the block is all inside
  };
  std::vector<std::unique_ptr<Filled>> filled(blocks);
  parallel_for(blocks, 4, [&](size_t begin, size_t end) {
    for (size_t b = begin; b < end; ++b) {
      const int i = static_cast<int>(b);
      const Vec3i at = low + Vec3i(i % count[0], i / count[0] % count[1], i / count[0] / count[1]);
      const Vec3d centre = (at.cast<double>() * block + Vec3d::Constant(0.5 * block - 0.5)) * cell;
      // Seams and ellipsoids make the distance an estimate: twice the reach is safe.
      const double reach = 2 * cell * (std::sqrt(3.0) * block / 2 + band);
      const double there = sculpture.distance(space.to_model(centre));
      if (there > reach) continue;
      auto result = std::make_unique<Filled>();
      result->origin = openvdb::Coord(at[0] * block, at[1] * block, at[2] * block);
      if (there > -reach)
        for (int z = 0; z < block; ++z)
          for (int y = 0; y < block; ++y)
            for (int x = 0; x < block; ++x)
              result->values.push_back(static_cast<float>(sculpture.distance(
                  space.to_model((at.cast<double>() * block + Vec3d(x, y, z)) * cell))));
      filled[b] = std::move(result);
    }
  });
  auto accessor = grid->getAccessor();
  const float inside = static_cast<float>(-band * cell);
  for (const auto& each : filled) {
    if (!each) continue;
    size_t n = 0;
    for (int z = 0; z < block; ++z)
      for (int y = 0; y < block; ++y)
        for (int x = 0; x < block; ++x, ++n) {
          const openvdb::Coord at = each->origin.offsetBy(x, y, z);
          const float value = each->values.empty() ? inside : each->values[n];
          if (std::abs(value) < -inside)
            accessor.setValueOn(at, value);
          else if (value < 0)
            accessor.setValueOff(at, inside);
        }
  }
  return grid;
}

// Moves a point along the normal until it lies on the surface, to a micrometre.
Vec3d onto_surface(const Sculpture& sculpture, Vec3d point) {
  for (int step = 0; step < 6; ++step) {
    const auto [distance, normal] = sculpture.distance_and_normal(point);
    point -= distance * normal;
    if (std::abs(distance) < 1e-6) break;
  }
  return point;
}

// Spreads vertices evenly: each goes towards the middle of its neighbours, then back onto the
// surface.
void relax(const Sculpture& sculpture, const Quads& quads, double cell,
           std::vector<Vec3d>& points) {
  std::vector<Vec3d> sums(points.size(), Vec3d::Zero());
  std::vector<int> counts(points.size(), 0);
  for (const Vec4i& quad : quads)
    for (int c = 0; c < 4; ++c) {
      const auto v = static_cast<size_t>(quad[c]);
      sums[v] += points[static_cast<size_t>(quad[(c + 1) % 4])];
      sums[v] += points[static_cast<size_t>(quad[(c + 3) % 4])];
      counts[v] += 2;
    }
  parallel_for(points.size(), 256, [&](size_t begin, size_t end) {
    for (size_t v = begin; v < end; ++v) {
      if (counts[v] == 0) continue;
      Vec3d step = 0.5 * (sums[v] / counts[v] - points[v]);
      const double most = 0.25 * cell;
      if (step.norm() > most) step *= most / step.norm();
      points[v] = onto_surface(sculpture, points[v] + step);
    }
  });
}

// The vertex nearest to the mirror image of each, within a cell; none where two vertices are
// not each other's.
std::vector<size_t> mirror_partners(double cell, const std::vector<Vec3d>& points) {
  using Key = std::array<int64_t, 3>;
  const auto key = [&](const Vec3d& p) {
    return Key{std::llround(p[0] / cell), std::llround(p[1] / cell), std::llround(p[2] / cell)};
  };
  std::map<Key, std::vector<size_t>> places;
  for (size_t v = 0; v < points.size(); ++v) places[key(points[v])].push_back(v);
  std::vector<size_t> nearest(points.size(), points.size());
  parallel_for(points.size(), 256, [&](size_t begin, size_t end) {
    for (size_t v = begin; v < end; ++v) {
      const Vec3d image = points[v].cwiseProduct(Vec3d(-1, 1, 1));
      const Key middle = key(image);
      double best = cell;
      for (int n = 0; n < 27; ++n) {
        const auto found =
            places.find({middle[0] + n % 3 - 1, middle[1] + n / 3 % 3 - 1, middle[2] + n / 9 - 1});
        if (found == places.end()) continue;
        for (const size_t other : found->second) {
          const double distance = (points[other] - image).norm();
          if (distance < best) {
            best = distance;
            nearest[v] = other;
          }
        }
      }
    }
  });
  std::vector<size_t> alone;
  for (size_t v = 0; v < points.size(); ++v)
    if (nearest[v] == points.size() || nearest[nearest[v]] != v) alone.push_back(v);
  // What is left differs by the way a cell was cut: these take each other.
  for (const size_t v : alone) nearest[v] = points.size();
  for (const size_t v : alone) {
    const Vec3d image = points[v].cwiseProduct(Vec3d(-1, 1, 1));
    for (const size_t u : alone)
      if (nearest[v] == points.size() && nearest[u] == points.size() && u != v &&
          (points[u] - image).norm() < 2 * cell) {
        nearest[v] = u;
        nearest[u] = v;
      }
  }
  return nearest;
}

// Makes mirror partners exact mirror images of each other: rounding has set them a little apart.
void symmetrise(double cell, std::vector<Vec3d>& points) {
  const Vec3d flip(-1, 1, 1);
  const std::vector<size_t> partners = mirror_partners(cell, points);
  for (size_t v = 0; v < points.size(); ++v) {
    const size_t other = partners[v];
    if (other == points.size() || other < v) continue;
    const Vec3d mean = 0.5 * (points[v] + flip.cwiseProduct(points[other]));
    points[v] = mean;
    points[other] = flip.cwiseProduct(mean);
    if (other == v) points[v][0] = 0;
  }
}

// Splits quads along the diagonal that leaves the rounder triangles.
void add_triangles(const Quads& quads, const std::vector<Vec3d>& points, TriangleMesh& mesh) {
  const auto at = [&](int v) -> const Vec3d& { return points[static_cast<size_t>(v)]; };
  for (const Vec4i& q : quads) {
    const Vec3d &a = at(q[0]), &b = at(q[1]), &c = at(q[2]), &d = at(q[3]);
    const double first = std::min(roundness(a, b, c), roundness(a, c, d));
    const double second = std::min(roundness(a, b, d), roundness(b, c, d));
    if (first > second + 1e-9) {
      mesh.triangles.emplace_back(q[0], q[1], q[2]);
      mesh.triangles.emplace_back(q[0], q[2], q[3]);
    } else {
      mesh.triangles.emplace_back(q[0], q[1], q[3]);
      mesh.triangles.emplace_back(q[1], q[2], q[3]);
    }
  }
}

// The surface as OpenVDB finds it: one vertex per cell the surface crosses.
void extract(const Sculpture& sculpture, double cell, std::vector<Vec3d>& points, Quads& quads) {
  openvdb::initialize();
  const auto grid = distance_grid(sculpture, cell);
  std::vector<openvdb::Vec3s> vertices;
  std::vector<openvdb::Vec4I> faces;
  openvdb::tools::volumeToMesh(*grid, vertices, faces, 0.0);
  const GridSpace space(sculpture.focus());
  for (const openvdb::Vec3s& p : vertices)
    points.push_back(space.to_model(Vec3d(p[0], p[1], p[2])));
  // Its faces turn the other way round.
  for (const openvdb::Vec4I& f : faces)
    quads.emplace_back(static_cast<int>(f[3]), static_cast<int>(f[2]), static_cast<int>(f[1]),
                       static_cast<int>(f[0]));
}

}  // namespace

double roundness(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const double longest =
      std::max({(b - a).squaredNorm(), (c - b).squaredNorm(), (a - c).squaredNorm()});
  return (b - a).cross(c - a).norm() / std::max(longest, 1e-300);
}

TriangleMesh mesh_surface(const Sculpture& sculpture, double cell) {
  std::vector<Vec3d> points;
  Quads quads;
  extract(sculpture, cell, points, quads);
  // Good triangles need no more than a few rounds.
  for (int round = 0; round < 4; ++round) relax(sculpture, quads, cell, points);
  const bool symmetric = sculpture.is_symmetric();
  if (symmetric) symmetrise(cell, points);
  parallel_for(points.size(), 256, [&](size_t begin, size_t end) {
    for (size_t v = begin; v < end; ++v) points[v] = onto_surface(sculpture, points[v]);
  });
  if (symmetric) symmetrise(cell, points);
  TriangleMesh mesh;
  for (const Vec3d& p : points) mesh.positions.push_back(p.cast<float>());
  add_triangles(quads, points, mesh);
  return mesh;
}

double cell_for_vertices(const Sculpture& sculpture, int vertices) {
  // The number of vertices goes with the inverse square of the cell: start coarse, then correct.
  double cell = sculpture.box().diagonal().norm() / 60;
  for (int round = 0; round < 4; ++round) {
    std::vector<Vec3d> points;
    Quads quads;
    extract(sculpture, cell, points, quads);
    const double ratio = static_cast<double>(points.size()) / vertices;
    if (std::abs(ratio - 1) < 0.03) break;
    cell *= std::sqrt(ratio);
  }
  return cell;
}

}  // namespace supple::modelling
