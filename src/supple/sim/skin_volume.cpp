#include "supple/sim/skin_volume.h"

#include "supple/core/log.h"

namespace supple {

SkinVolume::SkinVolume(const FleshSkin& skin, const NodeShares& shares, std::vector<uint8_t> held)
    : m_volume(skin.mesh.positions, skin.mesh.triangles, shares, held.size()),
      m_held(std::move(held)) {
  if (m_volume.empty())
    log_warning("body.volume: the skin is not closed and has no volume to keep");
}

std::unique_ptr<SkinVolume> SkinVolume::of_cells(const FleshModel& model) {
  NodeShares shares;
  for (const LatticeTie& tie : model.embedding.ties()) shares.add(tie.nodes, tie.weights);
  std::vector<uint8_t> held(model.rest.size(), 0);
  if (model.attachment)
    for (const int32_t n : model.attachment->held()) held[static_cast<size_t>(n)] = 1;
  for (const ScriptedNodes& group : model.fixed)
    for (const int32_t n : group.nodes) held[static_cast<size_t>(n)] = 1;
  return std::make_unique<SkinVolume>(model.skin, shares, std::move(held));
}

void SkinVolume::keep(std::span<Vec3d> nodes, std::span<Vec3d> velocities) {
  if (m_volume.empty()) return;
  m_volume.correct_positions(nodes, m_held, {});
  if (!velocities.empty()) m_volume.correct_velocities(velocities, m_held);
}

}  // namespace supple
