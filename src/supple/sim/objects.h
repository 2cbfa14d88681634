// Scenes of many objects: their meshes, copied and put in place, become the skin of one character,
// so that caches, exports and the page take them as any other.
#pragma once

#include <span>

#include "supple/rig/character.h"
#include "supple/sim/scene.h"

namespace supple {

/// The meshes of one entry of a scene's objects, in its own space and units.
struct ObjectModel {
  Character shown;      ///< what is seen
  TriangleMesh coarse;  ///< what is simulated instead; empty when that is the same
};

/// Puts all copies of all objects in place, one part of the skin for each part of a copy, and says
/// in `scene.placed` which vertices are whose. Throws an input error naming `file` for copies that
/// are no whole numbers, axes of no length, objects without triangles, and more than 2^24 vertices.
Character pack_objects(Scene& scene, std::span<const ObjectModel> models, const std::string& file);

/// How a copy is turned and shifted from its own space to where it begins; `copy` counts x first.
Affine placement(const ObjectSettings& settings, const Box3f& box, int copy);

}  // namespace supple
