// The wriggler: a striped caterpillar of one closed surface on a chain of bones, with a clip in
// which it rears up, sways and lies down again. It is made without sculpture or automatic weights,
// in no time, and so serves as test input too.
#pragma once

#include "supple/rig/character.h"

namespace supple::actors {

/// The wriggler with that many rings of vertices, at least 12; a ring has a third as many vertices.
Character wriggler(int rings);

/// Rings with which the wriggler has about that many vertices.
int wriggler_rings(int vertices);

}  // namespace supple::actors
