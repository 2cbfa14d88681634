#include "supple/surface/volume_constraint.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "supple/core/parallel.h"
#include "supple/mesh/triangle_mesh.h"
#include "supple/surface/volume_kernels.h"

namespace supple {
namespace {

constexpr uint32_t block_vertices = 2048;

// Marks the shells of edges that are not between exactly two triangles with opposite directions.
void open_shells(std::span<const Vec3i> triangles, std::span<const uint32_t> shell_of,
                 std::vector<VolumeShell>& shells) {
  struct Edge {
    int32_t low, high;
    int32_t turn;
    auto operator<=>(const Edge&) const = default;  // NOLINT(modernize-use-nullptr)
  };
  std::vector<Edge> edges;
  edges.reserve(3 * triangles.size());
  for (const Vec3i& t : triangles)
    for (int k = 0; k < 3; ++k) {
      const int32_t a = t[k], b = t[(k + 1) % 3];
      if (a != b) edges.push_back({std::min(a, b), std::max(a, b), a < b ? 1 : -1});
    }
  std::sort(edges.begin(), edges.end());
  for (size_t i = 0; i < edges.size();) {
    size_t end = i;
    int32_t turns = 0;
    for (; end < edges.size() && edges[end].low == edges[i].low && edges[end].high == edges[i].high;
         ++end)
      turns += edges[end].turn;
    if (end - i != 2 || turns != 0)
      shells[shell_of[static_cast<size_t>(edges[i].low)]].closed = false;
    i = end;
  }
}

}  // namespace

std::vector<int32_t> shell_order(size_t vertices, std::span<const Vec3i> triangles) {
  const VertexLists neighbours = vertex_neighbours(vertices, triangles);
  std::vector<int32_t> order;
  std::vector<uint8_t> seen(vertices, 0);
  for (size_t v = 0; v < vertices; ++v) {
    if (seen[v] || neighbours.of(v).empty()) continue;
    const size_t begin = order.size();
    order.push_back(static_cast<int32_t>(v));
    seen[v] = 1;
    for (size_t i = begin; i < order.size(); ++i)
      for (const int32_t next : neighbours.of(static_cast<size_t>(order[i])))
        if (!seen[static_cast<size_t>(next)]) {
          seen[static_cast<size_t>(next)] = 1;
          order.push_back(next);
        }
    std::sort(order.begin() + static_cast<ptrdiff_t>(begin), order.end());
  }
  return order;
}

VolumeSurface::VolumeSurface(std::span<const Vec3f> positions, std::span<const Vec3i> mesh,
                             std::span<const int32_t> order) {
  std::vector<int32_t> place_of(positions.size(), -1);
  std::vector<Vec3f> placed;
  for (size_t i = 0; i < order.size(); ++i) {
    place_of[static_cast<size_t>(order[i])] = static_cast<int32_t>(i);
    placed.push_back(positions[static_cast<size_t>(order[i])]);
  }
  std::vector<Vec3i> triangles;
  for (const Vec3i& t : mesh) {
    Vec3i& to = triangles.emplace_back();
    for (int k = 0; k < 3; ++k) to[k] = place_of[static_cast<size_t>(t[k])];
  }
  fans = vertex_fans(order.size(), triangles);

  // Shells by their furthest vertex: a shell ends where no vertex before has a neighbour behind.
  const VertexLists neighbours = vertex_neighbours(order.size(), triangles);
  std::vector<uint32_t> shell_of(order.size());
  uint32_t furthest = 0;
  for (uint32_t i = 0; i < order.size(); ++i) {
    if (shells.empty() || i > furthest) shells.push_back({i, i, true, 0});
    furthest = std::max(furthest, i);
    for (const int32_t next : neighbours.of(i))
      furthest = std::max(furthest, static_cast<uint32_t>(next));
    shells.back().end = i + 1;
    shell_of[i] = static_cast<uint32_t>(shells.size() - 1);
  }
  open_shells(triangles, shell_of, shells);

  std::vector<Vec3d> centre(shells.size());
  std::vector<double> size(shells.size());
  for (size_t s = 0; s < shells.size(); ++s) {
    const Box3f box =
        bounding_box(std::span(placed).subspan(shells[s].begin, shells[s].end - shells[s].begin));
    centre[s] = box.center().cast<double>();
    size[s] = static_cast<double>(box.sizes().maxCoeff());
  }
  for (const Vec3i& t : triangles) {
    const uint32_t s = shell_of[static_cast<size_t>(t[0])];
    std::array<Vec3d, 3> p;
    for (size_t k = 0; k < 3; ++k)
      p[k] = placed[static_cast<size_t>(t[static_cast<int>(k)])].cast<double>() - centre[s];
    shells[s].rest_volume += p[0].dot(p[1].cross(p[2])) / 6;
  }
  for (size_t s = 0; s < shells.size(); ++s)
    if (!(std::abs(shells[s].rest_volume) > 1e-6 * size[s] * size[s] * size[s]))
      shells[s].closed = false;
}

VolumeConstraint::VolumeConstraint(const VolumeSurface& surface) : m_surface(surface) {
  const size_t count = surface.fans.offsets.size() - 1, shells = surface.shells.size();
  for (uint32_t s = 0; s < shells; ++s) {
    const VolumeShell& shell = surface.shells[s];
    if (shell.closed)
      for (uint32_t b = shell.begin; b < shell.end; b += block_vertices)
        m_blocks.push_back({b, std::min(shell.end, b + block_vertices), s});
    m_kept.push_back(shell.closed ? 1 : 0);
  }
  m_active = m_kept;
  m_gradients.assign(count, Vec3f::Zero());
  m_centres.assign(shells, Vec3f::Zero());
  m_volumes.assign(shells, 0);
  m_squares.assign(shells, 0);
  m_factors.assign(shells, 0);
  m_sums.assign(2 * m_blocks.size(), 0);
}

void VolumeConstraint::keep(std::span<const uint8_t> shells) {
  for (size_t s = 0; s < m_kept.size(); ++s)
    m_kept[s] = m_surface.shells[s].closed && shells[s] != 0 ? 1 : 0;
}

void VolumeConstraint::measure(std::span<const Vec3f> positions, std::span<const float> weights) {
  const float* x = positions.data()->data();
  float* n = m_gradients.data()->data();
  parallel_for(m_blocks.size(), 1, [&](size_t begin, size_t end) {
    for (size_t b = begin; b < end; ++b) {
      const Block& block = m_blocks[b];
      if (!m_active[block.shell]) continue;
      fan_gradients(m_surface.fans.offsets.data(), m_surface.fans.items.data(), x, n, block.begin,
                    block.end);
      const VolumeSums sums =
          volume_sums(x, n, weights.data(), m_centres[block.shell].data(), block.begin, block.end);
      m_sums[2 * b] = sums.along;
      m_sums[2 * b + 1] = sums.squares;
    }
  });
  for (size_t s = 0; s < m_active.size(); ++s)
    if (m_active[s]) m_volumes[s] = m_squares[s] = 0;
  for (size_t b = 0; b < m_blocks.size(); ++b) {
    const uint32_t s = m_blocks[b].shell;
    if (!m_active[s]) continue;
    // 3 V = Σ xᵢ · n̄ᵢ / 3 [Diziol 2011, eq. 8].
    m_volumes[s] += m_sums[2 * b] / 9;
    m_squares[s] += m_sums[2 * b + 1];
  }
}

VolumeReport VolumeConstraint::correct_positions(std::span<Vec3f> positions,
                                                 std::span<const float> weights,
                                                 const VolumeOptions& options) {
  VolumeReport report;
  if (m_blocks.empty()) return report;
  m_active = m_kept;
  for (size_t s = 0; s < m_active.size(); ++s) m_centres[s] = positions[m_surface.shells[s].begin];
  for (;;) {
    measure(positions, weights);
    double worst = 0;
    bool any = false;
    for (size_t s = 0; s < m_active.size(); ++s) {
      if (!m_active[s]) continue;
      const double rest = m_surface.shells[s].rest_volume;
      const double error = std::abs(m_volumes[s] - rest) / std::abs(rest);
      worst = std::max(worst, error);
      // Δx = -w C n̄ / Σ w n̄², C = 3 V - 3 V₀ [Diziol 2011, eq. 7].
      m_factors[s] = m_squares[s] > 0 ? -3 * (m_volumes[s] - rest) / m_squares[s] : 0;
      m_active[s] = error > options.tolerance && m_factors[s] != 0 ? 1 : 0;
      any = any || m_active[s];
    }
    if (report.iterations == 0) report.before = worst;
    report.error = worst;
    if (!any || report.iterations == options.iterations) break;
    ++report.iterations;
    parallel_for(m_blocks.size(), 1, [&](size_t begin, size_t end) {
      for (size_t b = begin; b < end; ++b) {
        const Block& block = m_blocks[b];
        if (!m_active[block.shell]) continue;
        // Where there is hardly a gradient, steps along it must end somewhere.
        const double limit = std::cbrt(std::abs(m_surface.shells[block.shell].rest_volume)) / 4;
        follow_gradients(positions.data()->data(), m_gradients.data()->data(), weights.data(),
                         static_cast<float>(std::clamp(m_factors[block.shell], -1e30, 1e30)),
                         static_cast<float>(limit), block.begin, block.end);
      }
    });
  }
  return report;
}

double VolumeConstraint::correct_velocities(std::span<Vec3f> velocities,
                                            std::span<const float> weights) {
  if (m_blocks.empty()) return 0;
  const float zero[3] = {};
  float* v = velocities.data()->data();
  const float* n = m_gradients.data()->data();
  parallel_for(m_blocks.size(), 1, [&](size_t begin, size_t end) {
    for (size_t b = begin; b < end; ++b) {
      const Block& block = m_blocks[b];
      if (!m_kept[block.shell]) continue;
      const VolumeSums sums = volume_sums(v, n, weights.data(), zero, block.begin, block.end);
      m_sums[2 * b] = sums.along;
      m_sums[2 * b + 1] = sums.squares;
    }
  });
  std::vector<double>& rates = m_factors;
  std::fill(rates.begin(), rates.end(), 0.0);
  std::fill(m_squares.begin(), m_squares.end(), 0.0);
  for (size_t b = 0; b < m_blocks.size(); ++b)
    if (m_kept[m_blocks[b].shell]) {
      rates[m_blocks[b].shell] += m_sums[2 * b];
      m_squares[m_blocks[b].shell] += m_sums[2 * b + 1];
    }
  double worst = 0;
  for (size_t s = 0; s < rates.size(); ++s) {
    // dV/dt = Σ vᵢ · n̄ᵢ / 3.
    if (m_kept[s])
      worst = std::max(worst, std::abs(rates[s] / 3 / m_surface.shells[s].rest_volume));
    rates[s] = m_squares[s] > 0 ? -rates[s] / m_squares[s] : 0;
  }
  parallel_for(m_blocks.size(), 1, [&](size_t begin, size_t end) {
    for (size_t b = begin; b < end; ++b) {
      const Block& block = m_blocks[b];
      if (!m_kept[block.shell]) continue;
      follow_gradients(v, n, weights.data(),
                       static_cast<float>(std::clamp(rates[block.shell], -1e30, 1e30)), 1e15f,
                       block.begin, block.end);
    }
  });
  return worst;
}

}  // namespace supple
