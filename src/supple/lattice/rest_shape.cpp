#include "supple/lattice/rest_shape.h"

#include <cmath>

namespace supple {
namespace {

using Positions = LatticeSystem::Positions;

// support -= part k dx, for every node.
void load_supports(std::span<const float> pulls, double part, const BlockVector<float>& dx,
                   Positions& support) {
  for (size_t i = 0; i < support.size(); ++i) {
    // Blocks hold x of 64 nodes, then y, then z.
    const size_t node = i / vector_block * block_cells + i % block_cells;
    support[i] -= part * static_cast<double>(pulls[node]) * static_cast<double>(dx[i]);
  }
}

}  // namespace

RestShapeReport find_rest_shape(LatticeSystem& system, const Positions& x, const Positions& weight,
                                std::span<const float> pulls, const RestShapeOptions& options,
                                Positions& support) {
  RestShapeReport report;
  support = system.zero();
  if (!(system.norm(weight) > 0)) return report;
  Positions forces = system.zero(), moved = system.zero();
  BlockVector<float> dx = system.zero_step();
  LinearOptions linear;
  linear.limits.tolerance = 1e-2;
  // Finds the forces that are left at x, how they would move the nodes, and the work they would do.
  const auto work_left = [&] {
    Positions outer = weight;
    add_scaled(1.0, support, outer);
    system.set_external_forces(std::move(outer));
    if (options.keep_volume) system.keep_volume(x, options.answer);
    system.force(x, forces);
    system.linearise(x, Differential::projected);
    system.solve(forces, dx, linear);
    return system.slope(forces, dx);
  };
  const double whole = work_left();
  double least = whole, part = 1;
  // The best so far, to go on from.
  AlignedArray<float> stretches = system.rest_stretches();
  Positions loaded = support;
  BlockVector<float> way = dx;
  while (report.rounds < options.rounds && part > 0.1 &&
         least > options.tolerance * options.tolerance * whole) {
    ++report.rounds;
    system.move(x, part, way, moved);
    const double stretch = system.stretch_rest(moved, options.most);
    load_supports(pulls, part, way, support);
    const double left = work_left();
    if (left >= 0 && left < (1 - 0.2 * part) * least) {
      least = left;
      report.stretch = stretch;
      stretches = system.rest_stretches();
      loaded = support;
      way = dx;
      continue;
    }
    part /= 2;
    system.rest_stretches() = stretches;
    support = loaded;
  }
  // What is left goes to the supports as it is.
  system.rest_stretches() = stretches;
  support = loaded;
  report.left = whole > 0 ? std::sqrt(work_left() / whole) : 0;
  add_scaled(-1.0, forces, support);
  return report;
}

}  // namespace supple
