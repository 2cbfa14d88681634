// The volume of the skin of a body of cells or tetrahedra, kept by moving its nodes a little after
// every step [Diziol 2011, section 5].
#pragma once

#include <memory>

#include "supple/sim/flesh_model.h"
#include "supple/surface/embedded_volume.h"

namespace supple {

/// Keeps the volume of a body's skin.
class SkinVolume {
 public:
  /// Of a skin whose points are `shares` of the nodes; nodes that rig or scripts hold stay.
  SkinVolume(const FleshSkin& skin, const NodeShares& shares, std::vector<uint8_t> held);

  /// Of a body of cells.
  static std::unique_ptr<SkinVolume> of_cells(const FleshModel& model);

  /// Brings the volume back to what it was at rest (nodes in metres), and velocities (metres per
  /// second; none for a body at rest) to what does not change it. Moves are not velocities, so that
  /// nothing swings because of them.
  void keep(std::span<Vec3d> nodes, std::span<Vec3d> velocities);

 private:
  EmbeddedVolume m_volume;
  std::vector<uint8_t> m_held;
};

}  // namespace supple
