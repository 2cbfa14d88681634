#include "supple/sim/voxel_model.h"

#include <algorithm>

#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/sim/selection.h"

namespace supple {
namespace {

constexpr int usual_cells = 10;

VoxelSolid cut(const FleshSkin& skin, const BodySettings& settings, const std::string& file) {
  try {
    return voxelise_solid(skin.mesh.positions, skin.all_triangles(), voxel_options(settings));
  } catch (const Error& error) {
    throw_input_error(file, "body", error.what());
  }
}

}  // namespace

VoxelSolidOptions voxel_options(const BodySettings& settings) {
  VoxelSolidOptions options;
  options.cells = settings.cells > 0 ? settings.cells : usual_cells;
  options.spacing = settings.spacing;
  options.levels = settings.voxels.levels;
  options.fill = settings.voxels.fill == VoxelFill::half ? FillRule::half : FillRule::exact;
  options.sheet_filling = settings.voxels.sheets;
  options.hollow = settings.voxels.hollow;
  options.merge = settings.materials.empty();
  return options;
}

VoxelModel::VoxelModel(const Character& character, const BodySettings& settings,
                       const FrameRange& range, const std::string& file)
    : VoxelModel(character, settings, range, file, cut(FleshSkin(character), settings, file)) {}

VoxelModel::VoxelModel(const Character& character, const BodySettings& settings,
                       const FrameRange& range, const std::string& file, VoxelSolid voxels)
    : FleshModel(
          character, settings, [&](const FleshSkin&) { return voxels.solid; }, file),
      cell_skin(solid, mesh, skin.mesh.positions),
      cells(mesh.cells.size()),
      leaves(voxels.leaves.size()) {
  if (settings.solver.quadrature != Quadrature::stabilised)
    throw_input_error(file, "body.solver.quadrature", "is for bodies of type 'lattice'");
  std::vector<MaterialPlace> places;
  places.reserve(leaves);
  for (size_t c = 0; c < mesh.cells.size(); ++c)
    for (const VoxelLeaf& leaf : voxels.leaves_of(c)) {
      const double side = solid.spacing / (1 << leaf.depth);
      places.push_back(
          {voxels.centre(c, leaf), c, static_cast<double>(leaf.filled) * side * side * side});
    }
  std::vector<VoxelMaterial> materials;
  materials.reserve(leaves);
  for (const Substance& is : set_materials(settings, places, file))
    materials.push_back({lame_moduli(is.young, is.poisson), is.density});
  gather(settings, voxels, materials, file);
  masses.assign(mesh.nodes.size(), 0);
  for (size_t c = 0; c < cells.size(); ++c)
    for (size_t i = 0; i < 8; ++i)
      masses[static_cast<size_t>(mesh.corners[c][i])] +=
          cells[c].masses[static_cast<Eigen::Index>(i)];
  attach(settings, range, !is_dynamic(settings) || settings.start == StartState::equilibrium, file);
  const auto hold = [&](int32_t node) {
    held.resize(mesh.nodes.size(), 0);
    held[static_cast<size_t>(node)] = 1;
  };
  for (const ScriptedNodes& group : fixed)
    std::for_each(group.nodes.begin(), group.nodes.end(), hold);
  if (attachment) std::for_each(attachment->held().begin(), attachment->held().end(), hold);
}

// What scripts hold is known to the cells: matter in a selection moves with the nodes in it.
void VoxelModel::gather(const BodySettings& settings, const VoxelSolid& voxels,
                        std::span<const VoxelMaterial> materials, const std::string& file) {
  std::vector<Selection> selections;
  for (size_t i = 0; i < settings.fixed.size(); ++i)
    if (!settings.fixed[i].skin)
      selections.emplace_back(settings.fixed[i].select, selection_border * solid.spacing, file,
                              fmt::format("body.fixed[{}].select", i));
  HeldMatter held_matter;
  std::vector<uint8_t> nodes;
  if (!selections.empty()) {
    held_matter.contains = [&](const Vec3d& place) {
      return std::any_of(selections.begin(), selections.end(),
                         [&](const Selection& s) { return s.contains(place); });
    };
    for (const Vec3d& node : rest) nodes.push_back(held_matter.contains(node) ? 1 : 0);
    held_matter.nodes = nodes;
  }
  const StiffnessLaw law = settings.voxels.law == VoxelLaw::uniform   ? StiffnessLaw::uniform
                           : settings.voxels.law == VoxelLaw::bending ? StiffnessLaw::bending
                                                                      : StiffnessLaw::nonuniform;
  parallel_for(cells.size(), 4, [&](size_t begin, size_t end) {
    for (size_t c = begin; c < end; ++c)
      cells[c] = gather_cell(voxels, c, law, materials, held_matter);
  });
}

std::unique_ptr<VoxelSystem> VoxelModel::make_system() const {
  auto system = std::make_unique<VoxelSystem>(mesh, solid.spacing, cells);
  std::vector<LatticeTie> points;
  for (const ScriptedPoints& group : held_points)
    for (const int32_t p : group.points) points.push_back(embedding.ties()[static_cast<size_t>(p)]);
  system->hold(held, points.empty() ? PointConstraints()
                                    : PointConstraints(points, mesh.nodes.size(), held));
  return system;
}

}  // namespace supple
