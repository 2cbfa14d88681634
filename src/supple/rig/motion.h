// A motion: a skeleton without skin and its animation, as motion capture files hold them.
#pragma once

#include "supple/rig/clip.h"
#include "supple/rig/skeleton.h"

namespace supple {

/// A skeleton and one clip for it.
struct Motion {
  Skeleton skeleton;
  Clip clip;
};

}  // namespace supple
