// Where rays first meet a triangle mesh. Embree underneath.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "supple/math/types.h"

namespace supple {

/// Where a ray met the mesh.
struct RayHit {
  int32_t triangle = -1;  ///< -1 where it met nothing
  float distance = 0;     ///< along the ray, in lengths of its direction
  float u = 0, v = 0;     ///< weights of the triangle's second and third corner
};

/// A mesh for rays; const calls may be made from many threads.
class RayCaster {
 public:
  /// Takes a copy of a mesh (in metres).
  RayCaster(std::span<const Vec3f> positions, std::span<const Vec3i> triangles);
  ~RayCaster();
  RayCaster(RayCaster&&) noexcept;
  RayCaster& operator=(RayCaster&&) noexcept;

  /// The first triangle from `origin` along `direction` that does not have `vertex` as a corner.
  RayHit cast(const Vec3f& origin, const Vec3f& direction, int32_t vertex = -1) const;

 private:
  struct Scene;
  std::unique_ptr<Scene> m_scene;
};

}  // namespace supple
