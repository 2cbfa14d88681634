// Finer triangle meshes of the same shape.
#pragma once

#include "supple/mesh/triangle_mesh.h"

namespace supple {

/// A mesh whose edges are cut into `parts` (1 or more), its own vertices first.
TriangleMesh refined(const TriangleMesh& mesh, int parts);

/// A mesh without edges longer than `longest` (length units, above 0), its own vertices first:
/// longer ones are halved until there are none, on both sides alike.
TriangleMesh with_short_edges(const TriangleMesh& mesh, double longest);

}  // namespace supple
