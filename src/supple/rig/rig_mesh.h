// Rigging: a mesh without a rig and a skeleton from elsewhere become a character.
#pragma once

#include <string>
#include <vector>

#include "supple/rig/auto_weights.h"
#include "supple/rig/character.h"
#include "supple/rig/fit_skeleton.h"

namespace supple {

/// A skeleton to put into a mesh, as its file has it.
struct SkeletonSource {
  std::string file;  ///< for messages
  Skeleton skeleton;
  std::vector<Clip> clips;
  TriangleMesh skin;  ///< the mesh it came with; empty for motion capture
};

/// How a mesh is rigged.
struct RigOptions {
  FitKind fit = FitKind::pose;
  AutoWeightOptions weights;  ///< `bones` is filled in: the bones of the skeleton's file
};

/// What was done, for the report.
struct RigReport {
  SkeletonFit fit;
  size_t joints = 0, bones = 0;  ///< of the skeleton, and those the skin follows
  double cell_size = 0;          ///< of the grid the weights were made in, in length units
  size_t loose_vertices = 0;     ///< vertices that follow the nearest part of the solid
};

/// Replaces the rig of `character` by that skeleton, with its clips and automatic weights. Blend
/// shapes stay, clips that drive them go. Throws an input error that names the file when the mesh
/// has no triangles, the skeleton has no bones, or they lie apart.
RigReport rig_mesh(Character& character, SkeletonSource source, const RigOptions& options = {});

}  // namespace supple
