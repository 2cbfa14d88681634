// A bar of two bones, for tests of flesh on a rig.
#pragma once

#include <algorithm>
#include <numbers>
#include <tuple>

#include "supple/rig/character.h"
#include "supple/sim/body.h"
#include "supple/sim/session.h"
#include "supple/sim/shape.h"

namespace supple::test {

/// A bar along y from -0.5 to 0.5, of two bones that meet in the middle, `scale` times as large.
inline Character two_bones(double scale = 1, double width = 0.2) {
  ShapeSettings shape;
  shape.type = ShapeType::box;
  shape.size = {width, 1, width};
  shape.edge = 0.04;
  Character bar = character_from_shape(shape, "s.json");
  bar.skeleton.joints.clear();
  for (const auto& [name, parent, y] :
       {std::tuple{"lower", -1, -0.5}, {"upper", 0, 0.5}, {"tip", 1, 0.5}}) {
    Joint joint;
    joint.name = name;
    joint.parent = parent;
    joint.rest.translation = scale * Vec3d(0, y, 0);
    joint.is_bone = true;
    bar.skeleton.joints.push_back(joint);
  }
  bar.binds = {{0, Affine(Eigen::Translation3d(0, 0.5 * scale, 0))},
               {1, Affine(Eigen::Translation3d(0, 0, 0))}};
  bar.weights = {};
  for (Vec3f& p : bar.skin.positions) {
    const float upper = std::clamp(0.5f + 4 * p[1], 0.0f, 1.0f);
    const Influence both[] = {{0, 1 - upper}, {1, upper}};
    bar.weights.add_vertex(both, 0);
    p *= static_cast<float>(scale);
  }
  for (Part& part : bar.parts) part.rigid = false;
  return bar;
}

/// The upper bone bent by an angle in degrees about x, and turned about y.
inline Drive pose(const Character& character, int frame, double bend, double turn = 0) {
  constexpr double degree = std::numbers::pi / 180;
  Drive drive;
  drive.frame = frame;
  drive.time = (frame - 1) / 24.0;
  drive.pose = rest_pose(character);
  drive.pose.local[1].rotation = Eigen::AngleAxisd(turn * degree, Vec3d::UnitY()) *
                                 Eigen::AngleAxisd(bend * degree, Vec3d::UnitX());
  drive.joints = global_matrices(character.skeleton, drive.pose);
  return drive;
}

/// A lattice of so many cells along a bar that is a metre long.
inline BodySettings bar_settings(int cells) {
  BodySettings s;
  s.type = "lattice";
  s.cells = cells;
  s.size = 1;
  return s;
}

/// A hundred frames.
inline FrameRange hundred_frames() {
  FrameRange range;
  range.last = 100;
  return range;
}

}  // namespace supple::test
