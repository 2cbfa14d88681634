#include "supple/mesh/smooth_embedding.h"

#include <cmath>
#include <map>

#include "supple/core/parallel.h"

namespace supple {
namespace {

// The quadratic B-spline around 0, which is 0 beyond 1.5.
double spline(double t) {
  t = std::abs(t);
  if (t >= 1.5) return 0;
  return t < 0.5 ? 0.75 - t * t : 0.5 * (1.5 - t) * (1.5 - t);
}

using NodeWeights = std::map<int32_t, double>;

NodeWeights weights_of(const SolidLattice& solid, const LatticeMesh& mesh, const Vec3d& point) {
  const Vec3d at = (point - solid.origin) / solid.spacing;
  constexpr double far = 1e9;
  const Vec3i own = at.array().floor().max(-far).min(far).cast<int32_t>();
  NodeWeights weights;
  double total = 0;
  // Points outside all cells belong to the nearest one alone.
  if (!solid.lattice.has_cell(own)) {
    const LatticeTie tie = tie_to_cell(solid, mesh, nearest_cell(solid, mesh, point), point);
    for (size_t c = 0; c < 8; ++c) weights[tie.nodes[c]] += tie.weights[c];
    return weights;
  }
  for (int n = 0; n < 27; ++n) {
    const Vec3i cell = own + Vec3i(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1);
    const Vec3d from = at - cell.cast<double>() - Vec3d::Constant(0.5);
    const double share = spline(from[0]) * spline(from[1]) * spline(from[2]);
    if (!(share > 0) || !solid.lattice.has_cell(cell)) continue;
    // The cell's trilinear map, as a polynomial that goes on beyond its sides.
    const auto& corners =
        mesh.corners[static_cast<size_t>(mesh.cell_number(solid.lattice.place(cell)))];
    const Vec3d high = from + Vec3d::Constant(0.5), low = Vec3d::Ones() - high;
    for (size_t c = 0; c < 8; ++c)
      weights[corners[c]] += share * ((c & 1) != 0 ? high[0] : low[0]) *
                             ((c & 2) != 0 ? high[1] : low[1]) * ((c & 4) != 0 ? high[2] : low[2]);
    total += share;
  }
  for (auto& [node, weight] : weights) weight /= total;
  return weights;
}

}  // namespace

SmoothEmbedding::SmoothEmbedding(const SolidLattice& solid, const LatticeMesh& mesh,
                                 std::span<const Vec3f> points) {
  std::vector<std::vector<Entry>> entries(points.size());
  parallel_for(points.size(), 256, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      for (const auto& [node, weight] : weights_of(solid, mesh, points[i].cast<double>()))
        entries[i].push_back({node, static_cast<float>(weight)});
  });
  for (const auto& of_point : entries) {
    m_entries.insert(m_entries.end(), of_point.begin(), of_point.end());
    m_offsets.push_back(static_cast<uint32_t>(m_entries.size()));
  }
}

void SmoothEmbedding::interpolate(std::span<const Vec3d> nodes, std::span<Vec3f> out) const {
  parallel_for(size(), 1024, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      Vec3d sum = Vec3d::Zero();
      for (uint32_t e = m_offsets[i]; e < m_offsets[i + 1]; ++e)
        sum += static_cast<double>(m_entries[e].weight) *
               nodes[static_cast<size_t>(m_entries[e].node)];
      out[i] = sum.cast<float>();
    }
  });
}

}  // namespace supple
