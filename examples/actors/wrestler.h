// A sumo-like wrestler, for adjusted dynamics.
#pragma once

#include "actors/cast.h"

namespace supple::actors {

/// A heavy wrestler, 1.75 m tall, facing +Z, who stomps with one foot after the other; with a shape
/// that makes room for a thigh that is lifted against the belly.
CastMember wrestler();

}  // namespace supple::actors
