// Automatic skin weights: which bones of a skeleton each vertex of an unrigged mesh follows.
//
// The mesh may be open, overlap itself or come in many parts. Bones are near or far inside the
// solid, never across the air, so that an arm beside the body or one leg beside the other keeps to
// itself. Linear blend skinning is what the weights are made for.
#pragma once

#include <string>
#include <vector>

#include "supple/mesh/triangle_mesh.h"
#include "supple/rig/skeleton.h"
#include "supple/rig/skin_weights.h"

namespace supple {

/// How weights are made.
struct AutoWeightOptions {
  int influences = 4;       ///< most bones a vertex follows
  double smoothness = 1;    ///< width of the change from bone to bone, relative to the default
  int resolution = 0;       ///< cells along the longest side; 0 picks it by the mesh's volume
  std::vector<bool> bones;  ///< which joints may carry flesh; empty for all
  std::vector<std::string> left_out;  ///< names of joints that carry none
};

/// What was made.
struct AutoWeights {
  std::vector<Bind> binds;  ///< of the joints that carry flesh, in their order
  SkinWeights weights;      ///< one vertex after the other, strongest first, summing to one
  double cell_size = 0;     ///< side of the cells used, in length units
  size_t loose_vertices =
      0;  ///< vertices no bone reaches from inside: they follow the nearest part
};

/// Weights of a mesh in the skeleton's rest pose. Left and right come out alike when mesh and
/// skeleton do. Same result for any number of threads. Throws an input error when the mesh has no
/// triangles, the skeleton has no joints, or a name in `left_out` is unknown.
AutoWeights automatic_weights(const TriangleMesh& mesh, const Skeleton& skeleton,
                              const AutoWeightOptions& options = {});

}  // namespace supple
