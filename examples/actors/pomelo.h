// Pomelo, the demo character: a round-bellied creature that likes to dance.
#pragma once

#include "modelling/actor.h"

namespace supple::actors {

/// Pomelo's sculpture, armature and clips.
modelling::Actor pomelo();

}  // namespace supple::actors
