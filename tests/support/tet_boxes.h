// Boxes of tetrahedra, for tests and benchmarks.
#pragma once

#include <random>

#include "supple/mesh/tet_mesh.h"

namespace supple {

/// A box of cubes of a side (m) cut into six tetrahedra each, its nodes shaken by a part of it.
inline TetMesh box_of_tets(int nx, int ny, int nz, double side, double shake) {
  TetMesh mesh;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> number(-shake * side, shake * side);
  const auto node = [&](int x, int y, int z) { return x + (nx + 1) * (y + (ny + 1) * z); };
  for (int z = 0; z <= nz; ++z)
    for (int y = 0; y <= ny; ++y)
      for (int x = 0; x <= nx; ++x)
        mesh.positions.push_back(side * Vec3d(x, y, z) +
                                 Vec3d(number(random), number(random), number(random)));
  const int paths[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (int z = 0; z < nz; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x)
        for (const auto& path : paths) {
          Vec3i at(x, y, z);
          Vec4i tet;
          tet[0] = node(at[0], at[1], at[2]);
          for (int k = 0; k < 3; ++k) {
            ++at[path[k]];
            tet[k + 1] = node(at[0], at[1], at[2]);
          }
          mesh.tets.push_back(tet);
        }
  orient_positively(mesh);
  return mesh;
}

}  // namespace supple
