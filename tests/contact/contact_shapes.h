// Characters and references the contact tests share.
#pragma once

#include <array>
#include <random>
#include <string>
#include <vector>

#include "mesh/shapes.h"
#include "supple/io/load.h"
#include "supple/mesh/lattice_mesh.h"
#include "supple/mesh/primitives.h"
#include "supple/mesh/weld.h"
#include "support/test_support.h"

namespace supple::test {

/// The welded skin of a real character.
inline TriangleMesh real_skin(const std::string& name) {
  const Character character = read_character(*assets() / "gltf" / name);
  const Weld weld = weld_by_position(character.skin.positions);
  return welded_mesh(weld, character.skin.positions, character.skin.triangles);
}

/// The distance of a triangle, by nested searches along two of its sides: the squared distance is
/// convex. A reference that shares no formula with what it checks.
inline double slow_distance(const std::array<Vec3d, 3>& t, const Vec3d& p) {
  const auto least = [](double low, double high, const auto& f) {
    for (int step = 0; step < 45; ++step) {
      const double a = low + (high - low) / 3, b = high - (high - low) / 3;
      (f(a) < f(b) ? high : low) = f(a) < f(b) ? b : a;
    }
    return f((low + high) / 2);
  };
  return std::sqrt(least(0, 1, [&](double u) {
    return least(0, 1 - u, [&](double v) {
      return (t[0] + u * (t[1] - t[0]) + v * (t[2] - t[0]) - p).squaredNorm();
    });
  }));
}

/// Node positions at rest.
inline std::vector<Vec3d> rest_nodes(const SolidLattice& solid, const LatticeMesh& mesh) {
  std::vector<Vec3d> rest;
  for (const LatticePlace& n : mesh.nodes)
    rest.push_back(solid.position(solid.lattice.coordinates(n.block, n.local)));
  return rest;
}

}  // namespace supple::test
