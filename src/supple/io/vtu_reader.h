// VTK collections (.pvd) of unstructured grids, as we write them: a surface in motion with a map
// per scalar point array. The files do not say which axis is up. Vectors other than `displacement`
// are left out, and so are volumes (refused).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "supple/core/input_file.h"
#include "supple/io/file_animation.h"

namespace supple {

/// One entry of a collection.
struct PvdEntry {
  double seconds = 0;
  std::string file;  ///< as written, relative to the collection
};

/// Opens a .pvd file and the first of its frames, the others are read one at a time; the frames
/// must lie in the collection's folder or below. `rate` is the likely number of frames per second:
/// a collection of one frame may not tell.
FileAnimation read_pvd(const std::filesystem::path& path, double rate);

/// Opens a .vtu file as one frame, numbered by the digits its name ends in.
FileAnimation read_vtu(const std::filesystem::path& path, double rate);

/// The entries of a collection; `file` names it in errors.
std::vector<PvdEntry> parse_pvd(ByteView bytes, const std::string& file);

/// The first frame of an animation from a grid: everything but frame numbers and the frames.
FileAnimation vtu_surface(const InputFile& file);

/// A later frame, which must have as many vertices as `skin` and all of its maps.
SkinFrame vtu_frame(const InputFile& file, const AnimatedSkin& skin);

}  // namespace supple
