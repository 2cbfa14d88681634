// Scenes of the self-propelled animals, each of which moves by its joints alone.
#pragma once

#include "actors/cast.h"

namespace supple::actors {

/// The worm rolls up into a wheel.
ActorScene rolling_worm();

/// The fish lies on its side and leaps.
ActorScene leaping_fish();

/// The starfish jumps and turns.
ActorScene turning_starfish();

/// The starfish lifts a glass cage and gets an arm out.
ActorScene escaping_starfish();
ActorScene reaching_starfish();

}  // namespace supple::actors
