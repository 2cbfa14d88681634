// The pose a skin was bound in. The rest pose of a file's node tree is often another one, so that
// bones are to be looked for here.
#pragma once

#include "supple/rig/character.h"

namespace supple {

/// A copy of the character's skeleton whose rest pose is the bind pose: joints of binds lie where
/// these put them, the others keep their place relative to their parent.
Skeleton bind_skeleton(const Character& character);

/// The number of the first bind of every joint that some skinned vertex follows, else -1; rigid
/// parts count only where there are no others.
std::vector<int32_t> binds_by_joint(const Character& character);

}  // namespace supple
