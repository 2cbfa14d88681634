// A detailed mesh that follows a coarse one [Diziol 2011, section 6]: every detailed vertex p is
// tied to a point q of a coarse triangle from which p lies along the normal interpolated between
// the corners, and stays at that distance along the normal when the coarse mesh moves. As normals
// change continuously over the surface, details stay smooth where triangles meet.
//
// Where no triangle has such a point (beyond the border of an open mesh, or past a sharp inner
// edge), p keeps its offset from the nearest point in a frame that turns with the triangle.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "supple/math/types.h"

namespace supple {

/// Where a detailed vertex hangs.
struct DetailTie {
  int32_t triangle = -1;         ///< of the coarse mesh
  float alpha = 0, beta = 0;     ///< weights of its first and second corner
  Vec3f offset = Vec3f::Zero();  ///< along the first edge, across it and along the normal, metres
};

/// The ties of a detailed mesh.
class DetailMesh {
 public:
  DetailMesh() = default;
  /// Ties `vertices` to a coarse mesh with vertices shared between triangles, both at rest, in
  /// metres. Throws an input error where there are no triangles or numbers are not finite.
  DetailMesh(std::span<const Vec3f> coarse, std::span<const Vec3i> triangles,
             std::span<const Vec3f> vertices);

  /// Where the detailed vertices are when the coarse ones are at `coarse`; one per vertex.
  void follow(std::span<const Vec3f> coarse, std::span<Vec3f> vertices) const;

  /// Number of detailed vertices.
  size_t size() const { return m_ties.size(); }
  /// All ties.
  std::span<const DetailTie> ties() const { return m_ties; }
  /// How many vertices do not lie along a normal.
  size_t off_normal() const { return m_off_normal; }

 private:
  std::vector<Vec3i> m_triangles;
  std::vector<DetailTie> m_ties;
  size_t m_off_normal = 0;
};

}  // namespace supple
