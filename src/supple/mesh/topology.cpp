#include "supple/mesh/topology.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace supple {
namespace {

struct HalfEdge {
  int32_t low, high;  // end points, sorted
  int32_t triangle;
  bool forward;  // the triangle runs from low to high
};

// Disjoint sets with path halving.
class Groups {
 public:
  explicit Groups(size_t count) : m_parent(count) {
    std::iota(m_parent.begin(), m_parent.end(), 0);
  }

  int32_t find(int32_t i) {
    while (m_parent[i] != i) i = m_parent[i] = m_parent[m_parent[i]];
    return i;
  }

  // The smaller index stays the representative, whatever the order of joins.
  void join(int32_t a, int32_t b) {
    a = find(a);
    b = find(b);
    if (a != b) m_parent[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<int32_t> m_parent;
};

std::vector<HalfEdge> sorted_half_edges(std::span<const Vec3i> triangles) {
  std::vector<HalfEdge> edges;
  edges.reserve(3 * triangles.size());
  for (size_t t = 0; t < triangles.size(); ++t)
    for (int side = 0; side < 3; ++side) {
      const int32_t a = triangles[t][side], b = triangles[t][(side + 1) % 3];
      edges.push_back({std::min(a, b), std::max(a, b), static_cast<int32_t>(t), a < b});
    }
  std::sort(edges.begin(), edges.end(), [](const HalfEdge& a, const HalfEdge& b) {
    return std::tie(a.low, a.high, a.triangle) < std::tie(b.low, b.high, b.triangle);
  });
  return edges;
}

int64_t count_duplicates(std::span<const Vec3i> triangles) {
  std::vector<std::array<int32_t, 3>> keys;
  keys.reserve(triangles.size());
  for (const Vec3i& tri : triangles) {
    std::array<int32_t, 3> key{tri[0], tri[1], tri[2]};
    std::sort(key.begin(), key.end());
    keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  int64_t duplicates = 0;
  for (size_t i = 1; i < keys.size(); ++i) duplicates += keys[i] == keys[i - 1];
  return duplicates;
}

}  // namespace

Topology analyse_topology(size_t vertex_count, std::span<const Vec3i> triangles) {
  Topology topology;
  topology.duplicate_triangles = count_duplicates(triangles);
  const std::vector<HalfEdge> edges = sorted_half_edges(triangles);

  // Triangles joined by an edge form a shell; open edges joined by a vertex form a hole.
  Groups shells(triangles.size());
  Groups holes(vertex_count);
  std::vector<int32_t> open_vertices;
  std::vector<int32_t> flawed_triangles;
  for (size_t i = 0; i < edges.size();) {
    size_t j = i;
    int balance = 0;
    for (; j < edges.size() && edges[j].low == edges[i].low && edges[j].high == edges[i].high;
         ++j) {
      shells.join(edges[i].triangle, edges[j].triangle);
      balance += edges[j].forward ? 1 : -1;
    }
    const size_t count = j - i;
    ++topology.edges;
    topology.open_edges += count == 1;
    topology.crowded_edges += count > 2;
    topology.misoriented_edges += count == 2 && balance != 0;
    if (count == 1) {
      holes.join(edges[i].low, edges[i].high);
      open_vertices.push_back(edges[i].low);
    }
    if (count != 2) flawed_triangles.push_back(edges[i].triangle);
    i = j;
  }

  std::vector<int32_t> shell_number(triangles.size(), -1);
  topology.shell_of_triangle.resize(triangles.size());
  for (size_t t = 0; t < triangles.size(); ++t) {
    int32_t& number = shell_number[shells.find(static_cast<int32_t>(t))];
    if (number < 0) number = static_cast<int32_t>(topology.shells++);
    topology.shell_of_triangle[t] = number;
  }
  std::vector<bool> flawed(topology.shells, false);
  for (const int32_t t : flawed_triangles) flawed[topology.shell_of_triangle[t]] = true;
  topology.closed_shells = std::count(flawed.begin(), flawed.end(), false);

  std::vector<bool> counted(vertex_count, false);
  for (const int32_t v : open_vertices) {
    const int32_t group = holes.find(v);
    if (!counted[group]) ++topology.holes;
    counted[group] = true;
  }
  return topology;
}

}  // namespace supple
