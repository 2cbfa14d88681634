// A sequence of OBJ files, one per frame, for programs that take nothing else. Vertices stand in
// skin order and each part is a group of one object, so that importers keep the order. Not written:
// normals (one smoothing group instead), material files, colours and maps.
#pragma once

#include <filesystem>

#include "supple/io/animated_skin.h"

namespace supple {

/// Writes NAME.0001.obj, NAME.0002.obj, ... (the frame's number, at least four digits); positions
/// in metres. `path` is the folder, and NAME the skin's name; or `path` ends in .obj: NAME.obj.
/// Existing files of other frames are left alone; nothing is replaced unless all frames succeed.
/// With a skin that was split goes NAME.split.csv, its map.
void write_obj_sequence(const std::filesystem::path& path, const AnimatedSkin& skin,
                        const ExportOptions& options);

/// Writes the rest shape of a skin as one OBJ file, like those of a sequence.
void write_obj_rest(const std::filesystem::path& path, const AnimatedSkin& skin,
                    const ExportOptions& options);

}  // namespace supple
