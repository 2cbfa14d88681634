// Retargeting: motion of one skeleton (motion capture) put on another with other proportions, rest
// pose and names.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "supple/rig/clip.h"

namespace supple {

/// How a motion is put on another skeleton.
struct RetargetOptions {
  /// Joint names of the motion by joint names of the character; empty finds pairs by name.
  std::map<std::string, std::string> joint_map;
  /// Character length units per motion length unit; 0 measures it from the height of the hips (or
  /// the size of both skeletons).
  double scale = 0;
};

/// What a retargeting did, for the report.
struct RetargetReport {
  std::vector<std::pair<std::string, std::string>> pairs;  ///< character joint, motion joint
  std::vector<std::string> unmatched;  ///< character bones that keep their rest pose
  double scale = 1;
};

/// Poses of `motion` on `motion_skeleton` transferred to `skeleton` as a clip keyed at the motion's
/// own frames: rest poses are aligned bone direction by bone direction, rotations are carried over
/// in model space, the root's travel is scaled.
Clip retarget(const Skeleton& motion_skeleton, const Clip& motion, const Skeleton& skeleton,
              const RetargetOptions& options = {}, RetargetReport* report = nullptr);

}  // namespace supple
