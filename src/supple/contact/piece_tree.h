// The closest of many pieces of skin.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "supple/contact/box_tree.h"
#include "supple/contact/skin_surface.h"

namespace supple {

/// The closest point of some pieces.
struct ClosestPiece {
  int32_t piece = -1;           ///< its number, or -1 when none is within reach
  Vec3d point = Vec3d::Zero();  ///< in metres
  double distance = std::numeric_limits<double>::infinity();  ///< in metres
};

/// Pieces of skin found by points near them; const calls may be made from many threads.
class PieceTree {
 public:
  /// For some pieces of a surface (in metres); `pieces` must outlive the tree.
  PieceTree(std::span<const SkinPiece> pieces, std::vector<int32_t> chosen);

  /// The closest point of the chosen pieces within `reach` (in metres) of a finite point; of
  /// several that are equally close, that of the piece with the lowest number.
  ClosestPiece closest(const Vec3d& point,
                       double reach = std::numeric_limits<double>::infinity()) const;

  /// Whether there are no pieces.
  bool empty() const { return m_chosen.empty(); }

 private:
  std::span<const SkinPiece> m_pieces;
  std::vector<int32_t> m_chosen;
  BoxTree m_tree;
};

}  // namespace supple
