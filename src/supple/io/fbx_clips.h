// The animations of an imported FBX file as clips.
#pragma once

#include <assimp/scene.h>

#include <string_view>
#include <vector>

#include "supple/io/fbx_meshes.h"
#include "supple/io/fbx_tree.h"
#include "supple/rig/character.h"

namespace supple::fbx {

/// Adds every animation to the character as a clip of linear channels; `groups` says where the
/// blend shapes of each mesh are. Throws an input error naming `file` when a number is not finite.
void add_clips(const aiScene& scene, const Tree& tree, const std::vector<ShapeGroup>& groups,
               std::string_view file, Character& character);

}  // namespace supple::fbx
