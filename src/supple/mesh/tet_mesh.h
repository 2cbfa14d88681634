// Tetrahedral meshes.
#pragma once

#include <vector>

#include "supple/mesh/triangle_mesh.h"

namespace supple {

/// A tetrahedral mesh: node positions and node quadruples, positively oriented:
/// (x1-x0) · ((x2-x0) × (x3-x0)) > 0.
struct TetMesh {
  std::vector<Vec3d> positions;
  std::vector<Vec4i> tets;
};

/// Six times the signed volume of one tetrahedron, in cubed length units.
double six_volumes(const TetMesh& mesh, const Vec4i& tet);

/// Total signed volume, in cubed length units.
double volume(const TetMesh& mesh);

/// Swaps two nodes of every negatively oriented tetrahedron; returns how many there were.
int orient_positively(TetMesh& mesh);

/// The boundary as a triangle mesh with outward triangles over the nodes that lie on it;
/// `nodes_of_vertices`, where given, receives the tet node of every boundary vertex.
TriangleMesh boundary_surface(const TetMesh& mesh,
                              std::vector<int32_t>* nodes_of_vertices = nullptr);

}  // namespace supple
