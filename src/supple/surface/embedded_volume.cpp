#include "supple/surface/embedded_volume.h"

#include <algorithm>
#include <cmath>

#include "supple/core/parallel.h"
#include "supple/surface/volume_kernels.h"

namespace supple {
namespace {

constexpr double smallest_share = 0.01;  // of a shell in all the volume
constexpr size_t block = 1024;

}  // namespace

EmbeddedVolume::EmbeddedVolume(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                               const NodeShares& shares, size_t nodes) {
  const std::vector<int32_t> order = shell_order(positions.size(), triangles);
  const VolumeSurface surface(positions, triangles, order);
  double total = 0;
  for (const VolumeShell& shell : surface.shells)
    if (shell.closed) total += std::abs(shell.rest_volume);
  for (const VolumeShell& shell : surface.shells)
    if (shell.closed && std::abs(shell.rest_volume) >= smallest_share * total)
      m_shells.push_back(make_shell(surface, shell, shares, order, nodes));
}

EmbeddedVolume::Shell EmbeddedVolume::make_shell(const VolumeSurface& surface,
                                                 const VolumeShell& part, const NodeShares& shares,
                                                 std::span<const int32_t> order, size_t nodes) {
  Shell shell;
  shell.rest_volume = part.rest_volume;
  const VertexLists& fans = surface.fans;
  shell.fan_offsets.push_back(0);
  std::vector<std::vector<NodeShare>> points_of(nodes);
  for (uint32_t i = part.begin; i < part.end; ++i) {
    for (const int32_t item : fans.of(i))
      shell.fans.push_back(item - static_cast<int32_t>(part.begin));
    shell.fan_offsets.push_back(static_cast<uint32_t>(shell.fans.size()));
    const auto v = static_cast<size_t>(order[i]);
    for (uint32_t s = shares.offsets[v]; s < shares.offsets[v + 1]; ++s) {
      shell.shares.shares.push_back(shares.shares[s]);
      points_of[static_cast<size_t>(shares.shares[s].node)].push_back(
          {static_cast<int32_t>(i - part.begin), shares.shares[s].weight});
    }
    shell.shares.offsets.push_back(static_cast<uint32_t>(shell.shares.shares.size()));
  }
  shell.point_offsets.push_back(0);
  for (size_t n = 0; n < nodes; ++n) {
    if (points_of[n].empty()) continue;
    shell.nodes.push_back(static_cast<int32_t>(n));
    shell.points.insert(shell.points.end(), points_of[n].begin(), points_of[n].end());
    shell.point_offsets.push_back(static_cast<uint32_t>(shell.points.size()));
  }
  const size_t count = part.end - part.begin;
  shell.positions.assign(count + 1, Vec3f::Zero());
  shell.gradients.assign(count + 1, Vec3f::Zero());
  shell.slopes.assign(shell.nodes.size(), Vec3d::Zero());
  return shell;
}

// Where the points are, the volume, and its slope: of every node the sum of the gradients of its
// points times its shares in them.
void EmbeddedVolume::measure(Shell& shell, std::span<const Vec3d> nodes) {
  const size_t count = shell.positions.size() - 1;
  const Vec3d origin = nodes[static_cast<size_t>(shell.nodes[0])];
  parallel_for(count, block, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      Vec3d sum = Vec3d::Zero();
      for (uint32_t s = shell.shares.offsets[i]; s < shell.shares.offsets[i + 1]; ++s) {
        const NodeShare& share = shell.shares.shares[s];
        sum += share.weight * (nodes[static_cast<size_t>(share.node)] - origin);
      }
      shell.positions[i] = sum.cast<float>();
    }
  });
  const std::vector<float> ones(count, 1.0f);
  const float zero[3] = {};
  const double along = parallel_reduce(
      count, block, 0.0,
      [&](size_t begin, size_t end) {
        fan_gradients(shell.fan_offsets.data(), shell.fans.data(), shell.positions[0].data(),
                      shell.gradients[0].data(), begin, end);
        return volume_sums(shell.positions[0].data(), shell.gradients[0].data(), ones.data(), zero,
                           begin, end)
            .along;
      },
      std::plus<>());
  shell.volume = along / 9;
  parallel_for(shell.nodes.size(), block, [&](size_t begin, size_t end) {
    for (size_t k = begin; k < end; ++k) {
      Vec3d sum = Vec3d::Zero();
      for (uint32_t p = shell.point_offsets[k]; p < shell.point_offsets[k + 1]; ++p)
        sum += shell.points[p].weight *
               shell.gradients[static_cast<size_t>(shell.points[p].node)].cast<double>();
      shell.slopes[k] = sum;
    }
  });
}

VolumeReport EmbeddedVolume::correct_positions(std::span<Vec3d> nodes,
                                               std::span<const uint8_t> held,
                                               const VolumeOptions& options) {
  VolumeReport report;
  for (int round = 0;; ++round) {
    double worst = 0;
    bool moved = false;
    for (Shell& shell : m_shells) {
      measure(shell, nodes);
      const double error = std::abs(shell.volume - shell.rest_volume) / std::abs(shell.rest_volume);
      worst = std::max(worst, error);
      if (!(error > options.tolerance) || round == options.iterations) continue;
      double squares = 0;
      for (size_t k = 0; k < shell.nodes.size(); ++k)
        if (!is_held(shell, k, held)) squares += shell.slopes[k].squaredNorm();
      if (!(squares > 0)) continue;
      const double factor = -3 * (shell.volume - shell.rest_volume) / squares;
      const double limit = std::cbrt(std::abs(shell.rest_volume)) / 4;
      for (size_t k = 0; k < shell.nodes.size(); ++k) {
        if (is_held(shell, k, held)) continue;
        const Vec3d step = factor * shell.slopes[k];
        const double length = step.norm();
        nodes[static_cast<size_t>(shell.nodes[k])] += length > limit ? limit / length * step : step;
      }
      moved = true;
    }
    if (round == 0) report.before = worst;
    report.error = worst;
    if (!moved) return report;
    ++report.iterations;
  }
}

double EmbeddedVolume::correct_velocities(std::span<Vec3d> velocities,
                                          std::span<const uint8_t> held) {
  double worst = 0;
  for (Shell& shell : m_shells) {
    double rate = 0, squares = 0;
    for (size_t k = 0; k < shell.nodes.size(); ++k) {
      rate += shell.slopes[k].dot(velocities[static_cast<size_t>(shell.nodes[k])]);
      if (!is_held(shell, k, held)) squares += shell.slopes[k].squaredNorm();
    }
    worst = std::max(worst, std::abs(rate / 3 / shell.rest_volume));
    if (!(squares > 0)) continue;
    for (size_t k = 0; k < shell.nodes.size(); ++k)
      if (!is_held(shell, k, held))
        velocities[static_cast<size_t>(shell.nodes[k])] -= rate / squares * shell.slopes[k];
  }
  return worst;
}

}  // namespace supple
