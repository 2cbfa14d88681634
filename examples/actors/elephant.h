// A soft elephant-like creature, for adjusted dynamics with contact.
#pragma once

#include "actors/cast.h"

namespace supple::actors {

/// A calf of an elephant, 1.6 m tall, facing +Z, that lays its trunk over a lifted foot and shakes
/// its head: its trunk and ears swing freely. With a shape of a throat that bulges, which a lowered
/// head turns on.
CastMember elephant();

}  // namespace supple::actors
