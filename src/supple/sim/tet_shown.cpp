#include "supple/sim/tet_shown.h"

#include "supple/rig/blend_shapes.h"

namespace supple {

TetSkinShown show_tet_skin(const Character& character, const TetModel& model,
                           const SmoothTetSkin* smooth, std::span<const Vec3d> nodes,
                           const std::vector<double>& shape_weights, std::span<const Vec3f> plain) {
  std::vector<Vec3f> points(model.ties.size());
  if (smooth)
    smooth->interpolate(nodes, points);
  else
    for (size_t p = 0; p < points.size(); ++p) points[p] = model.ties[p].of(nodes).cast<float>();
  std::vector<Vec3f> shaped = character.skin.positions;
  add_blend_shapes(character.shapes, shape_weights, shaped);
  TetSkinShown shown{std::vector<Vec3f>(shaped.size()), std::vector<float>(shaped.size(), 0)};
  for (size_t v = 0; v < shaped.size(); ++v) {
    const int32_t point = model.skin.point_of_vertex[v];
    if (point < 0) {
      shown.positions[v] = plain.empty() ? shaped[v] : plain[v];
      continue;
    }
    shown.positions[v] =
        points[static_cast<size_t>(point)] + (shaped[v] - character.skin.positions[v]);
    if (!plain.empty()) shown.distance[v] = (shown.positions[v] - plain[v]).norm();
  }
  return shown;
}

}  // namespace supple
