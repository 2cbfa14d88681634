#include "supple/mesh/triangle_mesh.h"

#include "supple/core/parallel.h"

namespace supple {
namespace {

constexpr size_t block = 4096;  // triangles per block of a parallel sum

}  // namespace

Box3f bounding_box(std::span<const Vec3f> positions) {
  Box3f box;
  for (const Vec3f& p : positions) box.extend(p);
  return box;
}

double signed_volume(std::span<const Vec3f> positions, std::span<const Vec3i> triangles) {
  if (positions.empty()) return 0;
  // Tetrahedra against a point of the mesh rather than the origin: no cancellation far away.
  const Vec3d origin = positions[0].cast<double>();
  const auto corner = [&](int32_t v) -> Vec3d { return positions[v].cast<double>() - origin; };
  return parallel_reduce(
      triangles.size(), block, 0.0,
      [&](size_t begin, size_t end) {
        double sum = 0;
        for (size_t t = begin; t < end; ++t) {
          const Vec3i& tri = triangles[t];
          sum += corner(tri[0]).dot(corner(tri[1]).cross(corner(tri[2]))) / 6;
        }
        return sum;
      },
      std::plus<>());
}

double surface_area(std::span<const Vec3f> positions, std::span<const Vec3i> triangles) {
  double sum = 0;
  for (const Vec3i& tri : triangles) {
    const Vec3d a = positions[tri[0]].cast<double>();
    const Vec3d b = positions[tri[1]].cast<double>();
    const Vec3d c = positions[tri[2]].cast<double>();
    sum += (b - a).cross(c - a).norm() / 2;
  }
  return sum;
}

void vertex_normals(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                    std::span<Vec3f> normals) {
  std::fill(normals.begin(), normals.end(), Vec3f::Zero());
  for (const Vec3i& tri : triangles) {
    const Vec3f& a = positions[tri[0]];
    const Vec3f cross = (positions[tri[1]] - a).cross(positions[tri[2]] - a);
    for (int corner = 0; corner < 3; ++corner) normals[tri[corner]] += cross;
  }
  for (Vec3f& n : normals) {
    const float length = n.stableNorm();
    n = length > 0 ? Vec3f(n / length) : Vec3f::Zero();
  }
}

}  // namespace supple
