// From a sculpture to a closed triangle mesh of any resolution.
#pragma once

#include "modelling/sculpture.h"
#include "supple/mesh/triangle_mesh.h"

namespace supple::modelling {

/// Meshes a sculpture with cells of size `cell` (metres): a closed manifold, outward triangles,
/// vertices on the surface itself, mirror-symmetric where the sculpture is.
TriangleMesh mesh_surface(const Sculpture& sculpture, double cell);

/// Size of the cells, in metres, with which the mesh has about `vertices` vertices (within 5 %).
double cell_for_vertices(const Sculpture& sculpture, int vertices);

/// How round a triangle is: twice its area over its longest side squared, largest for equal sides.
double roundness(const Vec3d& a, const Vec3d& b, const Vec3d& c);

}  // namespace supple::modelling
