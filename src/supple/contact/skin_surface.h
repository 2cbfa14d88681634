// The outer surface of a character's skin at rest: how far points are from it, inside or outside,
// and where they are closest to it [McAdams 2011, section 7: the level set of the undeformed
// configuration].
//
// Meshes may be as they come: many parts that overlap, holes, doubled faces, sheets. What is inside
// is settled in inside_test.h. A side of a triangle is free where a point a little off it is not
// inside. Triangles with one free side bound the body, those with two are sheets, those with none
// are buried and take no part. Triangles that are partly buried are cut into pieces of a quarter
// of the spacing along the border, which is as sharp as that.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "supple/contact/closest_point.h"
#include "supple/contact/inside_test.h"

namespace supple {

/// What a piece of the skin is to the body.
enum class SkinKind : uint8_t {
  outer,  ///< between inside and outside
  sheet   ///< outside on both sides
};

/// A triangle of the skin, or the free part of one.
struct SkinPiece {
  TriangleCorners corners;  ///< counter-clockwise seen from outside, in metres
  int32_t triangle = -1;    ///< of the mesh
  SkinKind kind = SkinKind::outer;
  bool turned = false;  ///< whether it runs against the triangle of the mesh

  /// The outward unit normal; that of the mesh for a sheet.
  Vec3d normal() const {
    return (corners[1] - corners[0]).cross(corners[2] - corners[0]).stableNormalized();
  }
  /// In square metres.
  double area() const {
    return (corners[1] - corners[0]).cross(corners[2] - corners[0]).norm() / 2;
  }
};

/// The closest point of the surface.
struct NearestSkin {
  Vec3d point = Vec3d::Zero();    ///< in metres
  Vec3d weights = Vec3d::Zero();  ///< of the corners of the mesh's triangle
  Vec3d normal = Vec3d::UnitZ();  ///< of that triangle, outwards
  int32_t triangle = -1;          ///< of the mesh; -1 when there is no surface
  double distance = 0;            ///< in metres, never negative; infinite without a surface
};

/// The outer surface of a skin; const calls may be made from many threads.
class SkinSurface {
 public:
  /// Makes the surface of a mesh (in metres, vertices at the same place are one) that is to be
  /// told apart in cells of side `spacing` (in metres). Throws an input error for numbers that are
  /// not finite, triangles of missing vertices, no triangles, and more than 2^30 cells.
  SkinSurface(std::span<const Vec3f> positions, std::span<const Vec3i> triangles, double spacing);
  ~SkinSurface();
  SkinSurface(SkinSurface&&) noexcept;
  SkinSurface& operator=(SkinSurface&&) noexcept;

  /// The distance of a point (in metres, at rest) from the surface, negative inside. Infinite
  /// where there is no surface but sheets, and for points that are not finite.
  double distance(const Vec3d& rest) const;

  /// The closest point of the surface, sheets left out; of points equally close, that of the
  /// triangle with the lowest number.
  NearestSkin nearest(const Vec3d& rest) const;

  /// Whether a point is inside the union of the parts.
  bool is_inside(const Vec3d& rest) const;

  /// The pieces of the surface, sheets included, by triangle.
  std::span<const SkinPiece> pieces() const;

  /// The side of the cells, in metres.
  double spacing() const;

  /// The mesh it was made from.
  std::span<const Vec3f> positions() const;
  /// The triangles it was made from.
  std::span<const Vec3i> triangles() const;
  /// The same in the same order, those of shells that face inwards turned round.
  std::span<const Vec3i> outward_triangles() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> m_parts;
};

}  // namespace supple
