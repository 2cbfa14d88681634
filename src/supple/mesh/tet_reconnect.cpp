// The part of TetPlacing that joins nodes to other tetrahedra where that makes them better: the
// tetrahedra around an edge are replaced by ones without it, by the best triangulation of the ring
// of nodes around it [Klincsek 1980; Freitag 1997], and two that share a side by three around an
// edge between their other corners.
#include <algorithm>
#include <array>
#include <limits>

#include "supple/mesh/tet_placing.h"
#include "supple/mesh/tet_quality.h"

namespace supple {
namespace {

constexpr size_t largest_ring = 8;

// The nodes around the edge from a to b in the order of a right-hand screw; empty where they do not
// close, or are too many.
std::vector<int32_t> ring_nodes(std::span<const Vec4i> around, int32_t a, int32_t b) {
  if (around.size() < 3 || around.size() > largest_ring) return {};
  std::vector<std::pair<int32_t, int32_t>> sides;
  for (Vec4i tet : around) {
    // Even permutations bring a and b to the front.
    const auto place = [&](int32_t node) {
      return static_cast<int>(std::find(tet.begin(), tet.end(), node) - tet.begin());
    };
    bool odd = false;
    for (const auto& [node, to] : {std::pair{a, 0}, std::pair{b, 1}})
      if (const int at = place(node); at != to) {
        std::swap(tet[at], tet[to]);
        odd = !odd;
      }
    if (odd) std::swap(tet[2], tet[3]);
    sides.emplace_back(tet[2], tet[3]);
  }
  std::vector<int32_t> nodes{sides[0].first};
  while (nodes.size() < sides.size()) {
    const auto next = std::find_if(sides.begin(), sides.end(),
                                   [&](const auto& side) { return side.first == nodes.back(); });
    if (next == sides.end() || std::find(nodes.begin(), nodes.end(), next->second) != nodes.end())
      return {};
    nodes.push_back(next->second);
  }
  const bool closes = std::any_of(sides.begin(), sides.end(), [&](const auto& side) {
    return side.first == nodes.back() && side.second == nodes.front();
  });
  return closes ? nodes : std::vector<int32_t>();
}

}  // namespace

void TetPlacing::add(const Vec4i& tet) {
  m_mesh.tets.push_back(tet);
  m_gone.push_back(0);
  if (!m_chosen.empty()) m_chosen.push_back(1);
  link(static_cast<int32_t>(m_mesh.tets.size()) - 1);
}

// Puts others in the place of tetrahedra when the worst of them is better.
bool TetPlacing::replace_if_better(std::span<const int32_t> old, std::span<const Vec4i> added) {
  constexpr double least_gain = 0.01;  // degrees
  double before = 180, after = 180;
  for (const int32_t tet : old) before = std::min(before, quality(m_mesh.tets[tet]));
  for (const Vec4i& tet : added) {
    after = std::min(after, quality(tet));
    if (after < before + least_gain || after <= 0) return false;
  }
  for (const int32_t tet : old) unlink(tet);
  for (const Vec4i& tet : added) add(tet);
  return true;
}

// best[i][j] is the worst angle over the part of the ring from i to j, for the best triangulation
// of it; middle[i][j] the third corner of the triangle on its chord.
bool TetPlacing::remove_edge(int32_t a, int32_t b) {
  const std::vector<int32_t> old = ring(a, b);
  std::vector<Vec4i> around;
  for (const int32_t tet : old) around.push_back(m_mesh.tets[tet]);
  const std::vector<int32_t> nodes = ring_nodes(around, a, b);
  const auto count = static_cast<int>(nodes.size());
  if (count < 3) return false;
  const auto above = [&](int i, int k, int j) { return Vec4i(nodes[i], nodes[k], nodes[j], b); };
  const auto below = [&](int i, int k, int j) { return Vec4i(nodes[i], nodes[j], nodes[k], a); };
  double best[largest_ring][largest_ring];
  int middle[largest_ring][largest_ring] = {};
  for (int length = 1; length < count; ++length)
    for (int i = 0; i + length < count; ++i) {
      const int j = i + length;
      best[i][j] = length == 1 ? 180 : -std::numeric_limits<double>::infinity();
      for (int k = i + 1; k < j; ++k) {
        const double worst =
            std::min({best[i][k], best[k][j], quality(above(i, k, j)), quality(below(i, k, j))});
        if (worst <= best[i][j]) continue;
        best[i][j] = worst;
        middle[i][j] = k;
      }
    }
  std::vector<Vec4i> added;
  std::vector<std::pair<int, int>> chords{{0, count - 1}};
  while (!chords.empty()) {
    const auto [i, j] = chords.back();
    chords.pop_back();
    if (j - i < 2) continue;
    const int k = middle[i][j];
    added.push_back(above(i, k, j));
    added.push_back(below(i, k, j));
    chords.emplace_back(i, k);
    chords.emplace_back(k, j);
  }
  return replace_if_better(old, added);
}

// The side of a tetrahedron opposite one of its corners gives way to an edge through it.
bool TetPlacing::remove_side(int32_t tet, int corner) {
  static constexpr int sides[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  const Vec4i own = m_mesh.tets[tet];
  const std::array<int32_t, 3> side{own[sides[corner][0]], own[sides[corner][1]],
                                    own[sides[corner][2]]};
  for (const int32_t other : ring(side[0], side[1])) {
    const Vec4i& next = m_mesh.tets[other];
    if (other == tet || !(next.array() == side[2]).any()) continue;
    int32_t opposite = -1;
    for (int k = 0; k < 4; ++k)
      if (std::find(side.begin(), side.end(), next[k]) == side.end()) opposite = next[k];
    // All three are positive exactly when the new edge goes through the side.
    std::array<Vec4i, 3> added;
    for (size_t k = 0; k < 3; ++k)
      added[k] = Vec4i(own[corner], opposite, side[k], side[(k + 1) % 3]);
    return replace_if_better(std::array{tet, other}, added);
  }
  return false;
}

bool TetPlacing::reconnect(double goal) {
  bool changed = false;
  const size_t count = m_mesh.tets.size();
  for (size_t t = 0; t < count; ++t) {
    const Vec4i tet = m_mesh.tets[t];
    if (m_gone[t] || (!m_chosen.empty() && !m_chosen[t]) || quality(tet) >= goal) continue;
    bool gone = false;
    for (int a = 0; a < 4 && !gone; ++a)
      for (int b = a + 1; b < 4 && !gone; ++b) gone = remove_edge(tet[a], tet[b]);
    for (int corner = 0; corner < 4 && !gone; ++corner)
      gone = remove_side(static_cast<int32_t>(t), corner);
    changed = changed || gone;
  }
  return changed;
}

}  // namespace supple
