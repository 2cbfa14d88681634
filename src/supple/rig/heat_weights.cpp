#include "supple/rig/heat_weights.h"

#include <algorithm>
#include <cmath>
#include <queue>

#include "supple/core/parallel.h"

namespace supple {
namespace {

// c in Δw = c/d² (w − p) at smoothness 1.
constexpr double default_heat = 1;

// A bone has a share of nodes that are up to this much further from it than from their nearest one.
constexpr double shared_reach = 0.25;

// The part of a limb's thickness within which all nodes are held alike.
constexpr double core = 0.3;

// How much more firmly nodes between two branches are held: they are far from all bones, and what
// the limbs on both sides give up would flow back.
constexpr double settled_hold = 60;

// Thinner parts than this, in cells, all count as equally thick: the grid cannot measure them.
constexpr double least_radius = 2;

// Where exp(-x) of a bone's heat is left, it counts as none.
constexpr double negligible = 6;

// Of the residual, relative to the right-hand side.
constexpr double tolerance = 1e-5;
constexpr int most_iterations = 2000;

// Distances are blunted below half a cell, where the grid cannot tell bones apart.
double blunt(double distance, double spacing) { return std::hypot(distance, spacing / 2); }

// The distance that sets how firmly a node is held. Bones do not hold their nodes more firmly the
// nearer these are without end: changes from bone to bone stay as wide as a part of the limb's
// thickness, and as the mesh is coarse.
double blunt_reach(const NearBone& bone, double spacing, double extent) {
  const double radius = std::max(bone.radius, least_radius * spacing);
  return std::hypot(bone.distance, core * radius, std::max(extent, spacing / 2));
}

struct Share {
  int32_t node;
  double share;
};

// What holds nodes at their temperature, and where that comes from.
struct HeatField {
  std::vector<std::vector<Share>> shares;  // by bone: p
  std::vector<double> flow;  // c/d² times the volume, per node; 0 where no bone can be reached
  std::vector<double> rate;  // sqrt(c)/d: heat fades as exp(-∫ rate ds)
};

// Near and far are measured in thicknesses of the solid around each bone, so that the side of the
// chest belongs to the spine deep inside and not to the thin arm beside it. Shares fall smoothly
// from the nearest bone to those `shared_reach` further: a node midway between two bones belongs to
// both, and midway between two limbs to what they branch from.
HeatField make_field(const SolidGraph& graph, const BoneDistances& distances, size_t bone_count,
                     double c, const Branches& branches) {
  HeatField field;
  field.shares.resize(bone_count);
  field.flow.assign(graph.nodes(), 0);
  field.rate.assign(graph.nodes(), 0);
  const double h = graph.grid.spacing;
  std::vector<double> relative, share;
  for (size_t i = 0; i < graph.nodes(); ++i) {
    const auto near = distances.of(i);
    if (near.empty()) continue;
    double nearest = INFINITY, sum = 0, distance = 0;
    relative.clear();
    for (const NearBone& bone : near) {
      relative.push_back(blunt(bone.distance, h) / std::max(bone.radius, least_radius * h));
      nearest = std::min(nearest, relative.back());
    }
    share.clear();
    for (const NearBone& bone : near) {
      const double excess = relative[share.size()] / nearest - 1;
      share.push_back(std::pow(std::max(0.0, 1 - excess / shared_reach), 2));
      sum += share.back();
      distance += share.back() * blunt_reach(bone, h, graph.extents[i]);
    }
    const double moved = branches.settle(graph.positions[i], near, relative, share);
    for (size_t k = 0; k < near.size(); ++k)
      if (share[k] > 0)
        field.shares[near[k].bone].push_back({static_cast<int32_t>(i), share[k] / sum});
    const double d = distance / sum / std::sqrt(1 + settled_hold * moved / sum);
    field.flow[i] = c / (d * d) * graph.volumes[i];
    field.rate[i] = std::sqrt(c) / d;
  }
  return field;
}

// As many bones are solved at once as there are lanes; neighbours in the skeleton heat much the
// same part of the solid.
constexpr size_t lanes = 8;
using Lanes = Eigen::Array<float, lanes, 1>;
using WideLanes = Eigen::Array<double, lanes, 1>;

// Sums `part(i)` in single precision over short runs, which are added in double.
constexpr size_t run = 64;

template <class Part>
WideLanes sum_of(size_t count, const Part& part) {
  WideLanes sum = WideLanes::Zero();
  for (size_t begin = 0; begin < count; begin += run) {
    Lanes partial = Lanes::Zero();
    for (size_t i = begin; i < std::min(count, begin + run); ++i) partial += part(i);
    sum += partial.cast<double>();
  }
  return sum;
}

// The part of the solid some bones heat, and the equations there; nodes beyond are cold.
class HeatBatch {
 public:
  HeatBatch(const SolidGraph& graph, const HeatField& field, size_t first_bone)
      : m_graph(graph),
        m_field(field),
        m_first(first_bone),
        m_count(std::min(lanes, field.shares.size() - first_bone)) {
    find_domain();
    assemble();
  }

  // Writes the weights of the batch's bones.
  void solve(std::vector<std::vector<HeatWeight>>& weights) const;

 private:
  void find_domain();
  void assemble();
  WideLanes apply(const std::vector<Lanes>& p, std::vector<Lanes>& q) const;

