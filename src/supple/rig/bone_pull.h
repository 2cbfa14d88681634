// Posing a skeleton so that its bones run through a solid, by articulated iterated closest points.
#pragma once

#include <span>
#include <vector>

#include "supple/rig/skeleton.h"

namespace supple {

/// A point of a solid, and how much it counts.
struct PullPoint {
  Vec3d position = Vec3d::Zero();
  double weight = 1;
};

/// A straight piece of bone from a joint to one of its children.
struct BoneLine {
  int joint = 0, child = 0;
};

/// Joint positions and the model-space turn of every joint since the rest pose.
struct PulledPose {
  std::vector<Vec3d> positions;
  std::vector<Quatd> turns;
  double scale = 1;  ///< of all lengths since the start
};

/// Poses a skeleton whose joints are at `positions`: every point draws the bone nearest to it, and
/// scale, place, and the turns of joints with long limbs below them follow, in turns.
PulledPose pull_bones(const Skeleton& skeleton, std::span<const BoneLine> lines,
                      std::vector<Vec3d> positions, std::span<const PullPoint> points);

}  // namespace supple
