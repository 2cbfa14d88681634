#include "supple/sim/skin_samples.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

// A triangle is cut into no more than this many parts along its sides.
constexpr int most_parts = 128;

}  // namespace

SkinSamples::SkinSamples(const TriangleMesh& mesh, double spacing)
    : m_vertices(mesh.positions.size()), m_points(mesh.positions) {
  for (const Vec3i& t : mesh.triangles) {
    const Vec3f &a = mesh.positions[static_cast<size_t>(t[0])],
                &b = mesh.positions[static_cast<size_t>(t[1])],
                &c = mesh.positions[static_cast<size_t>(t[2])];
    const auto longest =
        static_cast<double>(std::max({(b - a).norm(), (c - b).norm(), (a - c).norm()}));
    const auto parts = static_cast<int>(
        std::clamp(std::ceil(longest / spacing), 1.0, static_cast<double>(most_parts)));
    for (int i = 0; i <= parts; ++i)
      for (int j = 0; i + j <= parts; ++j) {
        const int k = parts - i - j;
        if (i == parts || j == parts || k == parts) continue;  // a vertex
        const Vec3f shares =
            Vec3f(static_cast<float>(i), static_cast<float>(j), static_cast<float>(k)) /
            static_cast<float>(parts);
        m_inner.push_back({t, shares});
        m_points.emplace_back(shares[0] * a + shares[1] * b + shares[2] * c);
      }
  }
}

std::vector<float> SkinSamples::values(std::span<const float> of_vertices) const {
  std::vector<float> result(of_vertices.begin(), of_vertices.end());
  result.reserve(m_points.size());
  for (const Inner& inner : m_inner) {
    float sum = 0;
    for (int c = 0; c < 3; ++c)
      sum += inner.shares[c] * of_vertices[static_cast<size_t>(inner.corners[c])];
    result.push_back(sum);
  }
  return result;
}

SkinWeights SkinSamples::weights(const SkinWeights& of_vertices,
                                 std::span<const int32_t> vertex_of_point) const {
  SkinWeights result;
  const auto own = [&](int32_t point) {
    return of_vertices.of(static_cast<size_t>(vertex_of_point[static_cast<size_t>(point)]));
  };
  for (size_t v = 0; v < m_vertices; ++v) result.add_vertex(own(static_cast<int32_t>(v)), 0);
  std::vector<Influence> mixed;
  for (const Inner& inner : m_inner) {
    mixed.clear();
    for (int c = 0; c < 3; ++c)
      for (const Influence& i : own(inner.corners[c])) {
        const auto known = std::find_if(mixed.begin(), mixed.end(),
                                        [&](const Influence& m) { return m.bind == i.bind; });
        if (known != mixed.end())
          known->weight += inner.shares[c] * i.weight;
        else
          mixed.push_back({i.bind, inner.shares[c] * i.weight});
      }
    result.add_vertex(mixed, 0);
  }
  return result;
}

}  // namespace supple
