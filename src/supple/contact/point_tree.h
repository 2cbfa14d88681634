// A tree of boxes around points that move: which of them are near something that can tell its
// distance, without asking for each.
//
// The order of the points is settled once, from where they are at first; boxes follow them. Points
// of a body that bends stay near their neighbours, so that its boxes stay small.
#pragma once

#include <span>
#include <vector>

#include "supple/contact/collider.h"

namespace supple {

/// Points found by their distance from rigid objects.
class PointTree {
 public:
  /// A tree for points that are here (m) at first.
  explicit PointTree(std::span<const Vec3d> points);

  /// Takes over where the points are now (m), as many as at first.
  void refit(std::span<const Vec3d> points);

  /// Adds the numbers of points to `out`, in no order, whose distance by the collider is less than
  /// `reach` (m); those of them that are truly further away may be left out. `points` are those of
  /// the last refit, and `placed` takes them to the world. Returns how many distances were asked
  /// for.
  size_t find_near(const Collider& collider, std::span<const Vec3d> points, double reach,
                   std::vector<int32_t>& out, const Affine& placed = Affine::Identity()) const;

  /// The box around all points, m.
  Box3d box() const { return m_nodes.empty() ? Box3d() : m_nodes[0].box; }

 private:
  // A part of m_order. Its first half is the next node, its second half `second`, after both comes
  // `past`; leaves have no second half.
  struct Node {
    Box3d box;
    int32_t begin = 0, end = 0;
    int32_t second = -1;
    int32_t past = 0;
  };

  void split(std::span<const Vec3d> points, int32_t begin, int32_t end);

  std::vector<int32_t> m_order;
  std::vector<Node> m_nodes;  // parents first
};

}  // namespace supple
