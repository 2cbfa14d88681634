// Surfaces cut into patches of neighbouring triangles, for finding contacts between them: boxes are
// put around patches, and the triangles of one lie side by side in lanes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "supple/math/types.h"

namespace supple {

/// Most triangles of a patch, whole registers of any instruction set.
inline constexpr size_t patch_triangles = 16;

/// Triangles and vertices of a surface that lie together.
struct SurfacePatch {
  uint32_t first_triangle = 0, last_triangle = 0;  ///< in the patches' order, the last excluded
  uint32_t first_corner = 0, last_corner = 0;      ///< of the vertices its triangles have
  uint32_t first_own = 0, last_own = 0;            ///< of the vertices that are its own
  int32_t object = 0;
};

/// The patches of many objects, object after object. Constant once built.
struct SurfacePatches {
  SurfacePatches() = default;

  /// Cuts triangles over vertices (in metres, at rest) of objects: a triangle's object is that of
  /// its first vertex.
  SurfacePatches(std::span<const Vec3f> rest, std::span<const Vec3i> triangles,
                 std::span<const int32_t> object_of_vertex);

  std::vector<SurfacePatch> patches;
  std::vector<int32_t> triangle;  ///< numbers of triangles, patch after patch
  std::vector<int32_t> corner;    ///< vertices of triangles, patch after patch, none twice
  std::vector<int32_t> own;  ///< vertices, patch after patch, every one that has a triangle once

  /// The box of a patch when the vertices are at `x` (in metres).
  Box3f box(size_t patch, std::span<const Vec3f> x) const;
};

}  // namespace supple
