#include "supple/mesh/tet_cage.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "supple/core/error.h"
#include "supple/mesh/cage_lattice.h"
#include "supple/mesh/delaunay.h"
#include "supple/mesh/tet_crossings.h"
#include "supple/mesh/tet_placing.h"

namespace supple {
namespace {

// Placed points nearer to each other than this, in spacings, share a node.
constexpr double sharing = 0.25;

constexpr int most_elements = 10'000'000;

void check_options(const TetCageOptions& options) {
  if (options.elements < 1 || options.elements > most_elements)
    throw Error(ErrorKind::usage,
                fmt::format("elements {}: must be from 1 to {}", options.elements, most_elements));
  if (!(options.smallest_angle >= 0 && options.smallest_angle <= 40))
    throw Error(ErrorKind::usage, fmt::format("smallest_angle {}: must be from 0 to 40 degrees",
                                              options.smallest_angle));
}

// The triangles and the vertices they use; says what is wrong with them.
TriangleMesh checked_skin(const TriangleMesh& skin, std::span<const Vec3d> points) {
  const auto refuse = [](const std::string& problem) {
    throw Error(ErrorKind::input, "no cage can be made: " + problem);
  };
  if (skin.triangles.empty()) refuse("the skin has no triangles");
  TriangleMesh used;
  std::vector<int32_t> vertices(skin.positions.size(), -1);
  for (const Vec3i& t : skin.triangles) {
    Vec3i added;
    for (int k = 0; k < 3; ++k) {
      if (t[k] < 0 || static_cast<size_t>(t[k]) >= skin.positions.size())
        refuse(fmt::format("a triangle uses vertex {} of {}", t[k], skin.positions.size()));
      int32_t& vertex = vertices[t[k]];
      if (vertex < 0) {
        if (!skin.positions[t[k]].allFinite())
          refuse(fmt::format("vertex {} of the skin is not at a finite place", t[k]));
        vertex = static_cast<int32_t>(used.positions.size());
        used.positions.push_back(skin.positions[t[k]]);
      }
      added[k] = vertex;
    }
    used.triangles.push_back(added);
  }
  const double length = bounding_box(used.positions).diagonal().cast<double>().norm();
  if (!(length > 0) || !std::isfinite(length)) refuse("the skin has no extent");
  for (size_t i = 0; i < points.size(); ++i)
    if (!points[i].allFinite()) refuse(fmt::format("placed point {} is not finite", i));
  return used;
}

// Tetrahedra around a solid with room beyond it, and the nodes of the placed points, -1 for those
// that have none of their own.
struct Surroundings {
  TetMesh mesh;
  std::vector<int32_t> nodes;
};

// Moves the lattice's nodes to the points.
Surroundings place_in_lattice(const CageLattice& found, std::span<const Vec3d> points,
                              double smallest_angle) {
  TetPlacing placing(lattice_tets(found.lattice, with_surroundings(found.tets)),
                     found.lattice.spacing, smallest_angle);
  Surroundings result;
  for (const Vec3d& point : points) result.nodes.push_back(placing.place(point));
  // Then there may be room for the rest.
  placing.smooth(smallest_angle + 10, 4);
  for (size_t i = 0; i < points.size(); ++i)
    if (result.nodes[i] < 0) result.nodes[i] = placing.place(points[i]);
  result.mesh = placing.mesh();
  return result;
}

// A displacement of at most one unit along each axis that looks random and is the same in every
// run.
Vec3d shake(size_t index) {
  constexpr double root = 1.2207440846057596;
  const auto along = [&](double step) {
    const double at = static_cast<double>(index + 1) * step;
    return 2 * (at - std::floor(at)) - 1;
  };
  return {along(1 / root), along(1 / (root * root)), along(1 / (root * root * root))};
}

// Joins the points, and lattice nodes that are further than `room` spacings from them, to a
// Delaunay triangulation. Nodes are shaken a little, as Qhull wants no five points on a sphere;
// placed points only for Qhull's eyes. Slivers are left to smoothing.
Surroundings triangulate(const CageLattice& found, std::span<const Vec3d> points, double room,
                         const TetCageOptions& options, const TriangleMesh& skin,
                         const SkinSolid& solid) {
  const double spacing = found.lattice.spacing;
  Surroundings result;
  std::vector<Vec3d> own, shaken;  // points with a node of their own; as Qhull sees all nodes
  for (const Vec3d& point : points) {
    const bool shares = std::any_of(own.begin(), own.end(), [&](const Vec3d& other) {
      return (other - point).norm() < sharing * spacing;
    });
    result.nodes.push_back(shares ? -1 : static_cast<int32_t>(own.size()));
    if (!shares) own.push_back(point);
  }
  result.mesh.positions = own;
  for (size_t i = 0; i < own.size(); ++i) shaken.push_back(own[i] + 1e-4 * spacing * shake(i));
  const TetMesh lattice = lattice_tets(found.lattice, with_surroundings(found.tets));
  for (size_t n = 0; n < lattice.positions.size(); ++n) {
    const Vec3d& node = lattice.positions[n];
    const bool crowded = std::any_of(own.begin(), own.end(), [&](const Vec3d& point) {
      return (point - node).squaredNorm() < room * room * spacing * spacing;
    });
    if (crowded) continue;
    shaken.push_back(node + 1e-4 * spacing * shake(own.size() + n));
    result.mesh.positions.push_back(shaken.back());
  }
  result.mesh.tets = delaunay_tets(shaken);
  TetPlacing placing(result.mesh, spacing, options.smallest_angle);
  for (size_t i = 0; i < own.size(); ++i) placing.hold(static_cast<int32_t>(i));
  placing.choose(tets_with_matter(result.mesh, skin, solid));
  placing.smooth(options.smallest_angle + 10, 12);
  result.mesh = placing.mesh();
  return result;
}

// The nearest node to a point among some.
std::pair<int32_t, double> nearest_node(const TetMesh& mesh, const Vec3d& point) {
  std::pair<int32_t, double> nearest{-1, std::numeric_limits<double>::infinity()};
  for (size_t n = 0; n < mesh.positions.size(); ++n) {
    const double distance = (mesh.positions[n] - point).norm();
    if (distance < nearest.second) nearest = {static_cast<int32_t>(n), distance};
  }
  return nearest;
}

// Cuts the empty tetrahedra away and finds the nodes of all points.
TetCage cut_out(const Surroundings& around, const TriangleMesh& skin, const SkinSolid& solid,
                std::span<const Vec3d> points, double spacing) {
  TetCage cage;
  cage.spacing = spacing;
  std::vector<int32_t> kept;
  cage.mesh = chosen_tets(around.mesh, tets_with_matter(around.mesh, skin, solid), &kept);
  for (size_t i = 0; i < points.size(); ++i) {
    int32_t node = around.nodes[i] >= 0 ? kept[around.nodes[i]] : -1;
    double distance = 0;
    if (node < 0) {
      std::tie(node, distance) = nearest_node(cage.mesh, points[i]);
      const bool is_shared =
          std::any_of(around.nodes.begin(), around.nodes.end(),
                      [&](int32_t other) { return other >= 0 && kept[other] == node; });
      if (distance > 0) ++(is_shared && distance < sharing * spacing ? cage.shared : cage.unplaced);
    }
    cage.nodes_of_points.push_back(node);
    cage.distances_of_points.push_back(distance);
    cage.farthest = std::max(cage.farthest, distance);
  }
  cage.smallest_angle = smallest_dihedral(cage.mesh);
  return cage;
}

// The lattice as it is, which is its own Delaunay triangulation.
TetCage whole_lattice(const CageLattice& found) {
  TetCage cage;
  cage.mesh = lattice_tets(found.lattice, found.tets);
  cage.spacing = found.lattice.spacing;
  cage.smallest_angle = smallest_dihedral(cage.mesh);
  return cage;
}

// The cage over one lattice. Of Delaunay triangulations, with more and more room around the points,
// takes the first that is well shaped, or else the best.
TetCage make_from(const CageLattice& found, std::span<const Vec3d> points,
                  const TetCageOptions& options, const TriangleMesh& skin, const SkinSolid& solid) {
  const double spacing = found.lattice.spacing;
  if (points.empty()) return whole_lattice(found);
  if (options.method == TetCageMethod::bcc) {
    return cut_out(place_in_lattice(found, points, options.smallest_angle), skin, solid, points,
                   spacing);
  }
  TetCage best;
  for (const double room : {0.5, 0.6, 0.7}) {
    TetCage cage = cut_out(triangulate(found, points, room, options, skin, solid), skin, solid,
                           points, spacing);
    if (best.mesh.tets.empty() || cage.smallest_angle > best.smallest_angle) best = std::move(cage);
    if (best.smallest_angle >= options.smallest_angle) break;
  }
  return best;
}

// How far a number of elements is from the wanted one.
double off(double count, const TetCageOptions& options) {
  return std::abs(std::log(count / options.elements));
}

}  // namespace

TetCage make_tet_cage(const TriangleMesh& skin, std::span<const Vec3d> placed_points,
                      const TetCageOptions& options) {
  check_options(options);
  const TriangleMesh used = checked_skin(skin, placed_points);
  const SkinSolid solid(used);
  // Placing points changes the number of elements a little: the lattice is corrected for it.
  TetCage best;
  double wanted = options.elements;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const CageLattice found = find_cage_lattice(used, solid, wanted);
    TetCage cage = make_from(found, placed_points, options, used, solid);
    const auto count = static_cast<double>(cage.mesh.tets.size());
    if (attempt == 0 ||
        off(count, options) < off(static_cast<double>(best.mesh.tets.size()), options))
      best = std::move(cage);
    if (placed_points.empty() || off(count, options) < 0.1) break;
    wanted *= options.elements / count;
  }
  return best;
}

}  // namespace supple
