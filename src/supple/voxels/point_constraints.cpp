#include "supple/voxels/point_constraints.h"

#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace supple {
namespace {

// Pivots below this part of the largest count as none: points that close together, or with that
// little weight, cannot be told apart.
constexpr double least_pivot = 1e-7;

// Sets of points that share nodes, as lists of points.
std::vector<std::vector<int32_t>> connected(std::span<const LatticeTie> points, size_t nodes) {
  std::vector<int32_t> parent(nodes);
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int32_t n) {
    while (parent[static_cast<size_t>(n)] != n) n = parent[static_cast<size_t>(n)];
    return n;
  };
  for (const LatticeTie& tie : points)
    for (const int32_t node : tie.nodes) {
      const int32_t a = root(tie.nodes[0]), b = root(node);
      parent[static_cast<size_t>(std::max(a, b))] = std::min(a, b);
    }
  std::map<int32_t, std::vector<int32_t>> sets;
  for (size_t p = 0; p < points.size(); ++p)
    sets[root(points[p].nodes[0])].push_back(static_cast<int32_t>(p));
  std::vector<std::vector<int32_t>> result;
  result.reserve(sets.size());
  for (auto& [node, set] : sets) result.push_back(std::move(set));
  return result;
}

}  // namespace

PointConstraints::PointConstraints(std::span<const LatticeTie> points, size_t nodes,
                                   std::span<const uint8_t> held)
    : m_points(points.begin(), points.end()) {
  for (const std::vector<int32_t>& set : connected(points, nodes)) {
    Group group;
    group.points = set;
    for (const int32_t p : set)
      for (const int32_t node : points[static_cast<size_t>(p)].nodes)
        if (held.empty() || held[static_cast<size_t>(node)] == 0) group.nodes.push_back(node);
    std::sort(group.nodes.begin(), group.nodes.end());
    group.nodes.erase(std::unique(group.nodes.begin(), group.nodes.end()), group.nodes.end());
    Eigen::MatrixXd h = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(set.size()),
                                              static_cast<Eigen::Index>(group.nodes.size()));
    for (size_t r = 0; r < set.size(); ++r) {
      const LatticeTie& tie = points[static_cast<size_t>(set[r])];
      for (size_t c = 0; c < 8; ++c) {
        const auto at = std::lower_bound(group.nodes.begin(), group.nodes.end(), tie.nodes[c]);
        if (at != group.nodes.end() && *at == tie.nodes[c])
          h(static_cast<Eigen::Index>(r), at - group.nodes.begin()) += tie.weights[c];
      }
    }
    if (group.nodes.empty()) continue;
    // H P = Q T Z with T triangular, as many rows as H has rank: the first rows of Z span what
    // moves the points.
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition;
    decomposition.setThreshold(least_pivot);
    decomposition.compute(h);
    const Eigen::Index rank = decomposition.rank();
    group.inverse = decomposition.pseudoInverse();
    const Eigen::MatrixXd rows = decomposition.matrixZ().transpose().leftCols(rank);
    group.directions = (decomposition.colsPermutation() * rows).cast<float>();
    group.part.setZero(static_cast<Eigen::Index>(group.nodes.size()), 3);
    group.along.setZero(rank, 3);
    m_groups.push_back(std::move(group));
  }
}

void PointConstraints::satisfy(std::span<const Vec3d> targets, std::span<Vec3d> nodes) const {
  for (const Group& group : m_groups) {
    Eigen::MatrixXd missing(group.points.size(), 3);
    for (size_t r = 0; r < group.points.size(); ++r) {
      const auto p = static_cast<size_t>(group.points[r]);
      missing.row(static_cast<Eigen::Index>(r)) = targets[p] - m_points[p].position(nodes);
    }
    const Eigen::MatrixXd moved = group.inverse * missing;
    for (size_t n = 0; n < group.nodes.size(); ++n)
      nodes[static_cast<size_t>(group.nodes[n])] += moved.row(static_cast<Eigen::Index>(n));
  }
}

void PointConstraints::project(std::span<float> vectors) {
  for (Group& group : m_groups) {
    for (size_t n = 0; n < group.nodes.size(); ++n)
      for (Eigen::Index c = 0; c < 3; ++c)
        group.part(static_cast<Eigen::Index>(n), c) =
            vectors[3 * static_cast<size_t>(group.nodes[n]) + static_cast<size_t>(c)];
    group.along.noalias() = group.directions.transpose() * group.part;
    group.part.noalias() -= group.directions * group.along;
    for (size_t n = 0; n < group.nodes.size(); ++n)
      for (Eigen::Index c = 0; c < 3; ++c)
        vectors[3 * static_cast<size_t>(group.nodes[n]) + static_cast<size_t>(c)] =
            group.part(static_cast<Eigen::Index>(n), c);
  }
}

double PointConstraints::error(std::span<const Vec3d> targets, std::span<const Vec3d> nodes) const {
  double largest = 0;
  for (size_t p = 0; p < m_points.size(); ++p)
    largest = std::max(largest, (targets[p] - m_points[p].position(nodes)).norm());
  return largest;
}

}  // namespace supple
