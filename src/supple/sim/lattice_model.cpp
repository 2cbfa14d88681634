#include "supple/sim/lattice_model.h"

#include <algorithm>
#include <cmath>

#include "supple/core/error.h"
#include "supple/sim/selection.h"

namespace supple {
namespace {

// How far beyond a selection's border nodes still belong to it, in cells.
constexpr double border = 1e-3;

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

std::string reach_of(const std::vector<Vec3d>& points) {
  Box3d box;
  for (const Vec3d& p : points) box.extend(p);
  const Vec3d a = box.min(), b = box.max();
  return fmt::format("the body reaches from {:.4g} {:.4g} {:.4g} to {:.4g} {:.4g} {:.4g}", a[0],
                     a[1], a[2], b[0], b[1], b[2]);
}

}  // namespace

LatticeModel::LatticeModel(const Character& character, const BodySettings& settings,
                           const FrameRange& range, const std::string& file)
    : skin(character),
      length(skin.mesh.positions.empty()
                 ? 0
                 : static_cast<double>(bounding_box(skin.mesh.positions).sizes().maxCoeff())),
      scale(skin.rigged || settings.size > 0 ? world_scale(length, settings.size) : WorldScale()),
      solid(fill(skin.mesh.positions, skin.mesh, settings, file)),
      mesh(solid.lattice),
      embedding(solid, mesh, skin.mesh.positions),
      gravity(Vec3d(settings.gravity.acceleration.data()) / scale.metres_per_unit) {
  for (const LatticePlace& node : mesh.nodes)
    rest.push_back(solid.position(solid.lattice.coordinates(node.block, node.local)));
  rest_reach = reach_of(rest);
  if (skin.rigged)
    rig = std::make_unique<FleshRig>(character, skin, solid, mesh, settings.attach, file);
  set_materials(settings, file);
  if (rig)
    attachment = std::make_unique<Attachment>(*rig, AttachmentInput{rest, masses, young}, settings);
  hold_nodes(settings, range, file);
  pull_nodes(settings, range, file);
  if (!is_dynamic(settings) || settings.start == StartState::equilibrium) refuse_loose_pieces(file);
}

Vec3d LatticeModel::cell_centre(size_t cell) const {
  const LatticePlace& place = mesh.cells[cell];
  return solid.position(solid.lattice.coordinates(place.block, place.local)) +
         Vec3d::Constant(solid.spacing / 2);
}

void LatticeModel::hold_nodes(const BodySettings& settings, const FrameRange& range,
                              const std::string& file) {
  std::vector<int32_t> holder(rest.size(), -1);
  for (size_t i = 0; i < settings.fixed.size(); ++i) {
    const std::string here = fmt::format("body.fixed[{}]", i);
    const Selection selection(settings.fixed[i].select, border * solid.spacing, file,
                              here + ".select");
    fixed.push_back({{}, Script(settings.fixed[i].motion, range, file, here + ".motion")});
    size_t count = 0;
    for (size_t n = 0; n < rest.size(); ++n)
      if (selection.contains(rest[n])) {
        holder[n] = static_cast<int32_t>(i);
        ++count;
      }
    if (count == 0) throw_input_error(file, here + ".select", "catches no node; " + rest_reach);
  }
  for (size_t n = 0; n < rest.size(); ++n)
    if (holder[n] >= 0)
      fixed[static_cast<size_t>(holder[n])].nodes.push_back(static_cast<int32_t>(n));
}

void LatticeModel::pull_nodes(const BodySettings& settings, const FrameRange& range,
                              const std::string& file) {
  std::vector<bool> held(rest.size(), false);
  for (const ScriptedNodes& group : fixed)
    for (const int32_t node : group.nodes) held[static_cast<size_t>(node)] = true;
  for (size_t i = 0; i < settings.pulled.size(); ++i) {
    const std::string here = fmt::format("body.pulled[{}]", i);
    const Selection selection(settings.pulled[i].select, border * solid.spacing, file,
                              here + ".select");
    ScriptedNodes group{{}, Script(settings.pulled[i].motion, range, file, here + ".motion")};
    for (size_t n = 0; n < rest.size(); ++n)
      if (!held[n] && selection.contains(rest[n])) group.nodes.push_back(static_cast<int32_t>(n));
    if (group.nodes.empty())
      throw_input_error(file, here + ".select", "catches no node that is not held; " + rest_reach);
    pulls.push_back(settings.pulled[i].stiffness / static_cast<double>(group.nodes.size()));
    pulled.push_back(std::move(group));
  }
}

// A piece that nothing holds has no equilibrium under gravity.
void LatticeModel::refuse_loose_pieces(const std::string& file) const {
  if (gravity.isZero(0)) return;
  const std::vector<int32_t> piece = mesh.pieces();
  std::vector<bool> held(
      piece.empty() ? 0 : static_cast<size_t>(*std::max_element(piece.begin(), piece.end()) + 1),
      false);
  for (const ScriptedNodes& group : fixed)
    for (const int32_t node : group.nodes)
      held[static_cast<size_t>(piece[static_cast<size_t>(node)])] = true;
  for (size_t i = 0; i < pulled.size(); ++i)
    for (const int32_t node : pulled[i].nodes)
      if (pulls[i] > 0) held[static_cast<size_t>(piece[static_cast<size_t>(node)])] = true;
  if (attachment)
    for (size_t n = 0; n < rest.size(); ++n)
      if (attachment->stiffness()[n] > 0) held[static_cast<size_t>(piece[n])] = true;
  const auto loose = std::find(held.begin(), held.end(), false);
  if (loose == held.end()) return;
  std::vector<Vec3d> points;
  for (size_t n = 0; n < rest.size(); ++n)
    if (piece[n] == loose - held.begin()) points.push_back(rest[n]);
  Box3d box;
  for (const Vec3d& p : points) box.extend(p);
  const Vec3d middle = box.center();
  throw_input_error(file, "body.fixed",
                    fmt::format("nothing holds the piece of {} nodes around {:.4g} {:.4g} {:.4g} "
                                "against gravity: fix or pull some, or set 'dynamic'",
                                points.size(), middle[0], middle[1], middle[2]));
}

// A spring at a node is one at a corner of any of its cells.
std::vector<TargetSpring> LatticeModel::springs() const {
  std::vector<TargetSpring> result;
  for (size_t i = 0; i < pulled.size(); ++i)
    for (const int32_t n : pulled[i].nodes) {
      const LatticePlace& place = mesh.nodes[static_cast<size_t>(n)];
      const Vec3i node = solid.lattice.coordinates(place.block, place.local);
      Vec3d at = Vec3d::Zero();
      for (int d = 0; d < 8; ++d) {
        const Vec3i cell = node - Vec3i(d & 1, (d >> 1) & 1, d >> 2);
        if (!solid.lattice.has_cell(cell)) continue;
        // Just inside the cell, as the upper sides belong to the neighbours.
        constexpr double inside = 1 - 1e-6;
        at = cell.cast<double>() + (node - cell).cast<double>() * inside;
        break;
      }
      const auto k = static_cast<float>(pulls[i]);
      result.push_back({{at, {k, k, k, 0, 0, 0}}, rest[static_cast<size_t>(n)]});
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
