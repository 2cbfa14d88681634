// MDD, the point cache that began with LightWave and that Blender and Houdini read: positions only,
// in skin order, big-endian. The file has no triangles, names or maps.
#pragma once

#include <filesystem>

#include "supple/io/animated_skin.h"

namespace supple {

/// Writes every frame to a .mdd file; positions in metres. A frame's time is its number divided by
/// the rate, in seconds, so that the file keeps its place in the shot: readers that count samples
/// (Blender's Mesh Cache in FRAME mode) ignore it, readers that go by time find frame 1001 at 1001.
void write_mdd(const std::filesystem::path& path, const AnimatedSkin& skin,
               const ExportOptions& options);

}  // namespace supple
