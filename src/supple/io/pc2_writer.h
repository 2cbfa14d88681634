// PC2, the point cache of 3ds Max that Blender also plays: positions only, in skin order. The file
// has no triangles, names or maps; its reader needs a mesh with the same vertices in the same
// order.
#pragma once

#include <filesystem>

#include "supple/io/animated_skin.h"

namespace supple {

/// Writes every frame to a .pc2 file, one sample per frame, starting at skin.first_frame; positions
/// in metres.
void write_pc2(const std::filesystem::path& path, const AnimatedSkin& skin,
               const ExportOptions& options);

}  // namespace supple
