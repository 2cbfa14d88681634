#include "supple/rig/scale.h"

namespace supple {

// Scaling space by s turns a matrix M into S M S⁻¹: the same linear part, translation times s.
// Doing that to every local matrix and every bind scales all poses and leaves all rotations alone.
void scale_character(Character& character, double factor) {
  if (factor == 1) return;
  const auto narrow = static_cast<float>(factor);
  for (Vec3f& p : character.skin.positions) p *= narrow;
  for (BlendShape& shape : character.shapes)
    for (Vec3f& offset : shape.offsets) offset *= narrow;
  for (Joint& joint : character.skeleton.joints) {
    joint.rest.translation *= factor;
    if (joint.sheared) joint.sheared->translation() *= factor;
  }
  for (Bind& bind : character.binds) bind.rest_to_joint.translation() *= factor;
  for (Clip& clip : character.clips)
    for (Channel& channel : clip.channels)
      if (channel.target == ChannelTarget::translation)
        for (double& value : channel.values) value *= factor;
}

}  // namespace supple
