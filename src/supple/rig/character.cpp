#include "supple/rig/character.h"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

// Whether a matrix has an inverse worth the name: flattened ones have a volume of mere rounding.
bool invertible(const Affine& matrix) {
  const double size = matrix.linear().norm();
  return std::abs(matrix.linear().determinant()) > 1e-12 * size * size * size;
}

// The first joint whose rest matrix can be inverted, or -1.
int first_invertible_joint(const std::vector<Affine>& rest_globals) {
  const auto found = std::find_if(rest_globals.begin(), rest_globals.end(), invertible);
  return found == rest_globals.end() ? -1 : static_cast<int>(found - rest_globals.begin());
}

int add_root_joint(Character& character) {
  Joint root;
  root.name = character.name.empty() ? "root" : character.name;
  character.skeleton.joints.push_back(std::move(root));
  return static_cast<int>(character.skeleton.size()) - 1;
}

}  // namespace

const VertexAttribute* Character::attribute(std::string_view name) const {
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const VertexAttribute& a) { return a.name == name; });
  return found == attributes.end() ? nullptr : &*found;
}

const Clip* Character::clip(std::string_view name) const {
  const auto found =
      std::find_if(clips.begin(), clips.end(), [&](const Clip& c) { return c.name == name; });
  return found == clips.end() ? nullptr : &*found;
}

Pose rest_pose(const Character& character) {
  Pose pose = rest_pose(character.skeleton, character.shapes.size());
  for (size_t s = 0; s < character.shapes.size(); ++s)
    pose.shape_weights[s] = character.shapes[s].rest_weight;
  return pose;
}

bool is_skinned(const Character& character) {
  return std::any_of(character.parts.begin(), character.parts.end(),
                     [](const Part& part) { return !part.rigid; });
}

void bind_rigidly(Character& character) {
  std::vector<Affine> globals = global_matrices(character.skeleton, rest_pose(character));
  int joint = first_invertible_joint(globals);
  if (joint < 0) {
    joint = add_root_joint(character);
    globals.push_back(Affine::Identity());
  }
  character.skeleton.joints[joint].is_bone = true;
  character.binds = {Bind{joint, globals[joint].inverse()}};
  for (Part& part : character.parts) {
    part.rigid = true;
    if (part.joint < 0) part.joint = joint;
  }
  const size_t vertices = character.skin.positions.size();
  character.weights = SkinWeights{};
  character.weights.influences.assign(vertices, Influence{0, 1});
  character.weights.offsets.resize(vertices + 1);
  for (size_t v = 0; v <= vertices; ++v) character.weights.offsets[v] = static_cast<int32_t>(v);
}

}  // namespace supple
