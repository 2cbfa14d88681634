// Fine meshes of shapes made of unit blocks, and skeletons written joint by joint.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "supple/mesh/triangle_mesh.h"
#include "supple/rig/skeleton.h"

namespace supple::test {

/// The outside of all blocks with corners (x, y, z) to (x+1, y+1, z+1), -n <= x, y, z < n, for
/// which `filled(x, y, z)`: one vertex per grid point, two outward triangles per face,
/// mirror-symmetric about x = 0 where the blocks are.
inline TriangleMesh block_mesh(int n, const std::function<bool(int, int, int)>& filled) {
  TriangleMesh mesh;
  std::map<std::array<int, 3>, int32_t> numbers;
  const auto vertex = [&](const Vec3i& p) {
    const auto [entry, is_new] = numbers.try_emplace({p[0], p[1], p[2]}, 0);
    if (is_new) {
      entry->second = static_cast<int32_t>(mesh.positions.size());
      mesh.positions.push_back(p.cast<float>());
    }
    return entry->second;
  };
  const auto at = [&](const Vec3i& p) {
    return (p.array() >= -n).all() && (p.array() < n).all() && filled(p[0], p[1], p[2]);
  };
  for (int z = -n; z < n; ++z)
    for (int y = -n; y < n; ++y)
      for (int x = -n; x < n; ++x) {
        const Vec3i p(x, y, z);
        if (!at(p)) continue;
        for (int axis = 0; axis < 3; ++axis)
          for (const int side : {0, 1}) {
            if (at(p + (2 * side - 1) * Vec3i(Vec3i::Unit(axis)))) continue;
            const Vec3i u = Vec3i::Unit((axis + 1) % 3), v = Vec3i::Unit((axis + 2) % 3);
            const Vec3i low = p + side * Vec3i(Vec3i::Unit(axis));
            std::array<int32_t, 4> q{vertex(low), vertex(low + u), vertex(low + u + v),
                                     vertex(low + v)};
            if (side == 0) std::swap(q[1], q[3]);
            mesh.triangles.emplace_back(q[0], q[1], q[2]);
            mesh.triangles.emplace_back(q[0], q[2], q[3]);
          }
      }
  return mesh;
}

/// Adds a joint at a place in model space, without rotation; returns its number.
inline int add_joint(Skeleton& skeleton, const std::string& name, const std::string& parent,
                     const Vec3d& place) {
  Joint joint;
  joint.name = name;
  joint.parent = skeleton.find(parent);
  Vec3d above = Vec3d::Zero();
  for (int j = joint.parent; j >= 0; j = skeleton.joints[static_cast<size_t>(j)].parent)
    above += skeleton.joints[static_cast<size_t>(j)].rest.translation;
  joint.rest.translation = place - above;
  skeleton.joints.push_back(joint);
  return static_cast<int>(skeleton.size()) - 1;
}

}  // namespace supple::test
