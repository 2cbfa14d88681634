// The volume of a skin that moves with the nodes of a body, whatever that body is: vertices are
// weighted sums of nodes, and nodes are moved along the gradient of the volume [Diziol 2011,
// eq. 5 to 9], global and per closed shell. See volume_constraint.h for surfaces that are their
// own nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "supple/surface/volume_constraint.h"

namespace supple {

/// How much of a node goes into a vertex.
struct NodeShare {
  int32_t node = 0;
  double weight = 0;
};

/// The vertices of a skin as sums of nodes.
struct NodeShares {
  std::vector<uint32_t> offsets{0};  ///< first share of every vertex, and the total
  std::vector<NodeShare> shares;

  /// Adds the next vertex.
  template <class Nodes, class Weights>
  void add(const Nodes& nodes, const Weights& weights) {
    for (size_t k = 0; k < nodes.size(); ++k)
      shares.push_back({static_cast<int32_t>(nodes[k]), static_cast<double>(weights[k])});
    offsets.push_back(static_cast<uint32_t>(shares.size()));
  }
};

/// Keeps the volume of a skin by moving nodes.
class EmbeddedVolume {
 public:
  EmbeddedVolume() = default;
  /// Takes a welded skin at rest (metres) and its vertices as sums of nodes. Closed shells of less
  /// than a hundredth of all the volume are left out.
  EmbeddedVolume(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                 const NodeShares& shares, size_t nodes);

  /// Whether there is a volume to keep.
  bool empty() const { return m_shells.empty(); }

  /// Moves nodes (metres) until every shell has its volume at rest to the tolerance; nodes that are
  /// held (not 0; one per node or none at all) stay.
  VolumeReport correct_positions(std::span<Vec3d> nodes, std::span<const uint8_t> held,
                                 const VolumeOptions& options);

  /// Changes velocities of nodes such that no shell's volume is about to change. Comes after
  /// correct_positions. Returns the largest rate |dV/dt| / V₀ there was, per second.
  double correct_velocities(std::span<Vec3d> velocities, std::span<const uint8_t> held);

 private:
  // A closed shell.
  struct Shell {
    double rest_volume = 0, volume = 0;
    std::vector<uint32_t> fan_offsets;
    std::vector<int32_t> fans;            // of the shell's own points
    NodeShares shares;                    // of these
    std::vector<int32_t> nodes;           // that have a share in them
    std::vector<uint32_t> point_offsets;  // first of the points of every such node, and the total
    std::vector<NodeShare> points;        // `node` is a point here
    std::vector<Vec3f> positions, gradients;
    std::vector<Vec3d> slopes;  // of 3 V, per node
  };

  static Shell make_shell(const VolumeSurface& surface, const VolumeShell& part,
                          const NodeShares& shares, std::span<const int32_t> order, size_t nodes);
  static void measure(Shell& shell, std::span<const Vec3d> nodes);
  static bool is_held(const Shell& shell, size_t k, std::span<const uint8_t> held) {
    return !held.empty() && held[static_cast<size_t>(shell.nodes[k])] != 0;
  }

  std::vector<Shell> m_shells;
};

}  // namespace supple
