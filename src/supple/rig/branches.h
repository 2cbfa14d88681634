// Flesh between two branches of a skeleton that run side by side belongs to the joint they branch
// from: the middle between two legs follows the pelvis. Distances alone would give it to the two
// limbs, half each, and it would be pulled along when both swing the same way. Does not look at the
// solid: nodes, their bones and distances come from bone_distances.h.
#pragma once

#include <span>
#include <vector>

#include "supple/rig/bone_distances.h"

namespace supple {

/// Which bones of a skeleton lie on different branches, and which bone their flesh goes back to.
class Branches {
 public:
  /// Keeps a reference to `bones`, which must outlive this.
  Branches(const Skeleton& skeleton, std::span<const Bone> bones);

  /// Moves shares of the bones near a node to the bones of the joints they branch from; the sum
  /// stays. Returns how much moved. `relative` and `shares` belong to the entries of `near`;
  /// distances are in thicknesses of the solid.
  ///
  /// A bone hands over the more of its share,
  /// - the nearer a bone of another branch is that runs the same way on the other side of the node,
  /// - and the nearer the bone is that takes it: of the joint where both branches begin, or the
  /// next
  ///   one above. Without one there, the first bone of the own branch takes it.
  double settle(const Vec3d& node, std::span<const NearBone> near, std::span<const double> relative,
                std::span<double> shares) const;

 private:
  // Where the branches of two bones part.
  struct Fork {
    int32_t joint = -1;  // none when one bone is above the other, or in another tree
    int32_t taker = -1;  // the bone that takes over
  };

  // A part of a bone's share that goes to another bone near the same node.
  struct Handover {
    int32_t joint;
    size_t taker;  // its entry
    double part;
  };

  void forks_of(size_t bone, const Skeleton& skeleton, std::span<const int32_t> bone_of_joint);
  void find_handovers(const Vec3d& node, std::span<const NearBone> near,
                      std::span<const double> relative, size_t own,
                      std::vector<Handover>& handovers) const;

  std::span<const Bone> m_bones;
  std::vector<Fork> m_forks;  // bone by bone
};

}  // namespace supple
