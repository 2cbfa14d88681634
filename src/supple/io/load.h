// Reading any file a user may name, by its extension, and getting a scene ready to run.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "supple/rig/character.h"
#include "supple/rig/motion.h"
#include "supple/rig/retarget.h"
#include "supple/sim/scene.h"

namespace supple {

/// Reads a rigged character or mesh: .glb, .gltf, .fbx, .obj, or a tetrahedral mesh (.mesh, .msh,
/// .node, .ele), of which the boundary becomes the skin.
Character read_character(const std::filesystem::path& path);

/// Reads a motion: .bvh, or a clip of a .glb, .gltf or .fbx (the first one when `clip` is empty).
Motion read_motion(const std::filesystem::path& path, const std::string& clip);

/// A scene with its files loaded.
struct PreparedScene {
  std::shared_ptr<const Character> character;
  const Clip* clip = nullptr;       ///< points into the character; null when there is no animation
  RetargetReport retargeting;       ///< how motion capture was put on the character, if it was
  std::vector<std::string> inputs;  ///< the files that were read
  std::vector<std::string> notes;   ///< what the user should know, in plain words
};

/// Loads what a scene names: the character, scaled to metres, the clip or motion it plays, and the
/// meshes of colliders, which are put into the scene. The skin is split at the cells of a voxel
/// body where the scene asks for it.
PreparedScene prepare_scene(Scene& scene);

}  // namespace supple
