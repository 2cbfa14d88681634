#include "supple/rig/limit_changes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "supple/core/parallel.h"

namespace supple {
namespace {

constexpr int most_rounds = 60;
constexpr size_t block = 1024;

using Edge = std::pair<int32_t, int32_t>;

std::vector<Edge> edges_of(const TriangleMesh& mesh) {
  std::vector<Edge> edges;
  edges.reserve(3 * mesh.triangles.size());
  for (const Vec3i& t : mesh.triangles)
    for (int k = 0; k < 3; ++k)
      edges.emplace_back(std::min(t[k], t[(k + 1) % 3]), std::max(t[k], t[(k + 1) % 3]));
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

// Largest difference of any bone's weight; both lists are sorted by bone.
double largest_difference(const std::vector<BoneWeight>& a, const std::vector<BoneWeight>& b) {
  double largest = 0;
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && a[i].bone < b[j].bone))
      largest = std::max(largest, a[i++].weight);
    else if (i == a.size() || b[j].bone < a[i].bone)
      largest = std::max(largest, b[j++].weight);
    else
      largest = std::max(largest, std::abs(a[i++].weight - b[j++].weight));
  }
  return largest;
}

// Half of a point's own weights and half of its neighbours' average.
std::vector<BoneWeight> averaged(const PointWeights& weights, int32_t point,
                                 const std::vector<int32_t>& neighbours) {
  std::vector<BoneWeight> all;
  const auto add = [&](int32_t from, double share) {
    for (const BoneWeight& w : weights[from]) all.push_back({w.bone, share * w.weight});
  };
  int count = 0;
  for (const int32_t n : neighbours) count += !weights[n].empty();
  add(point, count > 0 ? 0.5 : 1);
  for (const int32_t n : neighbours) add(n, 0.5 / count);
  std::stable_sort(all.begin(), all.end(),
                   [](const BoneWeight& a, const BoneWeight& b) { return a.bone < b.bone; });
  std::vector<BoneWeight> joined;
  for (const BoneWeight& w : all) {
    if (joined.empty() || joined.back().bone != w.bone) joined.push_back({w.bone, 0});
    joined.back().weight += w.weight;
  }
  return joined;
}

}  // namespace

void limit_changes(const TriangleMesh& mesh, std::span<const double> reach, double limit,
                   PointWeights& weights) {
  std::vector<Edge> edges = edges_of(mesh);
  std::vector<std::vector<int32_t>> neighbours(mesh.positions.size());
  for (const auto& [a, b] : edges) {
    neighbours[a].push_back(b);
    neighbours[b].push_back(a);
  }
  std::erase_if(edges, [&](const Edge& e) {
    const auto length = double{(mesh.positions[e.first] - mesh.positions[e.second]).norm()};
    return weights[e.first].empty() || weights[e.second].empty() ||
           2 * length > std::min(reach[e.first], reach[e.second]);
  });
  for (int round = 0; round < most_rounds; ++round) {
    std::vector<int32_t> steep;
    for (const auto& [a, b] : edges)
      if (largest_difference(weights[a], weights[b]) > limit) {
        steep.push_back(a);
        steep.push_back(b);
      }
    if (steep.empty()) return;
    std::sort(steep.begin(), steep.end());
    steep.erase(std::unique(steep.begin(), steep.end()), steep.end());
    PointWeights softened(steep.size());
    parallel_for(steep.size(), block, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i)
        softened[i] = averaged(weights, steep[i], neighbours[steep[i]]);
    });
    for (size_t i = 0; i < steep.size(); ++i) weights[steep[i]] = std::move(softened[i]);
  }
}

}  // namespace supple
