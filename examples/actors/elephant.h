// A soft elephant-like creature, for adjusted dynamics with contact.
#pragma once

#include "actors/cast.h"

namespace supple::actors {

/// A calf of an elephant, 1.6 m tall, facing +Z, that nods and shakes its head: its trunk and ears
/// swing freely and meet its legs, chest and cheeks. With a shape of a throat that bulges, which a
/// lowered head turns on.
CastMember elephant();

}  // namespace supple::actors
