// Things that sway when they are pulled about, for adjusted dynamics: a sunflower, a jellyfish
// and a pudding.
#pragma once

#include "actors/props.h"

namespace supple::actors {

/// A sunflower, 0.9 m high, facing +Z: a stem with two leaves, a heavy head with petals.
Character sunflower(int vertices);

/// A jellyfish, 0.8 m high: a bell around a core, and eight tentacles.
Character jellyfish(int vertices);

/// A pudding, 0.24 m high.
Character pudding(int vertices);

/// All of them, with their scenes.
std::vector<Prop> swaying_props();

}  // namespace supple::actors
