// Baked animation as glTF: a skin in motion becomes morph targets with animated weights, which
// ordinary viewers play. glTF is Y up: ExportOptions::up does not apply. Animations of the input
// file and the skin's maps are not written.
#pragma once

#include <filesystem>

#include "supple/io/animated_skin.h"
#include "supple/io/gltf_document.h"

namespace supple {

/// How a motion was turned into morph targets.
struct BakeReport {
  int targets = 0;           ///< morph targets per mesh
  bool compressed = false;   ///< frames are mixed from a principal-component basis
  double largest_error = 0;  ///< of any vertex in any frame, in metres; 0 when not compressed
};

/// Most morph targets a written file has; viewers guarantee about 256.
inline constexpr int most_morph_targets = 255;

/// Writes a .glb. With `source` (the document the skin was read from) materials, texture
/// coordinates and the node hierarchy are kept and only the skins are replaced; without it the file
/// holds the bare meshes. Every frame is one key; up to 256 frames are exact, more are
/// approximated.
BakeReport write_glb(const std::filesystem::path& path, const AnimatedSkin& skin,
                     const ExportOptions& options, const GltfDocument* source = nullptr);

/// The document write_glb() writes.
GltfDocument bake_gltf(const AnimatedSkin& skin, const ExportOptions& options,
                       const GltfDocument* source, BakeReport& report);

}  // namespace supple
