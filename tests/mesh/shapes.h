// Analytic shapes for the mesh tests.
#pragma once

#include <cmath>
#include <map>
#include <vector>

#include "supple/mesh/tet_mesh.h"
#include "supple/mesh/triangle_mesh.h"

namespace supple::test {

/// A closed box of 8 vertices and 12 outward triangles, from the origin to `size`.
inline TriangleMesh make_box(const Vec3f& size) {
  TriangleMesh mesh;
  for (int corner = 0; corner < 8; ++corner)
    mesh.positions.push_back(
        size.cwiseProduct(Vec3f(corner & 1 ? 1 : 0, corner & 2 ? 1 : 0, corner & 4 ? 1 : 0)));
  const int quads[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                           {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  for (const auto& q : quads) {
    mesh.triangles.emplace_back(q[0], q[1], q[2]);
    mesh.triangles.emplace_back(q[0], q[2], q[3]);
  }
  return mesh;
}

/// A unit sphere: an octahedron whose triangles are split in four `levels` times.
inline TriangleMesh make_sphere(int levels) {
  TriangleMesh mesh;
  for (int axis = 0; axis < 3; ++axis)
    for (const float side : {1.0f, -1.0f}) mesh.positions.push_back(side * Vec3f::Unit(axis));
  for (const int x : {0, 1})
    for (const int y : {2, 3})
      for (const int z : {4, 5}) {
        const bool outward = (x + y - 2 + z - 4) % 2 == 0;
        mesh.triangles.emplace_back(x, outward ? y : z, outward ? z : y);
      }
  for (int level = 0; level < levels; ++level) {
    std::map<std::pair<int, int>, int> middles;
    const auto middle = [&](int a, int b) {
      const auto [entry, is_new] = middles.try_emplace(std::minmax(a, b), 0);
      if (is_new) {
        entry->second = static_cast<int>(mesh.positions.size());
        const Vec3d sum =
            (mesh.positions[static_cast<size_t>(a)] + mesh.positions[static_cast<size_t>(b)])
                .cast<double>();
        mesh.positions.push_back(sum.normalized().cast<float>());
      }
      return entry->second;
    };
    std::vector<Vec3i> finer;
    for (const Vec3i& t : mesh.triangles) {
      const int a = middle(t[0], t[1]), b = middle(t[1], t[2]), c = middle(t[2], t[0]);
      for (const Vec3i& s :
           {Vec3i(t[0], a, c), Vec3i(a, t[1], b), Vec3i(c, b, t[2]), Vec3i(a, b, c)})
        finer.push_back(s);
    }
    mesh.triangles = finer;
  }
  return mesh;
}

/// Adds another mesh, moved by `shift`.
inline void append(TriangleMesh& mesh, const TriangleMesh& other, const Vec3f& shift) {
  const auto first = static_cast<int32_t>(mesh.positions.size());
  for (const Vec3f& p : other.positions) mesh.positions.push_back(p + shift);
  for (const Vec3i& t : other.triangles) mesh.triangles.emplace_back(t.array() + first);
}

/// The upper half of a unit sphere, without a floor.
inline TriangleMesh make_dome(int levels) {
  TriangleMesh mesh = make_sphere(levels);
  std::erase_if(mesh.triangles, [&](const Vec3i& t) {
    for (int k = 0; k < 3; ++k)
      if (mesh.positions[static_cast<size_t>(t[k])][1] < -1e-6f) return true;
    return false;
  });
  return mesh;
}

/// A unit cube of n * n * n small cubes, six positive tetrahedra around the long diagonal of each.
inline TetMesh make_tet_cube(int n) {
  TetMesh mesh;
  const auto node = [&](int x, int y, int z) { return (z * (n + 1) + y) * (n + 1) + x; };
  for (int z = 0; z <= n; ++z)
    for (int y = 0; y <= n; ++y)
      for (int x = 0; x <= n; ++x) mesh.positions.push_back(Vec3d(x, y, z) / n);
  // Each order of the three axes is one path of edges from corner (0,0,0) to (1,1,1).
  const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  for (int z = 0; z < n; ++z)
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x)
        for (int o = 0; o < 6; ++o) {
          Vec3i at(x, y, z);
          Vec4i tet;
          tet[0] = node(at[0], at[1], at[2]);
          for (int k = 0; k < 3; ++k) {
            ++at[orders[o][k]];
            tet[k + 1] = node(at[0], at[1], at[2]);
          }
          if (o >= 3) std::swap(tet[2], tet[3]);  // odd orders turn the other way
          mesh.tets.push_back(tet);
        }
  return mesh;
}

}  // namespace supple::test
