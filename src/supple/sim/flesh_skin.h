// Which of a character's skin is flesh: everything skinned, welded into one surface. Rigid meshes
// hung on bones are props: they follow their joint and are no part of the solid, unless there is
// nothing else.
#pragma once

#include "supple/rig/character.h"

namespace supple {

/// The skin around the flesh of a character at rest.
struct FleshSkin {
  explicit FleshSkin(const Character& character);

  TriangleMesh mesh;            ///< welded by position, without segments
  std::vector<Vec3i> segments;  ///< of lines, as triangles between the mesh's points
  std::vector<int32_t>
      point_of_vertex;  ///< of the character's vertices; -1 for those that follow the rig
  std::vector<int32_t> vertex_of_point;  ///< the first vertex of every welded point
  bool rigged = false;                   ///< bones move it

  /// Triangles and segments.
  std::vector<Vec3i> all_triangles() const;
};

/// How long the character's length unit is taken to be for weight and stiffness, in metres, and
/// why.
struct WorldScale {
  double metres_per_unit = 1;
  std::string reason;  ///< in words, empty when the file's lengths are taken as metres
};

/// The scale of a character whose longest side is `length` units. `size` is what the user says that
/// is in metres; 0 takes units as metres where the body then is 0.5 to 3 m long, else tries
/// centimetres, millimetres, inches and feet, else takes it for 1.7 m long.
WorldScale world_scale(double length, double size);

}  // namespace supple
