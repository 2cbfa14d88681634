// A skin in motion as glTF morph targets: base, shapes and normals, and how they go into a
// primitive.
#pragma once

#include "supple/io/frame_basis.h"
#include "supple/io/gltf_document.h"
#include "supple/io/skin_normals.h"

namespace supple {

/// Positions and normals as base + Σ weight · shape.
struct BakedShapes {
  FrameBasis positions;
  std::vector<Vec3f> base_normals;                ///< never zero, of any length
  std::vector<std::vector<Vec3f>> normal_shapes;  ///< changes of the normals, one list per shape
};

/// Bakes the frames of a skin into at most `most_shapes` shapes.
BakedShapes bake_shapes(const AnimatedSkin& skin, const SkinNormals& normals, int most_shapes,
                        const std::function<void(int, int)>& progress);

/// Replaces what moves in a primitive by the shapes of `part`: positions, normals and morph
/// targets, brought into the primitive's space by `to_local`. Joints, weights and tangents go.
void bake_primitive(GltfDocument& document, Json& primitive, const Part& part,
                    const BakedShapes& baked, const Affine& to_local);

}  // namespace supple
