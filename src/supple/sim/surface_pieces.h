// What a body of surfaces is built from: the skin of a character, or the objects of a scene, welded
// and with the settings of each.
#pragma once

#include "supple/contact/surface_contact.h"
#include "supple/rig/character.h"
#include "supple/sim/scene.h"
#include "supple/surface/surface_model.h"

namespace supple {

/// One object: its welded mesh at rest, where it begins, and how it behaves.
struct SurfacePiece {
  TriangleMesh mesh;  ///< metres of the scene
  SurfaceParameters parameters;
  SurfaceTouch touch;
  double density = 1000;           ///< kg/m³
  Vec3d velocity = Vec3d::Zero();  ///< at the start, m/s
  Vec3d spin = Vec3d::Zero();      ///< at the start, rad/s
  ObjectStart start = ObjectStart::rest;
  int32_t first_point = 0;  ///< of all objects' points, one object after the other
  int placed = -1;          ///< of the scene's placed objects that are shown by a
                            ///< detailed mesh, or -1
};

/// All objects of a body.
struct SurfacePieces {
  /// Throws an input error naming `file` when the scene asks for something that is not possible.
  SurfacePieces(const Character& character, const Scene& scene, const std::string& file);

  std::vector<SurfacePiece> pieces;
  std::vector<int32_t> point_of_vertex;  ///< of the skin; -1 for those that follow the rig or a
                                         ///< detailed mesh's object
  std::vector<int32_t> vertex_of_point;  ///< the first, -1 for points that are not shown
  int32_t points = 0;
  bool rigged = false;

  /// The pieces as the solver takes them, with masses per point that live in `masses`.
  std::vector<SurfaceObject> objects(std::vector<std::vector<float>>& masses) const;
};

}  // namespace supple
