// USD in its text form (.usda): the skin as meshes with points, normals and extent per frame, for
// Houdini, Maya, Omniverse and Blender builds with USD. Text is for short clips. Not written:
// materials (their names are kept), skeletons, and maps.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "supple/io/animated_skin.h"

namespace supple {

/// Writes every frame to a .usda file: an Xform named after the skin with one Mesh per part (or,
/// where parts share vertices, one Mesh with a GeomSubset per part); positions in metres, time
/// codes are frame numbers. Normals are those of the whole skin welded by position, so that seams
/// between parts and texture islands shade smoothly.
void write_usda(const std::filesystem::path& path, const AnimatedSkin& skin,
                const ExportOptions& options);

/// `name` as a USD prim name: letters, digits and underscores, no digit first; `otherwise` when
/// `name` is empty.
std::string usd_prim_name(std::string_view name, std::string_view otherwise);

}  // namespace supple
