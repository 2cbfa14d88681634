// Which joints of two skeletons mean the same body part, judged by their names: motion capture
// files, game rigs and modelling programs all name the same thirty joints differently. Knows
// two-legged rigs with English names; everything else is paired only by equal names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "supple/rig/skeleton.h"

namespace supple {

/// Side of the body a joint is on.
enum class Side { middle, left, right };

/// A joint name without its conventions: "mixamorig:LeftForeArm" and "forearm.L" are both left
/// "forearm".
struct PlainName {
  Side side = Side::middle;
  std::string words;   ///< lower-case letters, without separators, prefixes and side
  std::string number;  ///< digits in order, without leading zeros of each run

  bool operator==(const PlainName&) const = default;
};

/// Takes a joint name apart.
PlainName plain_name(std::string_view name);

/// Whether a name means the hips, which carry a body's travel.
bool is_hips(std::string_view name);

/// Whether a name means the head, which is bone for the most part.
bool is_head(std::string_view name);

/// What a pair of joints is to a body.
enum class JointKind {
  limb,   ///< upper and lower arms and legs, whose directions make a pose
  trunk,  ///< hips, spine, neck, head, collar bones, feet: shapes that differ from body to body
  other,  ///< everything known only by equal names
};

/// Two joints that mean the same.
struct JointPair {
  int a = 0, b = 0;
  JointKind kind = JointKind::other;
};

/// Joints of `a` and `b` that mean the same: first the parts of a body by their usual names, then
/// equal names; ordered by joint of `a`, no joint twice.
std::vector<JointPair> pair_joints(const Skeleton& a, const Skeleton& b);

}  // namespace supple
