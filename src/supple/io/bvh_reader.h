// BVH motion capture files.
//
// How the format is read where its readers differ:
// - Position channels replace OFFSET axis by axis (as in Blender), for roots and other joints; an
//   axis without a channel keeps its OFFSET. At rest every joint is at its OFFSET, unrotated.
// - Rotation channels compose in the joint's own order: channels Z Y X give R = Rz · Ry · Rx, and a
//   joint's local matrix is T · R wherever its position channels stand.
// - An End Site becomes a leaf joint named after its parent with "_end".
// - The numbers of the frames may be broken into lines anywhere, but there must be exactly as many
//   as `Frames:` promises.
// BVH has no units: lengths stay in the file's. Channels other than position and rotation are
// refused.
#pragma once

#include <filesystem>
#include <string>

#include "supple/core/bytes.h"
#include "supple/rig/motion.h"

namespace supple {

/// Reads a BVH file: joints in the file's order, linear keys at times i * frame time (seconds), and
/// the clip's rate as 1 / frame time.
Motion read_bvh(const std::filesystem::path& path);

/// Reads a BVH file from memory; `file` names it in errors.
Motion parse_bvh(ByteView bytes, const std::string& file);

}  // namespace supple
