// PC2, the point cache of 3ds Max and Blender: positions only. It has no triangles, does not say
// which axis is up nor how many frames make a second.
#pragma once

#include <memory>

#include "supple/core/input_file.h"
#include "supple/io/file_animation.h"

namespace supple {

/// Opens a .pc2 file; frames are read from it one at a time. `rate` is the number of frames per
/// second, which the file does not know; a file with several samples per frame gets as many times
/// more.
FileAnimation read_pc2(const std::shared_ptr<const InputFile>& file, double rate);

}  // namespace supple
