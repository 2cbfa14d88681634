// Pomelo's clips.
#pragma once

#include "modelling/choreography.h"

namespace supple::actors {

/// Four seconds at 120 beats per minute: a groove with arm curls, two hops with a twist, a belly
/// shake and a jump.
Clip pomelo_dance(const modelling::Armature& armature);

/// Breathing, a shift of weight and a look around, six seconds.
Clip pomelo_idle(const modelling::Armature& armature);

/// A waddle in place, one second for two steps.
Clip pomelo_walk(const modelling::Armature& armature);

/// Down until the belly rests on the thighs, and up again, three seconds.
Clip pomelo_crouch(const modelling::Armature& armature);

}  // namespace supple::actors
