// Rigged characters from glTF 2.0 documents.
#pragma once

#include <filesystem>

#include "supple/io/gltf_document.h"
#include "supple/rig/character.h"

namespace supple {

/// The character in a glTF document: every mesh of its scene, skinned or hung on a node, with all
/// clips. Points and lines become parts without triangles, so that vertex order is kept.
Character character_from_gltf(const GltfDocument& document);

/// Reads the character in a .gltf or .glb file.
Character read_gltf(const std::filesystem::path& path);

}  // namespace supple
