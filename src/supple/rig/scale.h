// Changing the length unit of a character.
#pragma once

#include "supple/rig/character.h"

namespace supple {

/// Multiplies every length of a character by `factor`: skin, shapes, joints, binds and clips.
void scale_character(Character& character, double factor);

}  // namespace supple
