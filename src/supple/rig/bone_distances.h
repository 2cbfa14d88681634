// How far every node of a solid is from the bones near it, without leaving the solid.
#pragma once

#include <span>
#include <vector>

#include "supple/mesh/solid_graph.h"
#include "supple/rig/bones.h"

namespace supple {

/// A bone near a node.
struct NearBone {
  int32_t bone = 0;
  double distance = 0;  ///< in length units, along the shortest way inside the solid
  double radius = 1;    ///< thickness of the solid where the bone is nearest, in length units
};

/// The bones near each node, node after node, by number of the bone.
struct BoneDistances {
  std::vector<size_t> offsets;  ///< first entry of every node, and the total at the end
  std::vector<NearBone> near;   ///< none where no bone can be reached

  /// The bones near a node.
  std::span<const NearBone> of(size_t node) const {
    return {near.data() + offsets[node], near.data() + offsets[node + 1]};
  }
};

/// Measures how thick the solid is along the bones: the radius of the largest ball inside it that
/// holds the point of the bone.
void measure_radii(const SolidGraph& graph, std::span<Bone> bones);

/// Measures distances to all bones that are at most `reach` times as far as the nearest one.
///
/// Where a bone can be seen its distance is the straight one, which the length of the shortest way
/// through the graph betrays: ways over cells and their neighbours are at most a tenth too long.
/// Bones, and pieces of them, outside the solid start from the node nearest to them. Same result
/// for any number of threads.
BoneDistances measure_bone_distances(const SolidGraph& graph, const SolidSight& sight,
                                     std::span<const Bone> bones, double reach = 2.5);

}  // namespace supple
