// USD in its text form (.usda): the meshes of a layer with points that change with time, as we
// write them and near relatives. Not read: transforms (refused), references, variants, skeletons,
// time samples of anything but points, normals. A mesh whose points do not change stands still.
#pragma once

#include <memory>

#include "supple/core/input_file.h"
#include "supple/io/file_animation.h"

namespace supple {

/// Opens a .usda file, reading through it once to find the time samples; frames are read from it
/// one at a time. All meshes together are the skin, in the order of the file; each is a part, or
/// each of its GeomSubsets. Polygons become fans of triangles. Lengths become metres.
FileAnimation read_usda(const std::shared_ptr<const InputFile>& file);

}  // namespace supple
