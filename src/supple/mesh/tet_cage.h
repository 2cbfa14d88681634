// Coarse tetrahedral cages around detailed skins, made from nothing but a number of elements: nodes
// first, then tetrahedra, then the empty ones are cut away [Kim 2011, section 5]. Nodes lie on the
// points where flesh is to be held by bones.
//
// The skin may be open, of several shells, and run through itself (skin_solid.h says what counts as
// inside). Cages are as fine everywhere: the spacing does not follow the shape.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "supple/mesh/tet_filling.h"
#include "supple/mesh/tet_locate.h"
#include "supple/mesh/tet_mesh.h"
#include "supple/mesh/tet_quality.h"
#include "supple/mesh/triangle_mesh.h"

namespace supple {

/// How the tetrahedra of a cage are made.
enum class TetCageMethod {
  bcc,      ///< of a body-centred cubic lattice whose nodes move to the placed points
  delaunay  ///< a Delaunay triangulation of the placed points and lattice nodes between them
};

/// What a cage is to be like.
struct TetCageOptions {
  int elements = 1000;  ///< tetrahedra wanted, 1 to 10 million
  TetCageMethod method = TetCageMethod::bcc;
  double smallest_angle = 10;  ///< between two sides of a tetrahedron, in degrees, 0 to 40
};

/// A cage, and how well its nodes met the placed points.
struct TetCage {
  TetMesh mesh;
  std::vector<int32_t> nodes_of_points;     ///< the node of every placed point
  std::vector<double> distances_of_points;  ///< from its node, in length units; 0 when it is there
  int shared = 0;       ///< points off their node, which is another's within a quarter spacing
  int unplaced = 0;     ///< other points whose node, the nearest, is not exactly there
  double farthest = 0;  ///< the largest distance of a point from its node, in length units
  double spacing = 0;   ///< side of the lattice's cubes, in length units
  double smallest_angle = 0;  ///< between two sides of a tetrahedron, in degrees, as reached
};

/// Makes a cage of about the wanted number of elements that contains every point of the skin and of
/// the solid under it, without empty tetrahedra. Where the shape takes more elements than wanted to
/// cover, it is the coarsest. Throws an input error for a skin without triangles or extent, or with
/// numbers that are not finite, and a usage error for options out of range.
TetCage make_tet_cage(const TriangleMesh& skin, std::span<const Vec3d> placed_points,
                      const TetCageOptions& options);

}  // namespace supple
