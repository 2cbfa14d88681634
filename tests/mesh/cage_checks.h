// What every cage must be: checks shared by the tests of cages.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>

#include "supple/mesh/tet_cage.h"
#include "supple/mesh/winding_number.h"

namespace supple::test {

/// Fails unless all tetrahedra are positive, sides are shared by two at most, which see them from
/// either side, and the boundary is closed.
inline void expect_conforming(const TetMesh& mesh, const std::string& name) {
  static constexpr int sides[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  std::map<std::array<int32_t, 3>, std::pair<int, int>> faces;  // count, balance of orientation
  std::map<std::pair<int32_t, int32_t>, int> edges;             // of the boundary: balance
  int inverted = 0, crowded = 0, turned = 0, open = 0;
  std::vector<bool> used(mesh.positions.size(), false);
  for (const Vec4i& tet : mesh.tets) {
    if (!(six_volumes(mesh, tet) > 0)) ++inverted;
    for (int k = 0; k < 4; ++k) used[static_cast<size_t>(tet[k])] = true;
    for (const auto& side : sides) {
      std::array<int32_t, 3> key{tet[side[0]], tet[side[1]], tet[side[2]]};
      const int parity = (key[0] > key[1]) + (key[1] > key[2]) + (key[0] > key[2]);
      std::sort(key.begin(), key.end());
      auto& [count, balance] = faces[key];
      ++count;
      balance += parity % 2 ? -1 : 1;
    }
  }
  for (const auto& [key, face] : faces) {
    if (face.first > 2) ++crowded;
    if (face.first == 2 && face.second != 0) ++turned;
    if (face.first != 1) continue;
    const std::array<int32_t, 4> loop{key[0], key[1], key[2], key[0]};
    for (size_t k = 0; k < 3; ++k) {
      const bool forward = loop[k] < loop[k + 1];
      edges[std::minmax(loop[k], loop[k + 1])] += forward ? face.second : -face.second;
    }
  }
  for (const auto& [edge, balance] : edges) open += balance != 0;
  EXPECT_EQ(inverted, 0) << name;
  EXPECT_EQ(crowded, 0) << name;
  EXPECT_EQ(turned, 0) << name;
  EXPECT_EQ(open, 0) << name;
  EXPECT_TRUE(std::all_of(used.begin(), used.end(), [](bool u) { return u; })) << name;
}

/// How many points lie in no tetrahedron.
inline int points_outside(const TetMesh& mesh, std::span<const Vec3d> points) {
  int outside = 0;
  for (const TetLocation& at : locate_points(mesh, points))
    outside += !(at.weights.minCoeff() >= -1e-9);
  return outside;
}

/// Points of the skin: all corners of triangles, and some places on them.
inline std::vector<Vec3d> skin_points(const TriangleMesh& skin, int places, unsigned seed) {
  std::vector<Vec3d> points;
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> part(0, 1);
  const auto corner = [&](const Vec3i& t, int k) -> Vec3d {
    return skin.positions[static_cast<size_t>(t[k])].cast<double>();
  };
  for (const Vec3i& t : skin.triangles)
    for (int k = 0; k < 3; ++k) points.push_back(corner(t, k));
  for (int i = 0; i < places; ++i) {
    const Vec3i& t = skin.triangles[random() % skin.triangles.size()];
    double u = part(random), v = part(random);
    if (u + v > 1) {
      u = 1 - u;
      v = 1 - v;
    }
    points.push_back((1 - u - v) * corner(t, 0) + u * corner(t, 1) + v * corner(t, 2));
  }
  return points;
}

/// Points in the box around a skin that it winds round, by the sum over all triangles.
inline std::vector<Vec3d> solid_points(const TriangleMesh& skin, int wanted, unsigned seed) {
  std::vector<Vec3d> points;
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> part(0, 1);
  const Box3f box = bounding_box(skin.positions);
  for (int i = 0; i < 50 * wanted && static_cast<int>(points.size()) < wanted; ++i) {
    const Vec3d at =
        box.min().cast<double>() +
        Vec3d(part(random), part(random), part(random)).cwiseProduct(box.sizes().cast<double>());
    if (winding_number(skin.positions, skin.triangles, at) > 0.6) points.push_back(at);
  }
  return points;
}

/// Fails unless the cage is conforming and holds the skin and the solid under it, with angles of at
/// least `angle` degrees.
inline void expect_sound(const TetCage& cage, const TriangleMesh& skin, const std::string& name,
                         double angle = 10) {
  ASSERT_FALSE(cage.mesh.tets.empty()) << name;
  expect_conforming(cage.mesh, name);
  EXPECT_EQ(points_outside(cage.mesh, skin_points(skin, 2000, 1)), 0) << name;
  EXPECT_GE(smallest_dihedral(cage.mesh), angle) << name;
  EXPECT_DOUBLE_EQ(smallest_dihedral(cage.mesh), cage.smallest_angle) << name;
}

}  // namespace supple::test
