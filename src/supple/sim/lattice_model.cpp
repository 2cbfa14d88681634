#include "supple/sim/lattice_model.h"

#include <algorithm>
#include <cmath>

#include "supple/core/error.h"
#include "supple/lattice/gauss_cells.h"

namespace supple {
namespace {

// Most cells of eight-point quadrature, whose matrices take some 5 GB then.
constexpr size_t most_gauss_cells = 2'000'000;

// Fills a skin with about as many cells as a budget allows: cells on the surface make the count
// grow with a power of the spacing between 2 and 3, found by trying.
SolidLattice fill_budget(std::span<const Vec3f> points, std::span<const Vec3i> triangles,
                         int budget) {
  constexpr int tries = 4;
  constexpr double near = 0.05;
  SolidOptions options;
  options.cells = 24;
  SolidLattice solid = fill_lattice(points, triangles, options);
  for (int i = 0; i < tries; ++i) {
    const double ratio = static_cast<double>(solid.lattice.cell_count()) / budget;
    if (std::abs(ratio - 1) < near) break;
    options.spacing = solid.spacing * std::pow(ratio, 1 / 2.7);
    solid = fill_lattice(points, triangles, options);
  }
  return solid;
}

SolidLattice fill(std::span<const Vec3f> points, const TriangleMesh& skin,
                  const BodySettings& settings, const std::string& file) {
  try {
    if (settings.spacing == 0 && settings.cells == 0)
      return fill_budget(points, skin.triangles, settings.budget);
    return fill_lattice(points, skin.triangles,
                        {.spacing = settings.spacing, .cells = settings.cells});
  } catch (const Error& error) {
    throw_input_error(file, "body", error.what());
  }
}

void check_quadrature(const SolidLattice& solid, const BodySettings& settings,
                      const std::string& file) {
  const size_t cells = solid.lattice.cell_count();
  if (settings.solver.quadrature == Quadrature::eight_point && cells > most_gauss_cells)
    throw_input_error(file, "body.solver.quadrature",
                      fmt::format("'eight_point' takes at most {} cells of {} bytes each, not {}",
                                  most_gauss_cells, gauss_cell_bytes, cells));
}

}  // namespace

LatticeModel::LatticeModel(const Character& character, const BodySettings& settings,
                           const FrameRange& range, const std::string& file)
    : FleshModel(
          character, settings,
          [&](const FleshSkin& skin) {
            SolidLattice solid = fill(skin.mesh.positions, skin.mesh, settings, file);
            check_quadrature(solid, settings, file);
            return solid;
          },
          file) {
  for (size_t i = 0; i < settings.fixed.size(); ++i)
    if (settings.fixed[i].skin)
      throw_input_error(file, fmt::format("body.fixed[{}].skin", i),
                        "is for bodies of type 'voxels'");
  const double volume = solid.spacing * solid.spacing * solid.spacing;
  std::vector<MaterialPlace> places;
  for (size_t c = 0; c < mesh.cells.size(); ++c)
    places.push_back({cell_centre(c), c, solid.covered(mesh.cells[c]) * volume});
  const std::vector<Substance> is = set_materials(settings, places, file);
  masses.assign(mesh.nodes.size(), 0);
  for (size_t c = 0; c < mesh.cells.size(); ++c) {
    const double covered = solid.covered(mesh.cells[c]);
    const CellMaterial whole = lame_moduli(is[c].young, is[c].poisson);
    moduli.push_back({covered * whole.mu, covered * whole.lambda});
    for (const int32_t node : mesh.corners[c])
      masses[static_cast<size_t>(node)] += covered * is[c].density * volume / 8;
  }
  attach(settings, range, !is_dynamic(settings) || settings.start == StartState::equilibrium, file);
}

std::vector<TargetSpring> LatticeModel::springs() const {
  // Just inside the cell, as the upper sides belong to the neighbours.
  constexpr double inside = 1 - 1e-6;
  std::vector<TargetSpring> result;
  for (const PulledPlaces& group : pulled)
    for (const Vec3d& at : group.rest) {
      const LatticePlace& cell = mesh.cells[static_cast<size_t>(nearest_cell(solid, mesh, at))];
      const Vec3d low = solid.lattice.coordinates(cell.block, cell.local).cast<double>();
      const Vec3d place = ((at - solid.origin) / solid.spacing)
                              .cwiseMax(low)
                              .cwiseMin(low + Vec3d::Constant(inside));
      const auto k = static_cast<float>(group.stiffness);
      result.push_back({{place, {k, k, k, 0, 0, 0}}, at});
    }
  return result;
}

std::unique_ptr<LatticeSystem> LatticeModel::make_system() const {
  std::vector<uint64_t> held(solid.lattice.block_count(), 0);
  for (const ScriptedNodes& group : fixed)
    for (const int32_t n : group.nodes) {
      const LatticePlace& node = mesh.nodes[static_cast<size_t>(n)];
      held[static_cast<size_t>(node.block)] |= uint64_t{1} << node.local;
    }
  if (attachment)
    for (const int32_t n : attachment->held()) {
      const LatticePlace& node = mesh.nodes[static_cast<size_t>(n)];
      held[static_cast<size_t>(node.block)] |= uint64_t{1} << node.local;
    }
  auto system = std::make_unique<LatticeSystem>(
      solid.lattice, solid.spacing,
      [&](const Vec3i& cell) {
        return moduli[static_cast<size_t>(mesh.cell_number(solid.lattice.place(cell)))];
      },
      [&](const Vec3i& node) {
        const LatticePlace at = solid.lattice.place(node);
        return (held[static_cast<size_t>(at.block)] >> at.local & 1) != 0;
      });
  return system;
}

}  // namespace supple
