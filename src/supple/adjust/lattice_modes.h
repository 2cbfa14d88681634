// The lowest natural frequencies of a lattice whose constraints are held still. Its stiffness
// matrix is never assembled: products are sweeps over the cells, and the preconditioner is the
// multigrid cycle that the steps have anyway, so that the cost grows with the number of cells,
// where a Cholesky factor of a solid's matrix (as Spectra would want for a shift) grows with its
// square.
#pragma once

#include "supple/adjust/modes.h"
#include "supple/lattice/lattice_dynamics.h"

namespace supple {

/// Modes of a lattice at rest, over the numbers of all nodes.
struct LatticeModes {
  Modes modes;
  double elastic_share =
      1;  ///< of the lowest mode's energy: the cells', the rest is that of springs
  int iterations = 0;
};

/// The `count` lowest modes. Modes that cost no energy have frequencies of 0. Empty when the
/// iteration does not converge.
LatticeModes lowest_modes(LatticeDynamicsModel model, int count);

}  // namespace supple
