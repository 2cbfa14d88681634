// The closest of some triangles to a point, triangles side by side in lanes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace supple {

/// Corners of triangles as nine rows of numbers: x, y, z of the first corner, of the second from
/// there, and of the third from there. Rows are `stride` numbers apart, a multiple of 16; those
/// past the last triangle are copies of one.
struct TriangleRows {
  const float* rows = nullptr;
  size_t stride = 0;
};

/// The closest triangle, and where on it.
struct ClosestTriangle {
  float distance2 = 0;          ///< squared, in m²
  int32_t triangle = 0;         ///< the lowest number of those equally close
  float second = 0, third = 0;  ///< weights of those corners; the first has the rest
};

/// The closest of `count` triangles to a point (x, y, z); also for those without area.
ClosestTriangle closest_triangle(const TriangleRows& triangles, size_t count, const float* point);

/// The closest of those that face against a direction: whose normal's product with it is negative.
/// The squared distance is 1e30 when there is none.
ClosestTriangle closest_facing(const TriangleRows& triangles, size_t count, const float* point,
                               const float* direction);

/// Most points that are searched at once, whole registers of any instruction set.
inline constexpr size_t points_at_once = 16;

/// Coordinates of points in rows (in metres). All are read; those past the last point are finite.
struct PointRows {
  alignas(64) float rows[3][points_at_once];
};

/// Triangles that lie together, and the box around them: lowest and highest corner (in metres),
/// then 0.
struct PatchTriangles {
  TriangleRows triangles;
  uint32_t count = 0;
  int32_t first = 0;  ///< number of its first triangle
  alignas(16) float low[4] = {}, high[4] = {};
};

/// For each of the first points, as many as `best` has, the closest triangle of some of all
/// patches, if it is closer than the one in `best` already; of those equally close the first.
/// Points and patches that are not finite find nothing.
void closest_of_patches(std::span<const PatchTriangles> all, std::span<const uint32_t> some,
                        const PointRows& points, std::span<ClosestTriangle> best);

/// The first of `count` triangles that the straight way from one point to another enters by its
/// front. `distance2` is how far along the way that is, from 0 to 1, or 1e30 when there is none.
ClosestTriangle first_crossing(const TriangleRows& triangles, size_t count, const float* from,
                               const float* to);

}  // namespace supple
