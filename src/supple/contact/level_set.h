// The signed distance of a rigid object, on the grid of OpenVDB: negative inside, valid all through
// the inside and in a band around the object. Linear between grid points, so that edges are rounded
// by less than a voxel.
//
// Meshes may be as they come: what is inside is settled as for skins (inside_test.h), surfaces
// inside the object are left out. Sheets have a distance on both sides and no inside; give the
// collider a thickness to make them solid.
#pragma once

#include <memory>
#include <span>

#include "supple/math/types.h"

namespace supple {

/// How fine a level set is.
struct LevelSetOptions {
  double voxel = 0;  ///< in metres; 0 takes 1/64 of the longest side of the object's box
  double band = 3;   ///< how far outside distances are right, in voxels, at least 2
};

/// Distances from a rigid object in its own space (in metres). Copies share the grid; calls may be
/// made from many threads.
class LevelSet {
 public:
  /// Measures a mesh (in metres). Throws an input error for numbers that are not finite, triangles
  /// of missing vertices, no triangles with an area, and more than 2^26 voxels.
  LevelSet(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
           const LevelSetOptions& options = {});

  /// The distance of a point, negative inside. Beyond the band it is at least the band's width and
  /// at most the true distance; infinite for points that are not finite.
  double distance(const Vec3d& point) const;

  /// The direction in which the distance grows, of unit length for every point: away from the
  /// closest surface outside, towards it inside.
  Vec3d normal(const Vec3d& point) const;

  /// By how much distances may differ from true ones at most in the band, in metres.
  double inaccuracy() const;

  /// The side of a voxel, in metres.
  double voxel() const;

  /// The box of the object, in metres.
  const Box3d& box() const;

 private:
  struct Grid;
  std::shared_ptr<const Grid> m_grid;
};

}  // namespace supple
