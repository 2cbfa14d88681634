// A sequence of OBJ files, one per frame: NAME.0001.obj, NAME.0002.obj, ... in one folder. Only the
// positions of later files are read; triangles, texture coordinates and materials are those of the
// first. The files say neither which axis is up nor how many frames make a second.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "supple/core/bytes.h"
#include "supple/io/file_animation.h"

namespace supple {

/// Numbered OBJ files without gaps.
struct ObjSequence {
  std::string name;
  int first_frame = 0;
  std::vector<std::filesystem::path> files;  ///< one per frame
};

/// True when `path` is a folder with numbered OBJ files, or FOLDER/NAME.obj without being a file
/// itself while FOLDER holds NAME.0001.obj or the like.
bool is_obj_sequence(const std::filesystem::path& path);

/// The sequence `path` names, as above; throws an input error when there is none, when a folder
/// holds several, when a number is missing in between or there twice.
ObjSequence find_obj_sequence(const std::filesystem::path& path);

/// Opens a sequence; frames are read from its files one at a time. `rate` is the number of frames
/// per second.
FileAnimation read_obj_sequence(const std::filesystem::path& path, double rate);

/// The positions of an OBJ file (its `v` lines) and nothing else; `file` names it in errors.
std::vector<Vec3f> parse_obj_positions(ByteView bytes, const std::string& file);

}  // namespace supple
