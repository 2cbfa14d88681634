#include "supple/rig/auto_weights.h"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>

#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/mesh/weld.h"
#include "supple/rig/heat_weights.h"
#include "supple/rig/limit_changes.h"

namespace supple {
namespace {

// The budget: cells along the longest side, and cells with matter.
constexpr int most_cells_along = 128, first_look = 40;
constexpr double most_solid_cells = 45'000;

// Weights below this fade to none.
constexpr double least_weight = 0.01;

// Weights change by less than this along an edge before the weakest are dropped, where the mesh is
// fine enough; dropping makes changes a little larger.
constexpr double largest_change = 0.2;

// The finest grid within the budget: a coarse one shows how much matter there is.
int choose_resolution(const TriangleMesh& mesh) {
  VoxelOptions options;
  options.resolution = first_look;
  const VoxelGrid grid = voxelise(mesh.positions, mesh.triangles, options);
  double solid = 0;
  for (const CellKind kind : grid.kinds)
    solid += kind == CellKind::inside ? 1 : kind == CellKind::boundary ? 0.5 : 0;
  const double fits = first_look * std::cbrt(most_solid_cells / std::max(1.0, solid));
  return static_cast<int>(std::clamp(fits, 8.0, static_cast<double>(most_cells_along)));
}

std::vector<uint8_t> wanted_joints(const Skeleton& skeleton, const AutoWeightOptions& options) {
  std::vector<uint8_t> wanted(skeleton.size(), 1);
  for (size_t j = 0; j < options.bones.size() && j < wanted.size(); ++j)
    wanted[j] = options.bones[j];
  std::vector<std::string> names;
  for (const Joint& joint : skeleton.joints) names.push_back(joint.name);
  for (const std::string& name : options.left_out) {
    if (skeleton.find(name) < 0)
      throw_input_error("skin weights", "left out",
                        fmt::format("'{}' is not a joint of the skeleton{}", printable(name),
                                    suggestion(name, names)));
    for (size_t j = 0; j < wanted.size(); ++j)
      if (names[j] == name) wanted[j] = 0;
  }
  if (std::none_of(wanted.begin(), wanted.end(), [](uint8_t w) { return w != 0; }))
    throw_input_error("skin weights", "skeleton", "there is no joint that may carry the skin");
  return wanted;
}

PointWeights by_point(const std::vector<std::vector<HeatWeight>>& weights, size_t points) {
  PointWeights result(points);
  for (size_t bone = 0; bone < weights.size(); ++bone)
    for (const HeatWeight& entry : weights[bone])
      result[entry.vertex].push_back({static_cast<int32_t>(bone), entry.weight});
  for (std::vector<BoneWeight>& list : result) {
    double sum = 0;
    for (const BoneWeight& entry : list) sum += entry.weight;
    for (BoneWeight& entry : list) entry.weight /= sum;
  }
  return result;
}

// How thick the limb is at every vertex: the distance of its nearest bone or the thickness there,
// in length units; 0 where no bone can be reached.
std::vector<double> limb_sizes(const SolidGraph& graph, const BoneDistances& distances) {
  std::vector<double> result;
  for (size_t i = graph.cell_nodes; i < graph.nodes(); ++i) {
    NearBone nearest{0, INFINITY, 0};
    for (const NearBone& near : distances.of(i))
      if (near.distance < nearest.distance) nearest = near;
    result.push_back(distances.of(i).empty() ? 0 : std::max(nearest.distance, nearest.radius));
  }
  return result;
}

// Points no bone reaches take the weights of the nearest one that has some, or of all nearest ones.
size_t follow_nearest(const TriangleMesh& mesh, PointWeights& weights) {
  std::vector<size_t> loose, held;
  for (size_t i = 0; i < weights.size(); ++i) (weights[i].empty() ? loose : held).push_back(i);
  PointWeights taken(loose.size());
  parallel_for(loose.size(), 16, [&](size_t begin, size_t end) {
    for (size_t k = begin; k < end; ++k) {
      const Vec3f& point = mesh.positions[loose[k]];
      float least = INFINITY;
      for (const size_t i : held)
        least = std::min(least, (mesh.positions[i] - point).squaredNorm());
      for (const size_t i : held)
        if ((mesh.positions[i] - point).squaredNorm() <= least * 1.0001f)
          taken[k].insert(taken[k].end(), weights[i].begin(), weights[i].end());
    }
  });
  for (size_t k = 0; k < loose.size(); ++k) weights[loose[k]] = std::move(taken[k]);
  return loose.size();
}

// Keeps the strongest `count` weights. The strongest of those that go is taken off all, and so is
// the least weight, so that a weight is zero when it comes or goes and nothing jumps.
std::vector<Influence> strongest(std::vector<BoneWeight> weights, size_t count) {
  std::stable_sort(weights.begin(), weights.end(),
                   [](const BoneWeight& a, const BoneWeight& b) { return a.bone < b.bone; });
  std::vector<BoneWeight> joined;
  double sum = 0;
  for (const BoneWeight& weight : weights) {
    if (joined.empty() || joined.back().bone != weight.bone) joined.push_back({weight.bone, 0});
    joined.back().weight += weight.weight;
    sum += weight.weight;
  }
  std::stable_sort(joined.begin(), joined.end(),
                   [](const BoneWeight& a, const BoneWeight& b) { return a.weight > b.weight; });
  const double off = std::max(least_weight * sum, joined.size() > count ? joined[count].weight : 0);
  std::vector<Influence> result;
  for (size_t k = 0; k < joined.size() && k < count; ++k)
    if (k == 0 || joined[k].weight > off)
      result.push_back(
          {joined[k].bone, static_cast<float>(std::max(joined[k].weight - off, 1e-30))});
  return result;
}

}  // namespace

AutoWeights automatic_weights(const TriangleMesh& mesh, const Skeleton& skeleton,
                              const AutoWeightOptions& options) {
  if (mesh.triangles.empty())
    throw_input_error("skin weights", "mesh", "it has no triangles, so it has no inside");
  const std::vector<uint8_t> wanted = wanted_joints(skeleton, options);

  const Weld weld = weld_by_position(mesh.positions);
  const TriangleMesh welded = welded_mesh(weld, mesh.positions, mesh.triangles);
  VoxelOptions voxels;
  voxels.resolution = options.resolution > 0 ? options.resolution : choose_resolution(welded);
  VoxelGrid grid = grid_around(welded.positions, voxels);
  const CellTriangles overlaps = triangles_in_cells(grid, welded.positions, welded.triangles);
  classify_cells(grid, overlaps, welded.positions, welded.triangles);
  const SolidSight sight(grid, overlaps, welded);
  const SolidGraph graph = make_solid_graph(welded, grid, sight);

  std::vector<Bone> bones = find_bones(skeleton, wanted, grid);
  measure_radii(graph, bones);
  const BoneDistances distances = measure_bone_distances(graph, sight, bones);
  PointWeights weights = by_point(
      heat_weights(graph, distances, bones.size(), Branches(skeleton, bones), {options.smoothness}),
      weld.points());

  AutoWeights result;
  result.cell_size = grid.spacing;
  limit_changes(welded, limb_sizes(graph, distances), largest_change, weights);
  result.loose_vertices = follow_nearest(welded, weights);
  const std::vector<Affine> globals = global_matrices(skeleton, rest_pose(skeleton));
  for (const Bone& bone : bones)
    result.binds.push_back({bone.joint, globals[bone.joint].inverse()});
  const auto count = static_cast<size_t>(std::max(1, options.influences));
  for (const int32_t point : weld.point_of_vertex)
    result.weights.add_vertex(strongest(weights[point], count), 0);
  return result;
}

}  // namespace supple
