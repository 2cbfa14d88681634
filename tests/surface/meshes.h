// Meshes for tests of surfaces.
#pragma once

#include <random>

#include "supple/mesh/primitives.h"
#include "supple/mesh/triangle_mesh.h"
#include "supple/mesh/weld.h"
#include "supple/surface/surface_solver.h"

namespace supple::test {

inline TriangleMesh welded(const TriangleMesh& mesh) {
  return welded_mesh(weld_by_position(mesh.positions), mesh.positions, mesh.triangles);
}

/// A cube of side 2 with about `particles` vertices.
inline TriangleMesh cube(double particles) {
  return welded(box_surface({2, 2, 2}, 2 / std::sqrt(particles / 6)));
}

/// A ball of radius 1 with about `particles` vertices.
inline TriangleMesh ball(double particles) {
  return welded(sphere_surface(1, std::sqrt(4 * 3.1416 / (0.866 * particles))));
}

/// A bent rod.
inline TriangleMesh rod(double edge) {
  return welded(tube_surface({.ring = 1, .radius = 0.3, .angle = 4}, edge));
}

/// A model of one mesh.
inline SurfaceModel model_of(const TriangleMesh& mesh, const SurfaceParameters& parameters = {}) {
  const SurfaceObject object{mesh.positions, mesh.triangles, {}, parameters};
  return SurfaceModel(std::span(&object, 1));
}

/// Moves positions at random, by up to `size`, and bends them.
inline void disturb(std::span<Vec3f> positions, float size, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> any(-size, size);
  for (Vec3f& p : positions) {
    p[0] += 0.3f * std::sin(2 * p[1]);
    p += Vec3f(any(random), any(random), any(random));
  }
}

}  // namespace supple::test
