// Softening of skin weights where they change too fast along the edges of a mesh.
#pragma once

#include <span>
#include <vector>

#include "supple/mesh/triangle_mesh.h"

namespace supple {

/// The weight of one bone at one point.
struct BoneWeight {
  int32_t bone = 0;
  double weight = 0;
};

/// Weights of all bones at each point, by bone; those of a point sum to one or are absent.
using PointWeights = std::vector<std::vector<BoneWeight>>;

/// Averages points with their neighbours, again and again, until no weight changes by more than
/// `limit` along an edge. Edges longer than half of `reach` at one of their ends are left alone:
/// there the mesh is too coarse for the limb it covers. Stops after some rounds in any case.
void limit_changes(const TriangleMesh& mesh, std::span<const double> reach, double limit,
                   PointWeights& weights);

}  // namespace supple
