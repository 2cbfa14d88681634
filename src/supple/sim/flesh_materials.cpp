// What the cells of a body are made of. flesh_model.cpp has the rest of its model.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/math/smooth_step.h"
#include "supple/sim/flesh_model.h"
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

Substance FleshModel::base_material(const BodySettings& settings) const {
  const Substance usual = preset(settings.material);
  const double s = scale.metres_per_unit;
  return {s * settings.young.value_or(usual.young), settings.poisson.value_or(usual.poisson),
          s * s * s * settings.density.value_or(usual.density)};
}

// Of every place: how far the nearest bone is, and how far the outside.
std::vector<FleshModel::Depth> FleshModel::depths(std::span<const MaterialPlace> places) const {
  std::vector<Depth> result(places.size());
  parallel_for(result.size(), 256, [&](size_t begin, size_t end) {
    for (size_t p = begin; p < end; ++p) {
      double bone = length;
      for (const FleshBone& b : rig->bones()) bone = std::min(bone, b.distance(places[p].at));
      result[p] = {std::max(0.0, bone), rig->way_out(places[p].at)};
    }
  });
  return result;
}

// How much of every place is of a region's material, from 0 to 1.
std::vector<float> FleshModel::amount_of(const RegionSettings& region,
                                         std::span<const MaterialPlace> places,
                                         const std::string& field, const std::string& file) const {
  std::vector<float> amount(places.size(), 1);
  const auto need_rig = [&](const char* what) {
    if (!rig) throw_input_error(file, field + what, "is for rigged characters");
  };
  const SelectSettings& select = region.select;
  if (select.box || select.sphere || select.plane) {
    const Selection selection(select, 0, file, field + ".select");
    for (size_t c = 0; c < amount.size(); ++c)
      if (!selection.contains(places[c].at)) amount[c] = 0;
  } else if (region.bones.empty() && region.attribute.empty() && !region.depth) {
    throw_input_error(file, field, "says not where: give select, bones, attribute or depth");
  }
  const auto times_nodes = [&](std::span<const float> nodes) {
    for (size_t c = 0; c < amount.size(); ++c) {
      const LatticeTie tie =
          tie_to_cell(solid, mesh, static_cast<int32_t>(places[c].cell), places[c].at);
      double sum = 0;
      for (size_t k = 0; k < 8; ++k)
        sum += tie.weights[k] * static_cast<double>(nodes[static_cast<size_t>(tie.nodes[k])]);
      amount[c] *= static_cast<float>(std::clamp(sum, 0.0, 1.0));
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
    const std::vector<Depth> depth = depths(places);
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
std::vector<Substance> FleshModel::set_materials(const BodySettings& settings,
                                                 std::span<const MaterialPlace> places,
                                                 const std::string& file) {
  std::vector<Substance> is(places.size(), base_material(settings));
  const double s = scale.metres_per_unit;
  if (rig && !settings.young) {
    const std::vector<Depth> depth = depths(places);
    for (size_t c = 0; c < is.size(); ++c) {
      const double thickness = s * (depth[c].to_bone + depth[c].to_skin) / usual_thickness;
      is[c].young *= std::max(1.0, thickness * thickness);
    }
  }
  for (size_t r = 0; r < settings.materials.size(); ++r) {
    const RegionSettings& region = settings.materials[r];
    const std::vector<float> amount =
        amount_of(region, places, fmt::format("body.materials[{}]", r), file);
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
  // Cells are as stiff as their matter is on average; nodes as the cells around them.
  std::vector<double> cell_young(mesh.cells.size(), 0);
  filled.assign(mesh.cells.size(), 0);
  for (size_t p = 0; p < places.size(); ++p) {
    filled[places[p].cell] += places[p].volume;
    cell_young[places[p].cell] += places[p].volume * is[p].young;
  }
  young.assign(mesh.nodes.size(), 0);
  std::vector<double> cells_around(mesh.nodes.size(), 0);
  for (size_t c = 0; c < mesh.cells.size(); ++c) {
    cell_young[c] /= filled[c];
    stiffness += cell_young[c] / static_cast<double>(mesh.cells.size());
    for (const int32_t node : mesh.corners[c]) {
      young[static_cast<size_t>(node)] += cell_young[c];
      cells_around[static_cast<size_t>(node)] += 1;
    }
  }
  for (size_t n = 0; n < young.size(); ++n) young[n] /= cells_around[n];
  const double all = std::accumulate(filled.begin(), filled.end(), 0.0);
  for (double& part : filled) part /= all;
  return is;
}

}  // namespace supple
