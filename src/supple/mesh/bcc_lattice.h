// The body-centred cubic lattice: corners and centres of cubes, joined to tetrahedra that all have
// one shape (angles between sides of 60 and 90 degrees), and which of them a solid needs.
//
// In units of half the cubes' side, nodes have three even coordinates (corners) or three odd ones
// (centres). A tetrahedron has an edge between two centres, along axis k, and one between two
// corners, along axis i; their middles O and M are one unit apart, along axis j. It is named by
// O + M, whose coordinate i is 2 and k is 0 modulo 4, while j is odd.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "supple/mesh/skin_solid.h"
#include "supple/mesh/tet_mesh.h"

namespace supple {

/// An endless lattice of tetrahedra; tetrahedra are named by O + M, nodes by their coordinates.
struct BccLattice {
  Vec3d origin = Vec3d::Zero();  ///< where the node (0, 0, 0) is
  double spacing = 1;            ///< side of the cubes, in length units

  /// Where a node is.
  Vec3d position(const Vec3i& node) const { return origin + spacing / 2 * node.cast<double>(); }

  /// The tetrahedron that holds a point.
  Vec3i tet_at(const Vec3d& point) const;

  /// The corners of a tetrahedron, positively oriented.
  static std::array<Vec3i, 4> corners(const Vec3i& tet);

  /// The tetrahedra that share a side with one.
  static std::array<Vec3i, 4> neighbours(const Vec3i& tet);

  /// The 24 tetrahedra around a node.
  static std::array<Vec3i, 24> around(const Vec3i& node);
};

/// The tetrahedra of a lattice that a skin runs through or that lie inside it, in a fixed order;
/// stops, with more than `limit` of them, where there are more.
std::vector<Vec3i> tets_of_solid(const BccLattice& lattice, const TriangleMesh& skin,
                                 const SkinSolid& solid, size_t limit);

/// Tetrahedra of a lattice as a mesh, in their order.
TetMesh lattice_tets(const BccLattice& lattice, std::span<const Vec3i> tets);

/// These tetrahedra and all that share a node with them, in a fixed order.
std::vector<Vec3i> with_surroundings(std::span<const Vec3i> tets);

}  // namespace supple
