#include "supple/surface/wide_regions.h"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "supple/core/parallel.h"
#include "supple/math/polar.h"
#include "supple/surface/surface_solver.h"

namespace supple {
namespace {

constexpr size_t most_clusters = 256;  // of an object
constexpr size_t cluster_block = 8, particle_block = 1024;
constexpr double far = std::numeric_limits<double>::infinity();

size_t at(int32_t i) { return static_cast<size_t>(i); }

// Lowers the distances of the points around one, along edges, up to a limit [Dijkstra 1959]; lists
// those it lowered.
void spread_from(const VertexLists& neighbours, std::span<const Vec3d> points, int32_t from,
                 double limit, std::vector<double>& distances, std::vector<int32_t>& lowered) {
  using Entry = std::pair<double, int32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  lowered.clear();
  distances[at(from)] = 0;
  open.emplace(0, from);
  while (!open.empty()) {
    const auto [distance, point] = open.top();
    open.pop();
    if (distance > distances[at(point)]) continue;
    lowered.push_back(point);
    for (const int32_t next : neighbours.of(at(point))) {
      const double further = distance + (points[at(next)] - points[at(point)]).norm();
      if (!(further < distances[at(next)]) || further > limit) continue;
      distances[at(next)] = further;
      open.emplace(further, next);
    }
  }
}

// The rotation that turns A most, by Newton's method from a rotation nearby (see
// surface_kernels.cpp); by decomposition where that does not arrive at a maximum.
Mat3d rotation_near(const Mat3d& a, Mat3d turn) {
  for (int step = 0; step < 8; ++step) {
    const Mat3d b = turn.transpose() * a;
    const Mat3d s = 0.5 * (b + b.transpose());
    const Mat3d g = s.trace() * Mat3d::Identity() - s;
    // Only before a maximum all minors are positive.
    const double first = g(0, 0), second = first * g(1, 1) - g(0, 1) * g(0, 1),
                 third = g.determinant();
    const double size = std::abs(s.trace());
    if (!(first > 0 && second > 0 && third > 1e-6 * size * size * size)) break;
    const Vec3d axis = g.inverse() * Vec3d(b(2, 1) - b(1, 2), b(0, 2) - b(2, 0), b(1, 0) - b(0, 1));
    const double angle = axis.norm();
    if (!(angle < 1)) break;
    if (angle < 1e-9) return turn;
    turn = turn * Eigen::AngleAxisd(angle, axis / angle).toRotationMatrix();
  }
  return nearest_rotation(a);
}

double mean_edge(const SurfaceModel& model, const PackedObject& object) {
  double sum = 0;
  for (uint32_t t = object.first_triangle; t < object.last_triangle; ++t)
    for (int c = 0; c < 3; ++c)
      sum += static_cast<double>(
          (model.rest[at(model.triangles[t][c])] - model.rest[at(model.triangles[t][(c + 1) % 3])])
              .norm());
  return sum / (3.0 * std::max(1u, object.last_triangle - object.first_triangle));
}

}  // namespace

// Clusters of an object and which of them are neighbours, on the surface and through the inside.
struct WideRegions::Graph {
  VertexLists neighbours;
  std::vector<Vec3d> points;
};

WideRegions::WideRegions(const SurfaceModel& model) : m_model(model) {
  bool any = false;
  for (const PackedObject& object : model.objects) any = any || object.parameters.support > 0;
  if (!any) return;
  m_followers.resize(model.size());
  const VertexLists neighbours = vertex_neighbours(model.size(), model.triangles);
  for (uint32_t o = 0; o < model.objects.size(); ++o)
    if (model.objects[o].parameters.support > 0) add_object(model, neighbours, o);
  m_motions.resize(m_clusters.size());
  m_regions.resize(m_clusters.size());
  m_shifts.resize(m_clusters.size());
  m_kicks.resize(m_clusters.size());
}

// Chooses middles, each the particle farthest from those before, until none is farther than a
// region is wide; then who follows them, and their regions.
void WideRegions::add_object(const SurfaceModel& model, const VertexLists& neighbours,
                             uint32_t number) {
  const PackedObject& object = model.objects[number];
  const size_t first = m_clusters.size();
  std::vector<Vec3d> points(model.size());
  for (size_t i = object.begin; i < object.end; ++i) points[i] = model.rest[i].cast<double>();
  const double spacing = object.parameters.region_width * mean_edge(model, object);
  std::vector<double> distances(model.size(), far);
  std::vector<int32_t> owners(model.size(), -1), lowered;
  const auto farthest = [&] {
    uint32_t best = object.end;
    for (uint32_t i = object.begin; i < object.end; ++i)
      if (!neighbours.of(i).empty() && (best == object.end || distances[i] > distances[best]))
        best = i;
    return best;
  };
  uint32_t next = farthest();
  for (;
       next < object.end && distances[next] > spacing && m_clusters.size() - first < most_clusters;
       next = farthest()) {
    const auto cluster = static_cast<int32_t>(m_clusters.size());
    m_clusters.push_back({.object = number, .middle_particle = static_cast<int32_t>(next)});
    spread_from(neighbours, points, static_cast<int32_t>(next), far, distances, lowered);
    for (const int32_t p : lowered) owners[at(p)] = cluster;
  }
  if (m_clusters.size() == first) return;
  // Particles follow the clusters within twice the largest distance, close ones most.
  const double width = 2 * std::max(spacing, next < object.end ? distances[next] : 0.0);
  std::fill(distances.begin(), distances.end(), far);
  for (size_t c = first; c < m_clusters.size(); ++c) {
    spread_from(neighbours, points, m_clusters[c].middle_particle, width, distances, lowered);
    for (const int32_t p : lowered) {
      const double rest = 1 - distances[at(p)] / width;
      distances[at(p)] = far;
      auto weight = static_cast<float>(rest * rest);
      auto cluster = static_cast<int32_t>(c);
      Follower& follower = m_followers[at(p)];
      for (size_t k = 0; k < most_followed; ++k)
        if (weight > follower.weights[k]) {
          std::swap(weight, follower.weights[k]);
          std::swap(cluster, follower.clusters[k]);
        }
    }
  }
  gather(model, first);
  Graph graph;
  for (size_t c = first; c < m_clusters.size(); ++c) graph.points.push_back(m_clusters[c].rest);
  std::vector<std::pair<int32_t, int32_t>> links;
  const auto link = [&](size_t a, int32_t b) {
    if (b < 0 || owners[a] < 0 || owners[at(b)] < 0 || owners[a] == owners[at(b)]) return;
    const auto base = static_cast<int32_t>(first);
    links.emplace_back(owners[a] - base, owners[at(b)] - base);
    links.emplace_back(owners[at(b)] - base, owners[a] - base);
  };
  for (size_t i = object.begin; i < object.end; ++i) {
    for (const int32_t other : neighbours.of(i)) link(i, other);
    link(i, model.inner_partners[i]);
  }
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  for (size_t k = 0, c = first; c < m_clusters.size(); ++c) {
    for (; k < links.size() && at(links[k].first) == c - first; ++k)
      graph.neighbours.items.push_back(links[k].second);
    graph.neighbours.offsets.push_back(static_cast<uint32_t>(graph.neighbours.items.size()));
  }
  for (size_t c = first; c < m_clusters.size(); ++c)
    find_region(graph, first, c,
                object.parameters.support * 2 * static_cast<double>(object.rest_reach));
}

// Masses and middles of clusters at rest, from how particles follow them.
void WideRegions::gather(const SurfaceModel& model, size_t first) {
  const PackedObject& object = model.objects[m_clusters[first].object];
  std::vector<std::vector<Share>> shares(m_clusters.size() - first);
  for (size_t i = object.begin; i < object.end; ++i) {
    Follower& follower = m_followers[i];
    float sum = 0;
    for (const float weight : follower.weights) sum += weight;
    for (size_t k = 0; k < most_followed && sum > 0; ++k) {
      follower.weights[k] /= sum;
      if (!(follower.weights[k] > 0)) {
        follower.clusters[k] = follower.clusters[0];
        continue;
      }
      Cluster& cluster = m_clusters[at(follower.clusters[k])];
      const double mass = static_cast<double>(model.masses[i] * follower.weights[k]);
      cluster.mass += mass;
      cluster.rest += mass * model.rest[i].cast<double>();
      shares[at(follower.clusters[k]) - first].push_back(
          {static_cast<int32_t>(i), static_cast<float>(mass)});
    }
  }
  for (size_t c = first; c < m_clusters.size(); ++c) {
    Cluster& cluster = m_clusters[c];
    cluster.rest /= cluster.mass;
    cluster.first_share = static_cast<uint32_t>(m_shares.size());
    for (Share& share : shares[c - first]) {
      share.weight = static_cast<float>(static_cast<double>(share.weight) / cluster.mass);
      m_shares.push_back(share);
    }
    cluster.last_share = static_cast<uint32_t>(m_shares.size());
  }
}

void WideRegions::find_region(const Graph& graph, size_t first, size_t cluster, double reach) {
  std::vector<double> distances(graph.points.size(), far);
  std::vector<int32_t> members;
  spread_from(graph.neighbours, graph.points, static_cast<int32_t>(cluster - first), reach,
              distances, members);
  // A point may have been lowered twice.
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  Cluster& own = m_clusters[cluster];
  own.first_near = static_cast<uint32_t>(m_near.size());
  for (const int32_t member : members) {
    const Cluster& other = m_clusters[first + at(member)];
    m_near.push_back(static_cast<uint32_t>(first + at(member)));
    own.region_mass += other.mass;
    own.centre += other.mass * other.rest;
  }
  own.last_near = static_cast<uint32_t>(m_near.size());
  own.centre /= own.region_mass;
}

// Where clusters are, and how fast.
void WideRegions::locate(const SurfaceState& state) {
  parallel_for(m_clusters.size(), cluster_block, [&](size_t begin, size_t end) {
    for (size_t c = begin; c < end; ++c) {
      Motion motion;
      for (uint32_t i = m_clusters[c].first_share; i < m_clusters[c].last_share; ++i) {
        const auto weight = static_cast<double>(m_shares[i].weight);
        motion.x += weight * state.positions[at(m_shares[i].particle)].cast<double>();
        motion.v += weight * state.velocities[at(m_shares[i].particle)].cast<double>();
      }
      m_motions[c] = motion;
    }
  });
}

// Place and rotation of a region [Diziol 2011, eq. 1 and 2].
void WideRegions::match_region(const Cluster& cluster, const SurfaceState& state,
                               Motion& region) const {
  const auto near =
      std::span(m_near).subspan(cluster.first_near, cluster.last_near - cluster.first_near);
  Vec3d t = Vec3d::Zero();
  for (const uint32_t k : near) t += m_clusters[k].mass * m_motions[k].x;
  t /= cluster.region_mass;
  Mat3d a = Mat3d::Zero();
  for (const uint32_t k : near)
    a += (m_clusters[k].mass * (m_motions[k].x - t)) *
         (m_clusters[k].rest - cluster.centre).transpose();
  const float* q = state.rotations.data() + 4 * at(cluster.middle_particle);
  const Quatd last(static_cast<double>(q[3]), static_cast<double>(q[0]), static_cast<double>(q[1]),
                   static_cast<double>(q[2]));
  region.x = t;
  region.turn = rotation_near(a, last.normalized().toRotationMatrix());
}

void WideRegions::match(double dt, std::span<const float> held, SurfaceState& state) {
  if (m_clusters.empty() || !(dt > 0)) return;
  locate(state);
  const auto each_cluster = [&](const auto& body) {
    parallel_for(m_clusters.size(), cluster_block, [&](size_t begin, size_t end) {
      for (size_t c = begin; c < end; ++c) body(c, m_clusters[c]);
    });
  };
  const auto near = [&](const Cluster& cluster) {
    return std::span(m_near).subspan(cluster.first_near, cluster.last_near - cluster.first_near);
  };
  each_cluster(
      [&](size_t c, const Cluster& cluster) { match_region(cluster, state, m_regions[c]); });
  // A cluster goes to the mean of where its regions want it; regions are mutual.
  each_cluster([&](size_t c, const Cluster& cluster) {
    Vec3d goal = Vec3d::Zero();
    for (const uint32_t k : near(cluster))
      goal += m_regions[k].turn * (cluster.rest - m_clusters[k].centre) + m_regions[k].x;
    goal /= static_cast<double>(near(cluster).size());
    const Vec3d shift =
        m_model.objects[cluster.object].parameters.stiffness * (goal - m_motions[c].x);
    m_shifts[c] = shift.cast<float>();
  });
  each_cluster([&](size_t c, const Cluster&) {
    m_motions[c].x += m_shifts[c].cast<double>();
    m_motions[c].v += m_shifts[c].cast<double>() / dt;
  });
  // The rigid motion of every region [Müller 2007].
  each_cluster([&](size_t c, const Cluster& cluster) {
    Motion& region = m_regions[c];
    region.x = region.v = Vec3d::Zero();
    for (const uint32_t k : near(cluster)) {
      region.x += m_clusters[k].mass / cluster.region_mass * m_motions[k].x;
      region.v += m_clusters[k].mass / cluster.region_mass * m_motions[k].v;
    }
    Vec3d momentum = Vec3d::Zero();
    Mat3d inertia = Mat3d::Zero();
    for (const uint32_t k : near(cluster)) {
      const Vec3d r = m_motions[k].x - region.x;
      momentum += m_clusters[k].mass * r.cross(m_motions[k].v);
      inertia += m_clusters[k].mass * (r.squaredNorm() * Mat3d::Identity() - r * r.transpose());
    }
    inertia.diagonal().array() += 1e-4 * inertia.trace() + 1e-30;
    region.spin = inertia.inverse() * momentum;
    if (!region.spin.allFinite()) region.spin.setZero();
  });
  each_cluster([&](size_t c, const Cluster& cluster) {
    Vec3d velocity = Vec3d::Zero();
    for (const uint32_t k : near(cluster))
      velocity += m_regions[k].v + m_regions[k].spin.cross(m_motions[c].x - m_regions[k].x);
    velocity /= static_cast<double>(near(cluster).size());
    const Vec3d kick =
        m_model.objects[cluster.object].parameters.damping * (velocity - m_motions[c].v);
    m_kicks[c] = (m_shifts[c].cast<double>() / dt + kick).cast<float>();
  });
  parallel_for(m_model.size(), particle_block, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const Follower& follower = m_followers[i];
      Vec3f kick = Vec3f::Zero();
      for (size_t k = 0; k < most_followed; ++k)
        kick += follower.weights[k] * m_kicks[at(follower.clusters[k])];
      if (!held.empty()) kick *= 1 - held[i];
      if (!kick.allFinite()) continue;
      state.velocities[i] += kick;
      state.positions[i] += static_cast<float>(dt) * kick;
    }
  });
}

}  // namespace supple
