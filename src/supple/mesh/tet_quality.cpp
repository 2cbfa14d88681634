#include "supple/mesh/tet_quality.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "supple/core/parallel.h"

namespace supple {

double tet_quality(const std::array<Vec3d, 4>& corners) {
  const Vec3d a = corners[1] - corners[0], b = corners[2] - corners[0], c = corners[3] - corners[0];
  // Inward area vectors of the sides opposite each corner.
  const Vec3d n1 = b.cross(c), n2 = c.cross(a), n3 = a.cross(b), n0 = -(n1 + n2 + n3);
  const double volume = a.dot(n1);
  const double edge =
      std::max({a.squaredNorm(), b.squaredNorm(), c.squaredNorm(), (b - a).squaredNorm(),
                (c - a).squaredNorm(), (c - b).squaredNorm()});
  if (!(edge > 0)) return 0;
  const double flatness = volume / (edge * std::sqrt(edge));
  if (!(flatness > 1e-12)) return std::min(0.0, 6 * flatness);
  const Vec3d n[4] = {n0.normalized(), n1.normalized(), n2.normalized(), n3.normalized()};
  // cos of the angle at the edge between sides i and j = -n_i · n_j.
  double largest = -1;
  for (int i = 0; i < 4; ++i)
    for (int j = i + 1; j < 4; ++j) largest = std::max(largest, -n[i].dot(n[j]));
  return std::acos(std::min(largest, 1.0)) * 180 / std::numbers::pi;
}

double smallest_dihedral(const TetMesh& mesh) {
  return parallel_reduce(
      mesh.tets.size(), 4096, 180.0,
      [&](size_t begin, size_t end) {
        double smallest = 180;
        for (size_t t = begin; t < end; ++t)
          smallest =
              std::min(smallest, std::max(0.0, tet_quality(tet_corners(mesh, mesh.tets[t]))));
        return smallest;
      },
      [](double a, double b) { return std::min(a, b); });
}

}  // namespace supple
