// Poses between poses: what a body is driven by in parts of a frame, and how far a rig jumps.
#pragma once

#include "supple/rig/skeleton.h"

namespace supple {

/// The pose a part of the way from one to another: joints turn the short way.
Pose pose_between(const Pose& from, const Pose& to, double part);

/// The largest turn of any joint relative to its parent between two poses, in radians.
double largest_turn(const Pose& from, const Pose& to);

}  // namespace supple
