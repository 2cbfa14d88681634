// The project's own test assets, made in code: small glTF files that together use every feature of
// skins, morph targets, animations and accessors that the readers must know.
//
// All are valid glTF 2.0 (checked with the Khronos validator) and the same bytes on every call.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/gltf_builder.h"

namespace supple::test {

/// A test asset: the .glb, and the document and buffer it was made of, for other packagings.
struct GltfSample {
  std::string name;
  std::vector<std::byte> bytes;  ///< of the .glb
  nlohmann::json document;       ///< without "buffers"
  std::vector<std::byte> binary;
};

/// A closed tube of 194 vertices, 2 m high, on 3 joints in centimetres under an armature that turns
/// z up into y up and scales by 0.01. At rest it is in its bind pose. One clip, "bend", from 0 to
/// 2 s: LINEAR rotation with a change of sign, CUBICSPLINE translation, STEP scale.
GltfSample rigged_tube();

/// A tube on a chain of 10 joints, 8 influences: JOINTS_0/1 ushort, WEIGHTS_0 normalised ushort,
/// WEIGHTS_1 normalised ubyte. One clip, "curl": CUBICSPLINE and LINEAR rotations.
GltfSample eight_influences();

/// A cube with 2 morph targets and sparse accessors (with and without buffer view, also POSITION)
/// on two nodes, one with weights of its own. Clips "linear" and "spline" move the weights.
GltfSample morph_cube();

/// Two skins (one without inverse bind matrices), ubyte, ushort and uint indices, a non-indexed
/// strip, a fan, a rigid mesh on a joint, a mesh on two nodes (one mirrored, one with a matrix), a
/// default scene that is not the first, node order unlike index order. Clips "nod", "swing".
GltfSample many_parts();

/// A tube whose joints are bent and scaled in the node tree but straight in the bind pose. One
/// clip, "straighten", that ends in the bind pose.
GltfSample rest_differs_from_bind();

/// A skinned cube with 24 vertices at 8 positions, normals and texture coordinates. Clip "bend".
GltfSample split_seams();

/// KHR_mesh_quantization: int8, uint8 and int16 normalised and uint16 plain positions, int8 morph
/// deltas, a skinned int16 mesh, and a clip, "turn", of normalised int16 quaternions.
GltfSample quantized_positions();

/// All of them.
std::vector<GltfSample> gltf_samples();

}  // namespace supple::test
