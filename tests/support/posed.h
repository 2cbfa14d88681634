// Characters posed through the production code, as tests of readers and writers need them.
#pragma once

#include <vector>

#include "supple/rig/character.h"

namespace supple::test {

/// Skin of a character at a time of a clip (null: its rest pose), through the production code.
inline std::vector<Vec3f> posed(const Character& character, const Clip* clip, double time) {
  Pose pose = rest_pose(character);
  if (clip) apply_clip(*clip, time, pose);
  std::vector<Vec3f> positions = character.skin.positions;
  add_blend_shapes(character.shapes, pose.shape_weights, positions);
  const Skinner skinner(character.weights, character.binds);
  skinner.skin(SkinningMethod::linear, global_matrices(character.skeleton, pose), positions,
               positions);
  return positions;
}

}  // namespace supple::test
