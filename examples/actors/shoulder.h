// The shoulder: a bust with upper arms, whose collarbones slide under the skin when it shrugs.
#pragma once

#include "modelling/actor.h"

namespace supple::actors {

/// The shoulder's sculpture, armature and clip.
modelling::Actor shoulder();

}  // namespace supple::actors
