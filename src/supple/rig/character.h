// A rigged character as loaded: skin in its bind pose, skeleton, weights, shapes and clips.
#pragma once

#include <string>
#include <vector>

#include "supple/mesh/split_at_planes.h"
#include "supple/mesh/triangle_mesh.h"
#include "supple/rig/blend_shapes.h"
#include "supple/rig/clip.h"
#include "supple/rig/skeleton.h"
#include "supple/rig/skin_weights.h"
#include "supple/rig/skinning.h"

namespace supple {

/// A run of consecutive vertices or triangles.
struct Range {
  int32_t first = 0;
  int32_t count = 0;

  /// One past the last.
  int32_t end() const { return first + count; }
};

/// A piece of the skin with one material: one primitive of one mesh instance of the input file.
struct Part {
  std::string name;
  std::string material;
  int joint = -1;        ///< joint that carries the mesh in the input file
  int source_mesh = -1;  ///< number of the mesh in the input file
  int source_primitive = -1;
  bool rigid = false;  ///< hung on a joint instead of skinned
  Range vertices;
  Range triangles;
  int source_node = -1;  ///< number of the node that carries it in the input file
};

/// A named per-vertex value, such as a painted stiffness or a colour.
struct VertexAttribute {
  std::string name;
  int components = 1;
  std::vector<float> values;  ///< `components` per skin vertex
};

/// A rigged character. Skin vertices are those of the input file, in its order, part after part;
/// where the skin was split, those that were made follow at the end of each part. The rest shape is
/// the bind pose in model space.
struct Character {
  std::string name;
  std::string source;  ///< path of the input file
  Skeleton skeleton;
  TriangleMesh skin;
  std::vector<Part> parts;
  std::vector<Bind> binds;
  SkinWeights weights;
  std::vector<BlendShape> shapes;
  std::vector<Clip> clips;
  std::vector<VertexAttribute> attributes;
  SplitMap split_map;              ///< from the input file's skin; empty when it was not split
  std::vector<std::string> notes;  ///< what the reader had to mend or leave out, in plain words

  /// The attribute of that name, or null.
  const VertexAttribute* attribute(std::string_view name) const;

  /// The clip of that name, or null.
  const Clip* clip(std::string_view name) const;
};

/// The pose of a character without animation: rest transforms and rest weights of its shapes.
Pose rest_pose(const Character& character);

/// Whether some of the skin follows joints by weights; the rest hangs on joints rigidly.
bool is_skinned(const Character& character);

/// Gives every vertex of a character without weights to one joint, adding a root joint if there is
/// none, so that a plain mesh can be posed like any other.
void bind_rigidly(Character& character);

}  // namespace supple
