#include "supple/contact/piece_tree.h"

#include <cmath>
#include <utility>

namespace supple {
namespace {

// Points further away are looked for from this near.
constexpr double farthest = 1e12;

// The best piece of a search so far.
struct Best {
  std::span<const SkinPiece> pieces;
  std::span<const int32_t> chosen;
  Vec3d point;
  double reach;
  double squared = std::numeric_limits<double>::infinity();
  int32_t piece = -1;
  Vec3d at = Vec3d::Zero();

  double consider(uint32_t item) {
    const int32_t number = chosen[item];
    const TriangleCorners& corners = pieces[static_cast<size_t>(number)].corners;
    const Vec3d closest = at_weights(corners, closest_weights(corners, point));
    const double away = (closest - point).squaredNorm();
    if (away < squared || (away == squared && number < piece)) {
      squared = away;
      piece = number;
      at = closest;
    }
    return std::min(reach, std::sqrt(squared));
  }
};

}  // namespace

PieceTree::PieceTree(std::span<const SkinPiece> pieces, std::vector<int32_t> chosen)
    : m_pieces(pieces), m_chosen(std::move(chosen)), m_tree(m_chosen.size()) {
  for (size_t i = 0; i < m_chosen.size(); ++i) {
    Box3d box;
    for (const Vec3d& corner : m_pieces[static_cast<size_t>(m_chosen[i])].corners)
      box.extend(corner);
    m_tree.set(i, box);
  }
  m_tree.update();
}

ClosestPiece PieceTree::closest(const Vec3d& point, double reach) const {
  const Vec3d from = point.cwiseMax(-farthest).cwiseMin(farthest);
  Best best{m_pieces, m_chosen, from, reach};
  m_tree.search(from, reach, &best, [](void* context, uint32_t item) {
    return static_cast<Best*>(context)->consider(item);
  });
  ClosestPiece result;
  if (best.piece < 0 || !(std::sqrt(best.squared) <= reach)) return result;
  result.piece = best.piece;
  result.point = best.at;
  result.distance = (best.at - point).stableNorm();
  return result;
}

}  // namespace supple
