// Simple solids as characters: the skin of a box, ball or bent tube, without a rig.
#pragma once

#include "supple/rig/character.h"
#include "supple/sim/scene.h"

namespace supple {

/// The solid as a character without a file; throws an input error naming `file` when its sizes do
/// not fit together. The type must not be `none`.
Character character_from_shape(const ShapeSettings& shape, const std::string& file);

}  // namespace supple
