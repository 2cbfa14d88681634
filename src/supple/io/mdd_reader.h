// MDD, the point cache that began with LightWave: positions and times. It has no triangles and does
// not say which axis is up.
#pragma once

#include <memory>

#include "supple/core/input_file.h"
#include "supple/io/file_animation.h"

namespace supple {

/// Opens a .mdd file; frames are read from it one at a time. `rate` is the likely number of frames
/// per second: a file with one frame does not tell.
FileAnimation read_mdd(const std::shared_ptr<const InputFile>& file, double rate);

}  // namespace supple
