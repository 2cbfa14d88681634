#include "supple/mesh/skin_solid.h"

#include <algorithm>

#include "supple/mesh/voxel_grid.h"

namespace supple {
namespace {

// Closed shells need no more than whole numbers; with shells that have holes, errors of 0.001 are
// small enough not to take flat sheets for solids.
constexpr double accuracies[2] = {3, 6};

WindingNumber layer(const TriangleMesh& skin, std::span<const uint8_t> open, uint8_t which) {
  std::vector<Vec3i> chosen;
  for (size_t t = 0; t < skin.triangles.size(); ++t)
    if (open[t] == which) chosen.push_back(skin.triangles[t]);
  return WindingNumber(skin.positions, chosen, accuracies[which]);
}

}  // namespace

SkinSolid::SkinSolid(const TriangleMesh& skin)
    : m_open(triangles_of_open_shells(skin.positions, skin.triangles)),
      m_any{std::find(m_open.begin(), m_open.end(), 0) != m_open.end(),
            std::find(m_open.begin(), m_open.end(), 1) != m_open.end()},
      m_layers{layer(skin, m_open, 0), layer(skin, m_open, 1)} {}

bool SkinSolid::reaches_into(const std::array<Vec3d, 4>& corners) const {
  const std::array<double, 2> middle =
      winding((corners[0] + corners[1] + corners[2] + corners[3]) / 4);
  if (inside(middle)) return true;
  // Winding numbers change by less than this between middle and corners.
  if (closed() || std::abs(middle[1]) < least_open - 0.3) return false;
  return std::any_of(corners.begin(), corners.end(),
                     [&](const Vec3d& corner) { return inside(corner); });
}

std::array<double, 2> SkinSolid::winding(const Vec3d& point) const {
  return {m_any[0] ? m_layers[0].at(point) : 0, open_winding(point)};
}

}  // namespace supple
