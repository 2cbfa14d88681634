// Plain solids and selections for tests of bodies.
#pragma once

#include "supple/sim/session.h"
#include "supple/sim/shape.h"

namespace supple::test {

/// A box around the origin, in metres.
inline Character box(const Vec3d& size, double edge = 0.1) {
  ShapeSettings shape;
  shape.type = ShapeType::box;
  shape.size = {size[0], size[1], size[2]};
  shape.edge = edge;
  return character_from_shape(shape, "s.json");
}

/// Frames from 1 to `count`.
inline FrameRange frames(int count) {
  FrameRange range;
  range.last = count;
  return range;
}

/// The side of a plane that its normal points to.
inline SelectSettings side(const Vec3d& point, const Vec3d& normal) {
  SelectSettings select;
  select.plane = PlaneSelection{{point[0], point[1], point[2]}, {normal[0], normal[1], normal[2]}};
  return select;
}

}  // namespace supple::test
