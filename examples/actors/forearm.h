// The forearm: an arm from above the elbow with a hand of five fingers that closes to a fist.
#pragma once

#include "modelling/actor.h"

namespace supple::actors {

/// The forearm's sculpture, armature and clip.
modelling::Actor forearm();

}  // namespace supple::actors
