// What the cells of a lattice model are made of. lattice_model.cpp has the rest of it.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/math/smooth_step.h"
#include "supple/sim/lattice_model.h"
#include "supple/sim/selection.h"

namespace supple {
namespace {

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

}  // namespace

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

}  // namespace supple