  const SolidGraph& m_graph;
  const HeatField& m_field;
  size_t m_first, m_count;
  std::vector<int32_t> m_nodes;  // of the domain, rising
  std::vector<float> m_diagonal, m_inverse_diagonal;
  std::vector<Lanes> m_right;
  std::vector<size_t> m_offsets;
  std::vector<int32_t> m_columns;
  std::vector<float> m_values;
};

// All nodes the heat of the nodes in the bones' shares can reach before it fades.
void HeatBatch::find_domain() {
  using Visit = std::pair<double, int32_t>;
  std::priority_queue<Visit, std::vector<Visit>, std::greater<>> queue;
  std::vector<double> faded(m_graph.nodes(), INFINITY);
  const auto offer = [&](int32_t node, double value) {
    if (value >= faded[node] || value > negligible) return;
    if (std::isinf(faded[node])) m_nodes.push_back(node);
    faded[node] = value;
    queue.emplace(value, node);
  };
  for (size_t lane = 0; lane < m_count; ++lane)
    for (const Share& share : m_field.shares[m_first + lane]) offer(share.node, 0);
  while (!queue.empty()) {
    const auto [value, node] = queue.top();
    queue.pop();
    if (value > faded[node]) continue;
    for (const SolidLink& link : m_graph.of(static_cast<size_t>(node)))
      if (link.conductance > 0)
        offer(link.node,
              value + double{link.length} * (m_field.rate[node] + m_field.rate[link.node]) / 2);
  }
  std::sort(m_nodes.begin(), m_nodes.end());
}

// Σ conductance (w_i − w_j) + flow_i (w_i − p_i) = 0 at every node i.
void HeatBatch::assemble() {
  std::vector<int32_t> local(m_graph.nodes(), -1);
  for (size_t i = 0; i < m_nodes.size(); ++i) local[m_nodes[i]] = static_cast<int32_t>(i);
  m_offsets.push_back(0);
  for (const int32_t node : m_nodes) {
    double diagonal = m_field.flow[node];
    for (const SolidLink& link : m_graph.of(static_cast<size_t>(node))) {
      if (link.conductance <= 0) continue;
      diagonal += link.conductance;
      if (local[link.node] < 0) continue;
      m_columns.push_back(local[link.node]);
      m_values.push_back(link.conductance);
    }
    m_diagonal.push_back(static_cast<float>(diagonal));
    m_inverse_diagonal.push_back(static_cast<float>(1 / diagonal));
    m_offsets.push_back(m_columns.size());
  }
  m_right.assign(m_nodes.size(), Lanes::Zero());
  for (size_t lane = 0; lane < m_count; ++lane)
    for (const Share& share : m_field.shares[m_first + lane])
      m_right[local[share.node]][lane] = static_cast<float>(m_field.flow[share.node] * share.share);
}

// q = A p; returns p · q.
WideLanes HeatBatch::apply(const std::vector<Lanes>& p, std::vector<Lanes>& q) const {
  return sum_of(m_nodes.size(), [&](size_t i) -> Lanes {
    Lanes sum = m_diagonal[i] * p[i];
    for (size_t k = m_offsets[i]; k < m_offsets[i + 1]; ++k) sum -= m_values[k] * p[m_columns[k]];
    q[i] = sum;
    return p[i] * sum;
  });
}

// Conjugate gradients, preconditioned by the diagonal; every lane on its own.
void HeatBatch::solve(std::vector<std::vector<HeatWeight>>& weights) const {
  const size_t n = m_nodes.size();
  std::vector<Lanes> x(n, Lanes::Zero()), r = m_right, p(n), q(n);
  WideLanes rz = sum_of(n, [&](size_t i) -> Lanes {
    p[i] = m_inverse_diagonal[i] * r[i];
    return r[i] * p[i];
  });
  const WideLanes goal = tolerance * tolerance * rz;
  for (int iteration = 0; iteration < most_iterations && (rz > goal).any(); ++iteration) {
    const WideLanes pq = apply(p, q);
    // Lanes that are done stay as they are.
    const WideLanes step = (rz > goal && pq > 0).select(rz / pq, WideLanes::Zero());
    const Lanes alpha = step.cast<float>();
    const WideLanes next = sum_of(n, [&](size_t i) -> Lanes {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
      return m_inverse_diagonal[i] * r[i] * r[i];
    });
    const WideLanes ratio = (rz > 0).select(next / rz, WideLanes::Zero());
    const Lanes beta = ratio.cast<float>();
    rz = next;
    for (size_t i = 0; i < n; ++i) p[i] = m_inverse_diagonal[i] * r[i] + beta * p[i];
  }
  for (size_t lane = 0; lane < m_count; ++lane)
    for (size_t i = 0; i < n; ++i)
      if (m_nodes[i] >= static_cast<int32_t>(m_graph.cell_nodes) && x[i][lane] > 0)
        weights[m_first + lane].push_back(
            {m_nodes[i] - static_cast<int32_t>(m_graph.cell_nodes), x[i][lane]});
}

}  // namespace

std::vector<std::vector<HeatWeight>> heat_weights(const SolidGraph& graph,
                                                  const BoneDistances& distances, size_t bone_count,
                                                  const Branches& branches,
                                                  const HeatOptions& options) {
  const double c = default_heat / (options.smoothness * options.smoothness);
  const HeatField field = make_field(graph, distances, bone_count, c, branches);
  std::vector<std::vector<HeatWeight>> weights(bone_count);
  parallel_for((bone_count + lanes - 1) / lanes, 1, [&](size_t batch, size_t) {
    HeatBatch(graph, field, batch * lanes).solve(weights);
  });
  return weights;
}

}  // namespace supple
