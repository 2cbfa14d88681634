// Retargeting: motion of one skeleton (motion capture) put on another with other proportions, rest
// pose and names. Assumes that both rest poses stand upright along +Y and face the same way, that
// scales are positive and uniform, and that bones turn rather than stretch: of translations only
// the travel of the hips (and of joints above them) is carried over.
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
/// own frames, linear in between.
///
/// A matched joint's bone points to the nearest matched joints below it. The smallest rotation A
/// turns its rest direction in the character into that of the motion (best fit where there are
/// several); joints at the end of a chain take A from the joint above. Hips, spine, neck, head,
/// collar bones and feet, where they are known by name, have none: sloping shoulders stay sloping.
/// With D(t) the motion joint's model-space rotation since its rest pose, the character's is D(t) A
/// times its own rest rotation, so that its limbs point where the motion's do, whatever the local
/// axes. Joints in between that have no match keep their local rest transform.
///
/// Hips (and matched joints without a matched one above) travel: their rest position plus the
/// scaled distance of the motion's from its rest position, where rest poses that reach below the
/// floor y = 0, as in most BVH files, are first lifted onto it. The character's rest height is that
/// of the motion's rest pose (legs spread as far), so that its feet stay where the motion's are.
///
/// Throws an input error for a joint map with unknown names, and when no joint matches.
Clip retarget(const Skeleton& motion_skeleton, const Clip& motion, const Skeleton& skeleton,
              const RetargetOptions& options = {}, RetargetReport* report = nullptr);

}  // namespace supple
