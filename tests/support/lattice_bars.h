// Bars of lattice cells over time, for tests of their dynamics.
#pragma once

#include "supple/lattice/lattice_dynamics.h"

namespace supple::test {

/// A box of cells with a corner at the origin, of which the nodes of the lowest layer of cells are
/// held. `spacing` in metres, Young's modulus in Pa.
inline LatticeDynamicsModel lattice_bar(const Vec3i& size, double spacing, double young = 2e5,
                                        double damping = 0.004, double poisson = 0.3) {
  LatticeDynamicsModel model;
  std::vector<Vec3i> cells;
  for (int z = 0; z < size[2]; ++z)
    for (int y = 0; y < size[1]; ++y)
      for (int x = 0; x < size[0]; ++x) cells.emplace_back(x, y, z);
  model.solid.lattice = SparseLattice(cells);
  model.solid.spacing = spacing;
  model.solid.coverage.assign(model.solid.lattice.slot_count * block_cells, 1.0f);
  model.mesh = LatticeMesh(model.solid.lattice);
  model.moduli.assign(model.mesh.cells.size(), lame_moduli(young, poisson));
  model.masses.assign(model.mesh.nodes.size(), 0);
  for (const auto& corners : model.mesh.corners)
    for (const int32_t n : corners)
      model.masses[static_cast<size_t>(n)] += 1000 * spacing * spacing * spacing / 8;
  if (damping > 0) model.stiffness_damping.assign(model.mesh.cells.size(), damping);
  for (size_t n = 0; n < model.mesh.nodes.size(); ++n) {
    const LatticePlace& at = model.mesh.nodes[n];
    if (model.solid.lattice.coordinates(at.block, at.local)[1] <= 1)
      model.held.push_back(static_cast<int32_t>(n));
  }
  return model;
}

}  // namespace supple::test
