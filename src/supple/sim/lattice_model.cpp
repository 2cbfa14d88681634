#include "supple/sim/lattice_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/sim/selection.h"

namespace supple {
namespace {

// How far beyond a selection's border nodes still belong to it, in cells.
constexpr double border = 1e-3;

// Flesh thicker than this, in metres, is stiffer by the square of its thickness: the large heads
// and bellies of drawn characters swing no slower than a human's, about five times a second.
constexpr double usual_thickness = 0.12;

// Presets: fat hangs and rolls, flesh is a body's mixture, muscle is tense, firm keeps its shape.
Substance preset(MaterialPreset material) {
  switch (material) {
    case MaterialPreset::fat:
      return {6e3, 0.47, 930};
    case MaterialPreset::muscle:
      return {5e4, 0.46, 1060};
    case MaterialPreset::firm:
      return {2e5, 0.4, 1100};
    case MaterialPreset::flesh:
    case MaterialPreset::same:
      break;
  }
  return {2e4, 0.47, 1000};
}

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

Substance LatticeModel::base_material(const BodySettings& settings) const {
  const Substance usual = preset(settings.material);
  const double s = scale.metres_per_unit;
  return {s * settings.young.value_or(usual.young), settings.poisson.value_or(usual.poisson),
          s * s * s * settings.density.value_or(usual.density)};
}

// Of every cell's centre: how far the nearest bone is, and how far the outside.
std::vector<LatticeModel::Depth> LatticeModel::depths() const {
  std::vector<Depth> result(mesh.cells.size());
  parallel_for(result.size(), 256, [&](size_t begin, size_t end) {
    for (size_t c = begin; c < end; ++c) {
      const Vec3d centre = cell_centre(c);
      double bone = length;
      for (const FleshBone& b : rig->bones()) bone = std::min(bone, b.distance(centre));
      result[c] = {std::max(0.0, bone), rig->way_out(centre)};
    }
  });
  return result;
}

// How much of every cell is of a region's material, from 0 to 1.
std::vector<float> LatticeModel::amount_of(const RegionSettings& region, const std::string& field,
                                           const std::string& file) const {
  std::vector<float> amount(mesh.cells.size(), 1);
  const auto need_rig = [&](const char* what) {
    if (!rig) throw_input_error(file, field + what, "is for rigged characters");
  };
  const SelectSettings& select = region.select;
  if (select.box || select.sphere || select.plane) {
    const Selection selection(select, 0, file, field + ".select");
    for (size_t c = 0; c < amount.size(); ++c)
      if (!selection.contains(cell_centre(c))) amount[c] = 0;
  } else if (region.bones.empty() && region.attribute.empty() && !region.depth) {
    throw_input_error(file, field, "says not where: give select, bones, attribute or depth");
  }
  const auto times_nodes = [&](std::span<const float> nodes) {
    for (size_t c = 0; c < amount.size(); ++c) {
      float sum = 0;
      for (const int32_t node : mesh.corners[c]) sum += nodes[static_cast<size_t>(node)];
      amount[c] *= std::clamp(sum / 8, 0.0f, 1.0f);
    }
  };
  if (!region.bones.empty()) {
    need_rig(".bones");
    times_nodes(rig->share_of(region.bones, field + ".bones"));
  }
  if (!region.attribute.empty()) {
    need_rig(".attribute");
    times_nodes(rig->to_nodes(rig->painted(region.attribute, field + ".attribute")));
  }
  if (region.depth) {
    need_rig(".depth");
    const double full = region.depth->full, none = region.depth->none;
    if (full == none)
      throw_input_error(file, field + ".depth", "full and none are the same; a ramp is needed");
    const std::vector<Depth> depth = depths();
    for (size_t c = 0; c < amount.size(); ++c) {
      const double thickness = depth[c].to_bone + depth[c].to_skin;
      const double part = thickness > 0 ? depth[c].to_bone / thickness : 1;
      amount[c] *= static_cast<float>(smooth_step((part - none) / (full - none)));
    }
  }
  if (std::all_of(amount.begin(), amount.end(), [](float a) { return a < 1e-3f; }))
    throw_input_error(file, field, "catches no cell; " + rest_reach);
  return amount;
}

Vec3d LatticeModel::cell_centre(size_t cell) const {
  const LatticePlace& place = mesh.cells[cell];
  return solid.position(solid.lattice.coordinates(place.block, place.local)) +
         Vec3d::Constant(solid.spacing / 2);
}

// Where materials mix, stiffness does so by its logarithm, as it spans orders of magnitude.
void LatticeModel::set_materials(const BodySettings& settings, const std::string& file) {
  std::vector<Substance> is(mesh.cells.size(), base_material(settings));
  const double s = scale.metres_per_unit;
  if (rig && !settings.young) {
    const std::vector<Depth> depth = depths();
    for (size_t c = 0; c < is.size(); ++c) {
      const double thickness = s * (depth[c].to_bone + depth[c].to_skin) / usual_thickness;
      is[c].young *= std::max(1.0, thickness * thickness);
    }
  }
  for (size_t r = 0; r < settings.materials.size(); ++r) {
    const RegionSettings& region = settings.materials[r];
    const std::vector<float> amount = amount_of(region, fmt::format("body.materials[{}]", r), file);
    for (size_t c = 0; c < is.size(); ++c) {
      Substance other = is[c];
      if (region.material != MaterialPreset::same) {
        const Substance usual = preset(region.material);
        other = {s * usual.young, usual.poisson, s * s * s * usual.density};
      }
      if (region.young) other.young = s * *region.young;
      if (region.poisson) other.poisson = *region.poisson;
      if (region.density) other.density = s * s * s * *region.density;
      const auto part = static_cast<double>(amount[c]);
      is[c].young *=
          part < 1 ? std::pow(other.young / is[c].young, part) : other.young / is[c].young;
      is[c].poisson += part * (other.poisson - is[c].poisson);
      is[c].density += part * (other.density - is[c].density);
    }
  }
  masses.assign(mesh.nodes.size(), 0);
  young.assign(mesh.nodes.size(), 0);
  std::vector<double> cells_around(mesh.nodes.size(), 0);
  const double volume = solid.spacing * solid.spacing * solid.spacing;
  for (size_t c = 0; c < mesh.cells.size(); ++c) {
    const double covered = solid.covered(mesh.cells[c]);
    const CellMaterial whole = lame_moduli(is[c].young, is[c].poisson);
    moduli.push_back({covered * whole.mu, covered * whole.lambda});
    stiffness += is[c].young / static_cast<double>(mesh.cells.size());
    for (const int32_t node : mesh.corners[c]) {
      const auto n = static_cast<size_t>(node);
      masses[n] += covered * is[c].density * volume / 8;
      young[n] += is[c].young;
      cells_around[n] += 1;
    }
  }
  for (size_t n = 0; n < young.size(); ++n) young[n] /= cells_around[n];
  for (const LatticePlace& cell : mesh.cells) filled.push_back(solid.covered(cell));
  const double all = std::accumulate(filled.begin(), filled.end(), 0.0);
  for (double& part : filled) part /= all;
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
