// How far the tip of a shape moves when one side of it is held and a load acts on all of it: in
// voxel bodies of few cells, and in fine lattices, solved by multigrid, as what they should do.
// Responses are linear, per load of one g.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "actors/props.h"
#include "supple/lattice/lattice_system.h"
#include "supple/voxels/voxel_system.h"

namespace supple {

/// A shape, where it is held, and what of it is its tip.
struct TipCase {
  Character shape;
  std::function<bool(const Vec3d&)> is_held, is_tip;
  int finest = 0;  ///< cells along the longest side of the finest reference
};

/// Displacements of a tip under loads along x, -y and -z, in metres.
using TipMotions = std::array<Vec3d, 3>;

inline constexpr double tip_young = 3e4, tip_poisson = 0.3, tip_density = 1000;

inline std::array<Vec3d, 3> tip_loads() {
  return {Vec3d(9.81, 0, 0), Vec3d(0, -9.81, 0), Vec3d(0, 0, -9.81)};
}

/// The letter C, held at its back, and its upper end; the rabbit, held at its feet, and its ears.
inline const TipCase& tip_case(const std::string& name) {
  static std::map<std::string, TipCase> cases;
  TipCase& is = cases[name];
  if (is.finest > 0) return is;
  if (name == "letter")
    is = {actors::letter(2151), [](const Vec3d& p) { return p[0] < -0.13; },
          [](const Vec3d& p) { return p[0] > 0.06 && p[1] > 0.15; }, 128};
  else
    is = {actors::rabbit(4000), [](const Vec3d& p) { return p[1] < 0.1; },
          [](const Vec3d& p) { return p[1] > 0.58; }, 384};
  return is;
}

/// The mean of the motions of the tip's points.
template <class Motion>
Vec3d tip_motion(const TipCase& is, const SolidLattice& solid, const LatticeMesh& mesh,
                 const Motion& motion_of_node) {
  std::vector<Vec3f> tips;
  for (const Vec3f& p : is.shape.skin.positions)
    if (is.is_tip(p.cast<double>())) tips.push_back(p);
  const LatticeEmbedding skin(solid, mesh, tips);
  Vec3d sum = Vec3d::Zero();
  for (const LatticeTie& tie : skin.ties())
    for (size_t c = 0; c < 8; ++c) sum += tie.weights[c] * motion_of_node(tie.nodes[c]);
  return sum / static_cast<double>(tips.size());
}

/// Of a voxel body.
inline TipMotions tips_of_cells(const TipCase& is, int cells, int levels, StiffnessLaw law) {
  constexpr double small = 1e-4;  // of the load, as cells turn
  const VoxelSolid voxels = voxelise_solid(is.shape.skin.positions, is.shape.skin.triangles,
                                           {.cells = cells, .levels = levels});
  const std::vector<VoxelMaterial> material{{lame_moduli(tip_young, tip_poisson), tip_density}};
  std::vector<CellMatrices> matrices(voxels.mesh.cells.size());
  std::vector<Vec3d> rest;
  std::vector<uint8_t> held;
  for (const LatticePlace& node : voxels.mesh.nodes) {
    rest.push_back(voxels.solid.position(voxels.solid.lattice.coordinates(node.block, node.local)));
    held.push_back(is.is_held(rest.back()) ? 1 : 0);
  }
  parallel_for(matrices.size(), 4, [&](size_t begin, size_t end) {
    for (size_t c = begin; c < end; ++c)
      matrices[c] = gather_cell(voxels, c, law, material, {held, is.is_held});
  });
  VoxelSystem system(voxels.mesh, voxels.solid.spacing, matrices);
  system.hold(held, {});
  system.set_pulls(std::vector<double>(rest.size(), 0));
  TipMotions result;
  for (size_t axis = 0; axis < 3; ++axis) {
    std::vector<Vec3d> forces;
    for (const double m : system.masses()) forces.emplace_back(small * m * tip_loads()[axis]);
    std::vector<Vec3d> x = rest;
    system.solve({rest, rest, forces}, {1e-5, 6000}, x);
    result[axis] = tip_motion(is, voxels.solid, voxels.mesh, [&](int32_t n) {
      return Vec3d((x[static_cast<size_t>(n)] - rest[static_cast<size_t>(n)]) / small);
    });
  }
  return result;
}

/// Of a lattice whose cells are as stiff as they are filled, linear about its rest.
inline TipMotions tips_of_lattice(const TipCase& is, int cells) {
  constexpr float least = 0.02f;  // filling that cells resist with
  const VoxelSolid voxels = voxelise_solid(is.shape.skin.positions, is.shape.skin.triangles,
                                           {.cells = cells, .levels = 0});
  const SolidLattice& solid = voxels.solid;
  const CellMaterial full = lame_moduli(tip_young, tip_poisson);
  const auto filled = [&](const LatticePlace& cell) {
    const auto slot =
        static_cast<size_t>(solid.lattice.cell_slots[static_cast<size_t>(cell.block)]);
    return static_cast<double>(
        std::max(least, solid.coverage[slot * block_cells + static_cast<size_t>(cell.local)]));
  };
  const auto is_held = [&](const Vec3i& node) { return is.is_held(solid.position(node)); };
  LatticeSystem system(
      solid.lattice, solid.spacing,
      [&](const Vec3i& cell) {
        const double part = filled(solid.lattice.place(cell));
        return CellMaterial{part * full.mu, part * full.lambda};
      },
      is_held);
  system.linearise(system.rest(), Differential::exact);
  TipMotions result;
  for (size_t axis = 0; axis < 3; ++axis) {
    LatticeSystem::Positions force = system.zero();
    const Vec3d share = tip_density * std::pow(solid.spacing, 3) / 8 * tip_loads()[axis];
    for (size_t c = 0; c < voxels.mesh.cells.size(); ++c)
      for (const int32_t n : voxels.mesh.corners[c]) {
        const LatticePlace& node = voxels.mesh.nodes[static_cast<size_t>(n)];
        if (is_held(solid.lattice.coordinates(node.block, node.local))) continue;
        force.set(node, force.at(node) + filled(voxels.mesh.cells[c]) * share);
      }
    BlockVector<float> moved = system.zero_step();
    LinearOptions options;
    options.limits = {1e-5, 500};
    system.solve(force, moved, options);
    result[axis] = tip_motion(is, solid, voxels.mesh, [&](int32_t n) {
      return Vec3d(moved.at(voxels.mesh.nodes[static_cast<size_t>(n)]).cast<double>());
    });
  }
  return result;
}

/// What finer and finer lattices come to.
struct TipReference {
  TipMotions coarse, middle, fine;  ///< in a quarter of the cells, in half of them, in all
  /// Where errors fall by the same factor with every halving, the limit they fall to (Richardson's
  /// extrapolation); otherwise the finest.
  Vec3d limit(size_t axis) const {
    const Vec3d first = middle[axis] - coarse[axis], second = fine[axis] - middle[axis];
    const double rate = second.dot(first) / first.squaredNorm();
    return rate > 0 && rate < 0.7 ? Vec3d(fine[axis] + second * rate / (1 - rate)) : fine[axis];
  }
};

/// Found once for every shape.
inline const TipReference& tip_reference(const std::string& name) {
  static std::map<std::string, TipReference> references;
  const auto [at, first] = references.try_emplace(name);
  if (first) {
    const TipCase& is = tip_case(name);
    at->second = {tips_of_lattice(is, is.finest / 4), tips_of_lattice(is, is.finest / 2),
                  tips_of_lattice(is, is.finest)};
  }
  return at->second;
}

}  // namespace supple
