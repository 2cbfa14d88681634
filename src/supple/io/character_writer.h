// Rigged characters as glTF: skeleton, skin, shapes and clips, ready for any program that reads it.
#pragma once

#include <filesystem>

#include "supple/io/gltf_document.h"
#include "supple/rig/character.h"

namespace supple {

/// The character as a glTF document. Parts become meshes; vertices follow at most four or eight
/// bones, the strongest ones, as viewers expect; shapes and shape weights are kept.
GltfDocument gltf_from_character(const Character& character);

/// Writes the character as a .glb.
void write_character(const std::filesystem::path& path, const Character& character);

/// The rest shape of a character as the text of an OBJ file: vertices with colours where there are
/// any, faces, and lines.
std::string obj_from_character(const Character& character);

}  // namespace supple
