#include "supple/rig/bone_distances.h"

#include <algorithm>
#include <cmath>
#include <queue>

#include "supple/core/parallel.h"

namespace supple {
namespace {

// A way through the graph up to this much longer than the straight one means that the bone is in
// sight; from the second number on it is not.
constexpr double in_sight = 1.12, out_of_sight = 1.5;

// Thickness is measured at steps of this many cells, and smoothed over neighbours this often.
constexpr double radius_step = 1;
constexpr int radius_smoothing = 2;

struct Seed {
  int32_t node;
  double distance;
};

struct Visit {
  double distance;
  int32_t node;
  bool operator>(const Visit& other) const {
    return distance != other.distance ? distance > other.distance : node > other.node;
  }
};

using Queue = std::priority_queue<Visit, std::vector<Visit>, std::greater<>>;

// The node nearest to a point, or all of them where several are equally near.
std::vector<int32_t> nearest_nodes(const SolidGraph& graph, const Vec3d& point) {
  double least = INFINITY;
  for (const Vec3d& position : graph.positions)
    least = std::min(least, (position - point).squaredNorm());
  std::vector<int32_t> nodes;
  for (size_t i = 0; i < graph.nodes(); ++i)
    if ((graph.positions[i] - point).squaredNorm() <= least * (1 + 1e-6))
      nodes.push_back(static_cast<int32_t>(i));
  return nodes;
}

// The cells around a point from whose centre it can be seen; without one, the nearest node.
void add_seeds(const SolidGraph& graph, const SolidSight& sight, const Bone& bone,
               const Vec3d& point, std::vector<Seed>& seeds) {
  const VoxelGrid& grid = graph.grid;
  const Vec3i low = grid.lattice_point(point).array().floor().max(-2).min(1e9).cast<int32_t>();
  bool found = false;
  for (int corner = 0; corner < 8; ++corner) {
    const Vec3i cell = low + Vec3i(corner & 1, corner >> 1 & 1, corner >> 2 & 1);
    if (!grid.has(cell)) continue;
    const int32_t node = graph.node_of_cell[grid.index(cell)];
    if (node < 0 || !sight.sees(grid.index(cell), point)) continue;
    seeds.push_back({node, bone.nearest(graph.positions[node]).distance});
    found = true;
  }
  if (found) return;
  for (const int32_t node : nearest_nodes(graph, point))
    seeds.push_back({node, bone.nearest(graph.positions[node]).distance});
}

std::vector<Seed> seeds_of(const SolidGraph& graph, const SolidSight& sight, const Bone& bone) {
  std::vector<Seed> seeds;
  for (const BoneSegment& segment : bone.segments) {
    const Vec3d way = segment.to - segment.from;
    const int steps = 1 + static_cast<int>(std::min(2 * way.norm() / graph.grid.spacing, 4096.0));
    for (int i = 0; i <= steps; ++i)
      add_seeds(graph, sight, bone, segment.from + static_cast<double>(i) / steps * way, seeds);
  }
  return seeds;
}

// Dijkstra's algorithm from `seeds`, only over nodes where `allowed(node, distance)`; leaves the
// lengths of the shortest ways in `lengths`, which is infinite before, and lists the nodes reached.
template <class Allowed>
std::vector<int32_t> spread(const SolidGraph& graph, std::span<const Seed> seeds,
                            const Allowed& allowed, std::vector<double>& lengths) {
  std::vector<int32_t> reached;
  Queue queue;
  const auto offer = [&](int32_t node, double distance) {
    if (distance >= lengths[node] || !allowed(node, distance)) return;
    if (std::isinf(lengths[node])) reached.push_back(node);
    lengths[node] = distance;
    queue.push({distance, node});
  };
  for (const Seed& seed : seeds) offer(seed.node, seed.distance);
  while (!queue.empty()) {
    const Visit visit = queue.top();
    queue.pop();
    if (visit.distance > lengths[visit.node]) continue;
    for (const SolidLink& link : graph.of(static_cast<size_t>(visit.node)))
      offer(link.node, visit.distance + double{link.length});
  }
  return reached;
}

// From the length of the way through the graph and the straight one.
double true_distance(double way, double straight) {
  const double ratio = straight > 0 ? way / straight : 1;
  const double hidden = std::clamp((ratio - in_sight) / (out_of_sight - in_sight), 0.0, 1.0);
  return straight + hidden * (way - straight);
}

struct Reached {
  int32_t node;
  double distance, radius;
};

// Distance of every cell's centre from the surface: from the cells that lack a neighbour inwards.
std::vector<double> depths(const SolidGraph& graph) {
  const double h = graph.grid.spacing;
  std::vector<Seed> seeds;
  for (size_t i = 0; i < graph.cell_nodes; ++i) {
    int faces = 0;
    for (const SolidLink& link : graph.of(i))
      faces += link.conductance > 0 && link.node < static_cast<int32_t>(graph.cell_nodes);
    if (faces < 6) seeds.push_back({static_cast<int32_t>(i), h / 2});
  }
  std::vector<double> result(graph.nodes(), INFINITY);
  spread(
      graph, seeds,
      [&](int32_t node, double) { return node < static_cast<int32_t>(graph.cell_nodes); }, result);
  return result;
}

// The radius of the largest ball around a cell's centre that holds `point`.
double largest_ball(const SolidGraph& graph, const std::vector<double>& depth, const Vec3d& point) {
  double largest = graph.grid.spacing / 2;
  for (size_t i = 0; i < graph.cell_nodes; ++i)
    if (depth[i] > largest && !std::isinf(depth[i]) &&
        (graph.positions[i] - point).squaredNorm() <= depth[i] * depth[i])
      largest = depth[i];
  return largest;
}

}  // namespace

void measure_radii(const SolidGraph& graph, std::span<Bone> bones) {
  const std::vector<double> depth = depths(graph);
  parallel_for(bones.size(), 1, [&](size_t b, size_t) {
    for (BoneSegment& segment : bones[b].segments) {
      const Vec3d way = segment.to - segment.from;
      const double cells = way.norm() / (radius_step * graph.grid.spacing);
      const int steps = 1 + static_cast<int>(std::min(cells, 1024.0));
      std::vector<double>& radii = segment.radii;
      radii.clear();
      for (int i = 0; i <= steps; ++i)
        radii.push_back(
            largest_ball(graph, depth, segment.from + static_cast<double>(i) / steps * way));
      // Ends stay as they are: there the next bone begins with the same radius.
      for (int round = 0; round < radius_smoothing; ++round)
        for (size_t i = 1; i + 1 < radii.size(); ++i)
          radii[i] = (radii[i - 1] + 2 * radii[i] + radii[i + 1]) / 4;
    }
  });
}

BoneDistances measure_bone_distances(const SolidGraph& graph, const SolidSight& sight,
                                     std::span<const Bone> bones, double reach) {
  std::vector<std::vector<Seed>> seeds(bones.size());
  parallel_for(bones.size(), 1,
               [&](size_t begin, size_t) { seeds[begin] = seeds_of(graph, sight, bones[begin]); });

  // The way to the nearest bone, whichever it is, limits the search for the others.
  std::vector<Seed> all;
  for (const auto& some : seeds) all.insert(all.end(), some.begin(), some.end());
  std::vector<double> nearest(graph.nodes(), INFINITY);
  spread(
      graph, all, [](int32_t, double) { return true; }, nearest);

  const double margin = 2 * graph.grid.spacing;
  std::vector<std::vector<Reached>> found(bones.size());
  parallel_for(bones.size(), 1, [&](size_t b, size_t) {
    std::vector<double> lengths(graph.nodes(), INFINITY);
    const auto near = [&](int32_t node, double distance) {
      return distance <= reach * nearest[node] + margin;
    };
    for (const int32_t node : spread(graph, seeds[b], near, lengths)) {
      const BonePoint point = bones[b].nearest(graph.positions[node]);
      found[b].push_back({node, true_distance(lengths[node], point.distance), point.radius});
    }
  });

  BoneDistances result;
  result.offsets.assign(graph.nodes() + 1, 0);
  for (const auto& list : found)
    for (const Reached& entry : list) ++result.offsets[static_cast<size_t>(entry.node) + 1];
  for (size_t i = 0; i < graph.nodes(); ++i) result.offsets[i + 1] += result.offsets[i];
  result.near.resize(result.offsets.back());
  std::vector<size_t> next(result.offsets.begin(), result.offsets.end() - 1);
  for (size_t b = 0; b < bones.size(); ++b)
    for (const Reached& entry : found[b])
      result.near[next[static_cast<size_t>(entry.node)]++] = {static_cast<int32_t>(b),
                                                              entry.distance, entry.radius};
  return result;
}

}  // namespace supple
