// Bones of a skeleton as segments in a solid: which joints carry flesh, and where their bones run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "supple/mesh/voxel_grid.h"
#include "supple/rig/skeleton.h"

namespace supple {

/// A straight piece of bone, in model space.
struct BoneSegment {
  Vec3d from = Vec3d::Zero(), to = Vec3d::Zero();
  /// How thick the solid is around the bone, in length units, at equal steps from end to end; empty
  /// when unknown.
  std::vector<double> radii;
};

/// Where a bone is nearest to a point.
struct BonePoint {
  double distance = 0;          ///< in length units
  double radius = 1;            ///< thickness of the solid there, in length units; 1 when unknown
  Vec3d place = Vec3d::Zero();  ///< in model space
  Vec3d direction = Vec3d::Zero();  ///< of the bone there, a unit vector; zero without extent
};

/// A joint and the segments that move with it.
struct Bone {
  int joint = 0;
  std::vector<BoneSegment> segments;

  /// The point of the bone nearest to `point`.
  BonePoint nearest(const Vec3d& point) const;
};

/// The bones of a skeleton at rest in a solid, by joint.
///
/// A joint's bone runs to each of its children, or (at the end of a chain) on in the direction of
/// its parent's bone through the flesh there. A joint has no bone when
/// - `wanted` says so (one entry per joint; empty wants all);
/// - all its children are where it is;
/// - it ends a chain and little flesh lies beyond it (a mark for the end of its parent's bone), or
///   its name ends in "_end", as end sites of motion capture do;
/// - no wanted joint is above it and its bones run mostly outside the solid (a root on the floor, a
///   helper).
/// Children without any wanted joint at or below them (props, cameras, handles) are no bones'
/// ends, unless they lie further out than the flesh at the end of a chain. When no joint is left,
/// the first wanted one gets a bone of no length.
std::vector<Bone> find_bones(const Skeleton& skeleton, std::span<const uint8_t> wanted,
                             const VoxelGrid& solid);

}  // namespace supple
