// A character as a chunk of named arrays, for caches and for handing it from one process to
// another. Nothing is lost: reading a written character gives the same bits.
#pragma once

#include <string_view>

#include "supple/core/chunk.h"
#include "supple/rig/character.h"

namespace supple {

/// Every field of a character as arrays of a chunk.
Chunk to_chunk(const Character& character);

/// The character in a chunk; throws an input error naming `file` and the array when a count does
/// not fit, an index is out of range, an order is broken or a number is not finite.
Character character_from_chunk(const Chunk& chunk, std::string_view file);

/// Checks everything character_from_chunk() promises of a character; throws an input error naming
/// `file` and the field.
void check_character(const Character& character, std::string_view file);

}  // namespace supple
