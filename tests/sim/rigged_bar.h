// Boxes as characters, for tests of bodies of tetrahedra.
#pragma once

#include "supple/mesh/primitives.h"
#include "supple/rig/character.h"

namespace supple::test {

/// A box without bones, in metres, with edges of a part of its smallest side.
inline Character box_character(const Vec3d& size, const Vec3d& centre = Vec3d::Zero(),
                               double edge = 0.2) {
  Character character;
  character.skin = box_surface(size, edge * size.minCoeff());
  for (Vec3f& p : character.skin.positions) p += centre.cast<float>();
  Part part;
  part.vertices.count = static_cast<int32_t>(character.skin.positions.size());
  part.triangles.count = static_cast<int32_t>(character.skin.triangles.size());
  character.parts.push_back(part);
  return character;
}

/// A bar along x on two joints, the second in its middle; each vertex follows the nearer one.
inline Character rigged_bar() {
  Character character = box_character({0.8, 0.16, 0.16}, {0.4, 0, 0});
  Joint root, tip;
  root.name = "root";
  root.is_bone = tip.is_bone = true;
  tip.name = "tip";
  tip.parent = 0;
  tip.rest.translation = {0.4, 0, 0};
  character.skeleton.joints = {root, tip};
  Affine inverse = Affine::Identity();
  character.binds.push_back({0, inverse});
  inverse.translation() = Vec3d(-0.4, 0, 0);
  character.binds.push_back({1, inverse});
  for (const Vec3f& p : character.skin.positions) {
    const Influence own{p[0] < 0.4f ? 0 : 1, 1};
    character.weights.add_vertex({&own, 1}, 0);
  }
  return character;
}

}  // namespace supple::test
