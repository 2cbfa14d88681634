// A tree of boxes: which boxes lie within a distance of a point, and which overlap each other.
// Embree's hierarchy of bounding volumes underneath; all of Embree is used from here.
//
// Embree works in single precision: boxes are rounded outwards and searches reach a little further
// than asked, so that no box is missed. Boxes a little beyond the distance may be visited too, in
// an order that is not fixed: callers decide exactly, and independently of the order.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "supple/math/types.h"

namespace supple {

/// Boxes with numbers from 0, found by points near them.
class BoxTree {
 public:
  /// A tree of `count` boxes, all at the origin until they are set.
  explicit BoxTree(size_t count);
  ~BoxTree();
  BoxTree(BoxTree&&) noexcept;
  BoxTree& operator=(BoxTree&&) noexcept;

  /// Number of boxes.
  size_t size() const;

  /// Sets a box (in metres). Different boxes may be set at the same time; one that is empty, not
  /// finite or beyond 1e15 m is not found.
  void set(size_t item, const Box3d& box);

  /// Takes the boxes over by building the tree anew; about a microsecond per box.
  void update();

  /// What to do with a box that is found: gets its number, returns how far to search from now on
  /// (in metres), at most as far as before.
  using Visit = double (*)(void* context, uint32_t item);

  /// Visits all boxes within `radius` (in metres, may be infinite) of a point with coordinates
  /// below 1e15 m. Many threads may search at the same time.
  void search(const Vec3d& point, double radius, void* context, Visit visit) const;

  /// Two boxes that overlap: the lower number, then the higher one.
  using Pair = std::pair<uint32_t, uint32_t>;

  /// Whether a pair is wanted; asked on many threads at the same time.
  using Wanted = bool (*)(const void* context, uint32_t first, uint32_t second);

  /// All pairs of boxes that overlap and are wanted, in an order that is not fixed.
  void overlaps(const void* context, Wanted wanted, std::vector<Pair>& out) const;

 private:
  struct Scene;
  std::unique_ptr<Scene> m_scene;
};

}  // namespace supple
