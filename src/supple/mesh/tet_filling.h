// How much of each tetrahedron of a cage is filled with matter, and where in it: what masses and
// stiffness of partly filled elements follow from [Kim 2011, section 4.3].
#pragma once

#include <vector>

#include "supple/mesh/tet_mesh.h"

namespace supple {

/// The matter in every tetrahedron.
struct TetFilling {
  /// The filled part of the volume, 0 to 1: w of [Kim 2011, eq. 11].
  std::vector<double> filled;

  /// The integral of each corner's weight over the filled part, in cubed length units: times the
  /// density this is the corner's share of the mass [Kim 2011, eq. 10]. Their sum is the filled
  /// volume.
  std::vector<Eigen::Vector4d> shares;
};

/// Measures the matter under a skin in every tetrahedron: all or nothing where the skin does not
/// run through it, else along at least `samples` lines (1 or more) from its corners, spread evenly
/// and the same in every run. Tetrahedra that shells with holes run through count as filled to the
/// part `sheets` at least, evenly: sheets have no volume of their own.
TetFilling fill_tets(const TetMesh& mesh, const TriangleMesh& skin, int samples = 128,
                     double sheets = 0);

}  // namespace supple
