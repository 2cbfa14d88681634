// Closed surfaces that keep their volume [Diziol 2011, section 5]: corrections of positions and
// velocities along the gradient of the volume, weighted per vertex. Works on plain arrays, and with
// any way to simulate what is inside.
//
// The gradient of C = 3 V - 3 V₀ is n̄ᵢ, the sum of the area vectors of the triangles at a vertex;
// it is printed as n̄ᵢ / 3, with which corrections overshoot threefold and diverge.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "supple/surface/surface_paths.h"

namespace supple {

/// Vertices that hang together by triangles.
struct VolumeShell {
  uint32_t begin = 0, end = 0;  ///< vertices
  bool closed = false;          ///< whether it encloses a volume
  double rest_volume = 0;       ///< m³, as kept; of closed shells
};

/// A surface whose shells' vertices lie side by side, and which of them enclose a volume: those
/// without open, crowded or misoriented edges, whose volume is not zero.
struct VolumeSurface {
  VolumeSurface() = default;
  /// `order` are the vertices in the order they shall have, shell after shell (numbers of
  /// `positions`, in metres, which `triangles` use too).
  VolumeSurface(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                std::span<const int32_t> order);

  VertexLists fans;  ///< as vertex_fans, in the new order
  std::vector<VolumeShell> shells;
};

/// Puts the vertices that triangles use in an order with shells side by side, for surfaces that are
/// in no such order: the number of each in the mesh.
std::vector<int32_t> shell_order(size_t vertices, std::span<const Vec3i> triangles);

/// How a correction ended.
struct VolumeReport {
  double error = 0;    ///< largest |V - V₀| / V₀ of a kept shell that is left
  double before = 0;   ///< largest there was
  int iterations = 0;  ///< corrections made
};

/// How a correction of positions is made.
struct VolumeOptions {
  double tolerance = 1e-4;  ///< part of the volume that may be wrong
  int iterations = 8;       ///< corrections at most
};

/// Keeps volumes; holds what a step needs and throws away. The surface must outlive it.
class VolumeConstraint {
 public:
  explicit VolumeConstraint(const VolumeSurface& surface);

  /// Which shells are kept, all closed ones at first; others are not touched.
  void keep(std::span<const uint8_t> shells);

  /// Moves vertices along the volume's gradient until all kept shells have their volume again
  /// [eq. 7]. `positions` (metres) are followed by one more entry, which is read and not used;
  /// `weights` say how much vertices take part, 0 holds them still.
  VolumeReport correct_positions(std::span<Vec3f> positions, std::span<const float> weights,
                                 const VolumeOptions& options);

  /// Changes velocities such that no kept shell's volume is about to change [eq. 9], with the
  /// gradient the last correction of positions ended with. Returns the largest rate of change
  /// |dV/dt| / V₀ there was, per second.
  double correct_velocities(std::span<Vec3f> velocities, std::span<const float> weights);

  /// The gradients n̄ of the last correction, in m².
  std::span<const Vec3f> gradients() const { return m_gradients; }

  /// Volumes at the positions of the last correction's end, in m³, shell by shell.
  std::span<const double> volumes() const { return m_volumes; }

 private:
  struct Block {
    uint32_t begin, end, shell;
  };
  // Gradients, volumes and the squared lengths of the gradients of all shells still at work.
  void measure(std::span<const Vec3f> positions, std::span<const float> weights);

  const VolumeSurface& m_surface;
  std::vector<Block> m_blocks;
  std::vector<uint8_t> m_kept, m_active;  // per shell
  std::vector<Vec3f> m_gradients, m_centres;
  std::vector<double> m_volumes, m_squares, m_factors;  // per shell
  std::vector<double> m_sums;                           // two per block
};

}  // namespace supple
