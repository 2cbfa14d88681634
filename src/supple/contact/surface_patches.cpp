#include "supple/contact/surface_patches.h"

#include <algorithm>
#include <numeric>

namespace supple {
namespace {

// Halves a run of triangles across the longest side of the box of their middles until patches are
// small.
void halve(std::span<const Vec3f> middles, std::span<int32_t> run, size_t first,
           std::vector<std::pair<size_t, size_t>>& out) {
  if (run.size() <= patch_triangles) {
    out.emplace_back(first, first + run.size());
    return;
  }
  Box3f box;
  for (const int32_t t : run) box.extend(middles[static_cast<size_t>(t)]);
  Eigen::Index axis = 0;
  box.sizes().maxCoeff(&axis);
  // Whole patches on the left, so that few are nearly empty.
  const size_t patches = (run.size() + patch_triangles - 1) / patch_triangles;
  const size_t left = run.size() * (patches / 2) / patches;
  std::nth_element(run.begin(), run.begin() + static_cast<std::ptrdiff_t>(left), run.end(),
                   [&](int32_t a, int32_t b) {
                     const float pa = middles[static_cast<size_t>(a)][axis];
                     const float pb = middles[static_cast<size_t>(b)][axis];
                     return pa < pb || (pa == pb && a < b);
                   });
  halve(middles, run.first(left), first, out);
  halve(middles, run.subspan(left), first + left, out);
}

}  // namespace

SurfacePatches::SurfacePatches(std::span<const Vec3f> rest, std::span<const Vec3i> triangles,
                               std::span<const int32_t> object_of_vertex) {
  const auto object_of = [&](int32_t t) {
    return object_of_vertex[static_cast<size_t>(triangles[static_cast<size_t>(t)][0])];
  };
  std::vector<Vec3f> middles;
  for (const Vec3i& t : triangles)
    middles.emplace_back((rest[static_cast<size_t>(t[0])] + rest[static_cast<size_t>(t[1])] +
                          rest[static_cast<size_t>(t[2])]) /
                         3);
  triangle.resize(triangles.size());
  std::iota(triangle.begin(), triangle.end(), 0);
  std::stable_sort(triangle.begin(), triangle.end(),
                   [&](int32_t a, int32_t b) { return object_of(a) < object_of(b); });
  std::vector<std::pair<size_t, size_t>> runs;
  for (size_t begin = 0, end = 0; begin < triangle.size(); begin = end) {
    while (end < triangle.size() && object_of(triangle[end]) == object_of(triangle[begin])) ++end;
    halve(middles, std::span(triangle).subspan(begin, end - begin), begin, runs);
  }
  std::vector<uint8_t> is_taken(rest.size(), 0);
  for (const auto& [begin, end] : runs) {
    SurfacePatch patch;
    patch.first_triangle = static_cast<uint32_t>(begin);
    patch.last_triangle = static_cast<uint32_t>(end);
    patch.first_corner = static_cast<uint32_t>(corner.size());
    patch.first_own = static_cast<uint32_t>(own.size());
    patch.object = object_of(triangle[begin]);
    for (size_t i = begin; i < end; ++i)
      for (int c = 0; c < 3; ++c) corner.push_back(triangles[static_cast<size_t>(triangle[i])][c]);
    const auto from = corner.begin() + patch.first_corner;
    std::sort(from, corner.end());
    corner.erase(std::unique(from, corner.end()), corner.end());
    for (size_t i = patch.first_corner; i < corner.size(); ++i) {
      uint8_t& taken = is_taken[static_cast<size_t>(corner[i])];
      if (!taken) own.push_back(corner[i]);
      taken = 1;
    }
    patch.last_corner = static_cast<uint32_t>(corner.size());
    patch.last_own = static_cast<uint32_t>(own.size());
    patches.push_back(patch);
  }
}

Box3f SurfacePatches::box(size_t patch, std::span<const Vec3f> x) const {
  Box3f result;
  for (uint32_t i = patches[patch].first_corner; i < patches[patch].last_corner; ++i)
    result.extend(x[static_cast<size_t>(corner[i])]);
  return result;
}

}  // namespace supple
