// Fitting a skeleton to a mesh it was not made for: motion capture in inches onto a body in metres,
// arms held out onto arms held down. Assumes that both stand upright along +Y. Proportions are kept
// but for one scale; left and right are not told apart from front and back unless the shapes do.
#pragma once

#include <string>
#include <vector>

#include "supple/mesh/triangle_mesh.h"
#include "supple/rig/clip.h"
#include "supple/rig/skeleton.h"

namespace supple {

/// How much of a fit is made.
enum class FitKind {
  none,  ///< the skeleton stays where it is
  size,  ///< scaled and moved
  pose,  ///< scaled and moved, and its joints turned until its bones run through the mesh
};

/// How a skeleton was fitted.
struct SkeletonFit {
  double scale = 1;             ///< length units of the mesh per length unit of the skeleton
  double turn = 0;              ///< about the up axis, in degrees
  Vec3d shift = Vec3d::Zero();  ///< of the rest pose, after scale and turn
  bool fitted_before = false;   ///< the skeleton lay in the mesh as it was, and was left alone
  double largest_bend = 0;      ///< largest angle a joint was turned by, in degrees
  double inside = 0;            ///< part of the bones' length that lies in the mesh, 0 to 1
};

/// Fits a skeleton, by its rest pose, and its clips to a mesh.
///
/// Height fits height first: the skeleton's lowest joint stands just above the mesh's lowest point,
/// and its highest one is just below the top. For a pose, every cell of the voxelised mesh then
/// draws the nearest bone towards it; scale, place and the joints of larger limbs follow in turns
/// until all is still (articulated iterated closest points [Besl 1992]). The pose becomes the rest
/// pose; bones keep their lengths. `own_skin`, the mesh the skeleton came with, decides the scale
/// instead when it has the same shape of box. `bones` has one entry per joint, or none for all.
///
/// Clips keep their rotations. Their translations are scaled, and roots moved so that the first
/// frame is where the mesh stands and the lowest joint of all frames is as high as that of the rest
/// pose. Throws an input error when the skeleton has no extent.
SkeletonFit fit_skeleton(const TriangleMesh& mesh, FitKind kind, const TriangleMesh& own_skin,
                         const std::vector<bool>& bones, Skeleton& skeleton,
                         std::vector<Clip>& clips);

}  // namespace supple
