// The meshes of an imported FBX file as parts, weights, blend shapes and attributes.
#pragma once

#include <assimp/scene.h>

#include <string>
#include <string_view>
#include <vector>

#include "supple/io/fbx_tree.h"
#include "supple/rig/character.h"

namespace supple::fbx {

/// The blend shapes of one geometry on one node; animations name them by node and number.
struct ShapeGroup {
  int joint = -1;
  int geometry = 0;  ///< number of the geometry among those of the node
  std::string mesh_name;
  int first_shape = 0;
  int count = 0;
};

/// Adds every mesh on every node to the character, whose skeleton is that of the tree; returns
/// where its blend shapes went. Throws an input error naming `file` when an index is out of range
/// or a number is not finite.
std::vector<ShapeGroup> add_meshes(const aiScene& scene, const Tree& tree, const Affine& to_model,
                                   std::string_view file, Character& character);

}  // namespace supple::fbx
