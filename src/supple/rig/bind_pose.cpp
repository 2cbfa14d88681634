#include "supple/rig/bind_pose.h"

namespace supple {

std::vector<int32_t> binds_by_joint(const Character& character) {
  const bool any_skinned = is_skinned(character);
  std::vector<bool> used(character.binds.size(), false);
  for (const Part& part : character.parts) {
    if (part.rigid && any_skinned) continue;
    for (int32_t v = part.vertices.first; v < part.vertices.end(); ++v)
      for (const Influence& influence : character.weights.of(static_cast<size_t>(v)))
        if (influence.weight > 0) used[static_cast<size_t>(influence.bind)] = true;
  }
  std::vector<int32_t> binds(character.skeleton.size(), -1);
  for (size_t b = character.binds.size(); b-- > 0;)
    if (used[b]) binds[static_cast<size_t>(character.binds[b].joint)] = static_cast<int32_t>(b);
  return binds;
}

Skeleton bind_skeleton(const Character& character) {
  Skeleton skeleton = character.skeleton;
  const std::vector<int32_t> binds = binds_by_joint(character);
  std::vector<Affine> globals(skeleton.size());
  for (size_t j = 0; j < skeleton.size(); ++j) {
    Joint& joint = skeleton.joints[j];
    const Affine above =
        joint.parent < 0 ? Affine::Identity() : globals[static_cast<size_t>(joint.parent)];
    Affine local = joint.sheared ? *joint.sheared : joint.rest.matrix();
    if (binds[j] >= 0) {
      const Affine& bind = character.binds[static_cast<size_t>(binds[j])].rest_to_joint;
      // A flat bind or a flat parent cannot be turned round; such a joint stays with its parent.
      const Affine wanted = above.inverse() * bind.inverse();
      if (wanted.matrix().allFinite()) local = wanted;
    }
    joint.sheared = local;
    globals[j] = above * local;
  }
  return skeleton;
}

}  // namespace supple
