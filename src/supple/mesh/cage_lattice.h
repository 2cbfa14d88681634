// The lattice for a cage of a wanted number of tetrahedra: a search over spacing and place.
#pragma once

#include <vector>

#include "supple/mesh/bcc_lattice.h"

namespace supple {

/// A lattice and those of its tetrahedra that hold something of a solid.
struct CageLattice {
  BccLattice lattice;
  std::vector<Vec3i> tets;
};

/// The lattice of which a solid takes about `elements` tetrahedra (at least 1): within a few per
/// cent for more than about a hundred, else the nearest number found. A skin's triangles must use
/// all of its vertices, and not be all at one place.
CageLattice find_cage_lattice(const TriangleMesh& skin, const SkinSolid& solid, double elements);

}  // namespace supple
