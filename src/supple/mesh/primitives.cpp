#include "supple/mesh/primitives.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "supple/mesh/weld.h"

namespace supple {
namespace {

constexpr double pi = std::numbers::pi;

int pieces(double length, double edge) {
  return static_cast<int>(std::clamp(std::round(length / edge), 1.0, 2000.0));
}

// Adds the surface at(u, v) for u, v from 0 to 1, which faces d/du x d/dv. Sides that meet are
// joined, triangles that collapse are left out.
template <class At>
void add_patch(TriangleMesh& mesh, int nu, int nv, const At& at) {
  TriangleMesh patch;
  for (int v = 0; v <= nv; ++v)
    for (int u = 0; u <= nu; ++u)
      patch.positions.push_back(
          Vec3d(at(static_cast<double>(u) / nu, static_cast<double>(v) / nv)).cast<float>());
  const auto index = [&](int u, int v) { return v * (nu + 1) + u; };
  for (int v = 0; v < nv; ++v)
    for (int u = 0; u < nu; ++u) {
      patch.triangles.emplace_back(index(u, v), index(u + 1, v), index(u + 1, v + 1));
      patch.triangles.emplace_back(index(u, v), index(u + 1, v + 1), index(u, v + 1));
    }
  const TriangleMesh joined =
      welded_mesh(weld_by_position(patch.positions), patch.positions, patch.triangles);
  const auto first = static_cast<int32_t>(mesh.positions.size());
  mesh.positions.insert(mesh.positions.end(), joined.positions.begin(), joined.positions.end());
  for (const Vec3i& t : joined.triangles) mesh.triangles.emplace_back(t.array() + first);
}

// Calls side(axis of u, axis of v, axis across, -1 or 1) for the six sides of a box; u x v points
// along the axis across for 1 and against it for -1.
template <class Side>
void for_sides(const Side& side) {
  for (int axis = 0; axis < 3; ++axis) {
    side((axis + 1) % 3, (axis + 2) % 3, axis, 1.0);
    side((axis + 2) % 3, (axis + 1) % 3, axis, -1.0);
  }
}

}  // namespace

TriangleMesh box_surface(const Vec3d& size, double edge) {
  TriangleMesh mesh;
  for_sides([&](int u, int v, int across, double sign) {
    add_patch(mesh, pieces(size[u], edge), pieces(size[v], edge), [&](double a, double b) {
      Vec3d p;
      p[u] = (a - 0.5) * size[u];
      p[v] = (b - 0.5) * size[v];
      p[across] = sign * size[across] / 2;
      return p;
    });
  });
  return mesh;
}

// The sides of a cube, blown up; equal angles from the centre keep triangles about equal.
TriangleMesh sphere_surface(double radius, double edge) {
  TriangleMesh mesh;
  const int n = pieces(radius * pi / 2, edge);
  for_sides([&](int u, int v, int across, double sign) {
    add_patch(mesh, n, n, [&](double a, double b) {
      Vec3d p;
      p[u] = std::tan((2 * a - 1) * pi / 4);
      p[v] = std::tan((2 * b - 1) * pi / 4);
      p[across] = sign;
      return Vec3d(radius * p.normalized());
    });
  });
  return welded_mesh(weld_by_position(mesh.positions), mesh.positions, mesh.triangles);
}

TriangleMesh tube_surface(const Tube& tube, double edge) {
  // A point by its angle around the ring and its place in the cross-section.
  const auto point = [&](double along, double radius, double around) {
    const double out = tube.ring + radius * std::cos(around);
    return Vec3d(out * std::cos(along), out * std::sin(along), radius * std::sin(around));
  };
  const int nu = pieces(tube.ring * tube.angle, edge);
  const int nv = std::max(8, pieces(2 * pi * tube.radius, edge));
  const int nr = pieces(tube.radius - tube.bore, edge);
  TriangleMesh mesh;
  add_patch(mesh, nv, nu,
            [&](double a, double b) { return point(b * tube.angle, tube.radius, -2 * pi * a); });
  if (tube.bore > 0)
    add_patch(mesh, nv, nu,
              [&](double a, double b) { return point(b * tube.angle, tube.bore, 2 * pi * a); });
  const auto across = [&](double r) { return tube.bore + r * (tube.radius - tube.bore); };
  add_patch(mesh, nr, nv, [&](double r, double a) { return point(0, across(r), 2 * pi * a); });
  add_patch(mesh, nr, nv,
            [&](double r, double a) { return point(tube.angle, across(r), -2 * pi * a); });
  return mesh;
}

}  // namespace supple
