#include "supple/mesh/refine.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace supple {

TriangleMesh refined(const TriangleMesh& mesh, int parts) {
  if (parts < 2) return mesh;
  TriangleMesh result;
  result.positions = mesh.positions;
  std::map<std::array<int32_t, 3>, int32_t> on_edges;  // by corners and place between them
  for (const Vec3i& t : mesh.triangles) {
    // Points by how many parts they are away from corners 0 and 1.
    std::map<std::pair<int, int>, int32_t> at;
    for (int i = 0; i <= parts; ++i)
      for (int j = 0; i + j <= parts; ++j) {
        const int k = parts - i - j;
        const std::array<int, 3> shares = {i, j, k};
        const auto whole = std::find(shares.begin(), shares.end(), parts);
        if (whole != shares.end()) {
          at[{i, j}] = t[static_cast<int>(whole - shares.begin())];
          continue;
        }
        Vec3f place = Vec3f::Zero();
        for (int c = 0; c < 3; ++c)
          place += static_cast<float>(shares[static_cast<size_t>(c)]) / static_cast<float>(parts) *
                   mesh.positions[static_cast<size_t>(t[c])];
        const auto none = std::find(shares.begin(), shares.end(), 0);
        int32_t* known = nullptr;
        if (none != shares.end()) {
          const int away = static_cast<int>(none - shares.begin());
          int a = (away + 1) % 3, b = (away + 2) % 3;
          if (t[a] > t[b]) std::swap(a, b);
          known =
              &on_edges.try_emplace({t[a], t[b], shares[static_cast<size_t>(a)]}, -1).first->second;
        }
        if (!known || *known < 0) {
          const auto number = static_cast<int32_t>(result.positions.size());
          result.positions.push_back(place);
          if (known) *known = number;
          at[{i, j}] = number;
        } else {
          at[{i, j}] = *known;
        }
      }
    for (int i = 0; i < parts; ++i)
      for (int j = 0; i + j < parts; ++j) {
        result.triangles.emplace_back(at[{i, j}], at[{i + 1, j}], at[{i, j + 1}]);
        if (i + j + 1 < parts)
          result.triangles.emplace_back(at[{i + 1, j}], at[{i + 1, j + 1}], at[{i, j + 1}]);
      }
  }
  return result;
}

namespace {

// The middles of long edges, by their ends: found once for both sides.
class Middles {
 public:
  Middles(TriangleMesh& mesh, double longest) : m_mesh(mesh), m_longest(longest) {}

  // The vertex in the middle of an edge, or -1 where it is short enough.
  int32_t of(int32_t a, int32_t b) {
    if (a > b) std::swap(a, b);
    const Vec3f pa = m_mesh.positions[static_cast<size_t>(a)];
    const Vec3f pb = m_mesh.positions[static_cast<size_t>(b)];
    if (static_cast<double>((pb - pa).norm()) <= m_longest) return -1;
    const auto [found, is_new] =
        m_known.try_emplace({a, b}, static_cast<int32_t>(m_mesh.positions.size()));
    if (is_new) m_mesh.positions.emplace_back((pa + pb) / 2);
    return found->second;
  }

 private:
  TriangleMesh& m_mesh;
  double m_longest;
  std::map<std::pair<int32_t, int32_t>, int32_t> m_known;
};

// Adds what a triangle becomes when the edges from corner c to the next one have middles m[c].
void add_pieces(const Vec3i& t, const std::array<int32_t, 3>& m, std::vector<Vec3i>& out) {
  const auto count = std::count_if(m.begin(), m.end(), [](int32_t i) { return i >= 0; });
  if (count == 0) {
    out.push_back(t);
    return;
  }
  if (count == 3) {
    for (int c = 0; c < 3; ++c)
      out.emplace_back(t[c], m[static_cast<size_t>(c)], m[static_cast<size_t>((c + 2) % 3)]);
    out.emplace_back(m[0], m[1], m[2]);
    return;
  }
  // Turned such that the edge from a to b is cut, and of two cut ones the next is too.
  int c = 0;
  while (m[static_cast<size_t>(c)] < 0 || (count == 2 && m[static_cast<size_t>((c + 1) % 3)] < 0))
    ++c;
  const int32_t a = t[c], b = t[(c + 1) % 3], d = t[(c + 2) % 3];
  const int32_t ab = m[static_cast<size_t>(c)], bd = m[static_cast<size_t>((c + 1) % 3)];
  if (count == 1) {
    out.emplace_back(a, ab, d);
    out.emplace_back(ab, b, d);
    return;
  }
  out.emplace_back(ab, b, bd);
  out.emplace_back(a, ab, bd);
  out.emplace_back(a, bd, d);
}

}  // namespace

TriangleMesh with_short_edges(const TriangleMesh& mesh, double longest) {
  TriangleMesh result = mesh;
  for (bool changed = true; changed;) {
    Middles middles(result, longest);
    std::vector<Vec3i> triangles;
    for (const Vec3i& t : result.triangles)
      add_pieces(t, {middles.of(t[0], t[1]), middles.of(t[1], t[2]), middles.of(t[2], t[0])},
                 triangles);
    changed = triangles.size() > result.triangles.size();
    result.triangles = std::move(triangles);
  }
  return result;
}

}  // namespace supple
