// Which vertices of a deformed skin lie within another part of it, by its triangles alone. Cells
// cannot tell where they are flat or inside out, as in the crease of a bent elbow.
//
// A vertex lies within another part where the whole skin winds round a point just off it, and does
// so at least three quarters by what is not the vertex's own surface, within a reach of it at rest
// [Jacobson 2013]: neither a hollow, which the whole skin does not wind round, nor a wrinkle of the
// vertex's own surface counts. Asked are vertices that are behind a triangle, squarely, which is
// neither next to them at rest nor the other side of their own flesh; the closest such triangle of
// the outer surface is the way out. What is within another part at rest is left alone.
//
// Not handled: vertices deeper than the search; edges that cross while no vertex does. What is near
// goes by corners: of triangles much longer than the reach the other side of a thin limb may pass
// for another part.
#pragma once

#include <span>
#include <vector>

#include "supple/contact/box_tree.h"
#include "supple/contact/skin_surface.h"
#include "supple/contact/surface_patches.h"
#include "supple/mesh/winding_number.h"

namespace supple {

/// A vertex within another part of the skin.
struct SkinCrossing {
  int32_t vertex = -1;
  int32_t triangle = -1;          ///< the closest one it is behind
  Vec3d weights = Vec3d::Zero();  ///< of its corners, for the closest point
  Vec3d way = Vec3d::UnitZ();     ///< from the vertex to there, of unit length
  double depth = 0;               ///< how far that is, in metres
  bool own = false;               ///< whether the triangle is of the vertex's own surface
};

/// How far the finder looks, in cells.
struct SkinCrossingOptions {
  double reach = 2;   ///< at rest, of a vertex's own surface
  double next = 1;    ///< at rest, of triangles next to a vertex, which are no way out
  double search = 2;  ///< deeper vertices are not found
};

/// Finds crossings of one skin in many poses; the skin must outlive it.
class SkinCrossings {
 public:
  /// For the chosen vertices of a skin.
  SkinCrossings(const SkinSurface& skin, std::vector<int32_t> vertices,
                const SkinCrossingOptions& options = {});

  /// All crossings with the skin's vertices at `points` (in metres), by vertex. Never throws;
  /// a skin that is not finite has none.
  void find(std::span<const Vec3f> points, std::vector<SkinCrossing>& out);

  /// The same where the skin at rest is within `reach` (in cells) of certain vertices, and a little
  /// further.
  void find_around(std::span<const int32_t> certain, double reach, std::span<const Vec3f> points,
                   std::vector<SkinCrossing>& out);

 private:
  void find_among(std::span<const int32_t> vertices, std::span<const Vec3f> points,
                  std::vector<SkinCrossing>& out);
  void follow(std::span<const Vec3f> points);
  bool closest_behind(std::span<const Vec3f> points, int32_t vertex, SkinCrossing& out) const;
  bool is_within_others(std::span<const Vec3f> points, int32_t vertex) const;
  Vec3d normal(int32_t vertex) const;
  bool is_near(int32_t triangle, const Vec3f& rest, float reach) const;
  bool is_other_side(int32_t triangle, const Vec3f& rest) const;
  std::span<const int32_t> triangles_of(uint32_t patch) const;
  TriangleCorners corners(int32_t triangle, std::span<const Vec3f> points) const;

  const SkinSurface& m_skin;
  float m_reach, m_next;  // in metres
  double m_search;
  SurfacePatches m_patches;
  BoxTree m_rest;  // of patches, at rest
  std::vector<int32_t> m_vertices;
  std::vector<uint8_t> m_is_chosen;       // by vertex
  std::vector<uint8_t> m_is_outer;        // triangles that bound the body at rest, in part at least
  std::vector<uint32_t> m_around_starts;  // triangles around vertices
  std::vector<int32_t> m_around;

  // Of the pose.
  BoxTree m_posed;
  WindingNumber m_winding;
  std::vector<Vec3d> m_areas;                      // of triangles, as vectors
  std::vector<std::vector<SkinCrossing>> m_found;  // by block of vertices
};

}  // namespace supple
