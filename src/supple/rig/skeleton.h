// The skeleton: a tree (or forest) of joints with a rest pose. Every node of the input file is a
// joint here, so that transforms above the armature and props hung on bones need no special case.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "supple/math/types.h"

namespace supple {

/// One joint: its local transform at rest, relative to its parent.
struct Joint {
  std::string name;
  int parent = -1;  ///< index of the parent, always smaller than the joint's own; -1 for a root
  Transform rest;
  /// Local matrix of a joint that translation, rotation and scale cannot express (shear); such a
  /// joint cannot be animated.
  std::optional<Affine> sheared;
  bool is_bone = false;  ///< some skin vertex follows this joint
  int source_node = -1;  ///< the node's number in the input file
};

/// A forest of joints, parents before children.
struct Skeleton {
  std::vector<Joint> joints;

  /// Index of the joint of that name, or -1; the first one where names repeat.
  int find(std::string_view name) const;

  /// Index of the joint of that name; without one, throws an input error about `field` of `file`
  /// that names the nearest.
  int require(std::string_view name, std::string_view file, std::string_view field) const;

  /// Number of joints.
  size_t size() const { return joints.size(); }
};

/// The state of a rig at one time: local transforms of all joints and weights of all blend shapes.
struct Pose {
  std::vector<Transform> local;
  std::vector<double> shape_weights;
};

/// The rest pose of a skeleton, with `shape_count` shape weights of zero.
Pose rest_pose(const Skeleton& skeleton, size_t shape_count = 0);

/// Joint-to-model matrices of a pose, one per joint, written to `globals`.
void global_matrices(const Skeleton& skeleton, const Pose& pose, std::vector<Affine>& globals);

/// Joint-to-model matrices of a pose, one per joint.
std::vector<Affine> global_matrices(const Skeleton& skeleton, const Pose& pose);

/// Splits an affine matrix into translation, rotation and scale (reflections become a negative
/// scale); returns nothing when shear leaves more than 1e-6 of the matrix unexplained.
std::optional<Transform> decompose(const Affine& matrix);

}  // namespace supple
