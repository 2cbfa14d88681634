// Where the vertices of an animated glTF file are, straight from the specification's formulas.
//
// The judge of the library's reader, rig and writer in tests: double precision, slow, no code of
// the library. Evaluates node trees, skins, morph targets of POSITION and animations. Does not
// handle cameras, materials, normals, compressed geometry, or extensions that move vertices.
// Rotations are normalised before use; files hold them rounded to 32 or fewer bits.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace supple::test {

class GltfDocument;

/// The vertices of one primitive of one mesh instance.
struct Part {
  int node = 0, mesh = 0, primitive = 0;   ///< indices in the file; primitive within its mesh
  std::vector<Eigen::Vector3d> positions;  ///< in scene space, in the order of the file's POSITION
  size_t triangles = 0;                    ///< drawn triangles (lists, strips and fans)
};

/// A glTF file that can be asked for its vertices at any time of any animation.
class GltfReference {
 public:
  /// Reads a .glb or .gltf file.
  explicit GltfReference(const std::filesystem::path& file);

  /// Reads a .glb, or a .gltf without external buffers, from memory.
  explicit GltfReference(std::span<const std::byte> bytes);

  /// How many animations the file has.
  size_t animation_count() const;

  /// The name of an animation, empty where it has none.
  std::string animation_name(size_t animation) const;

  /// The first key time over the channels of an animation that move a node, in seconds.
  double animation_start(size_t animation) const;

  /// The last key time over the channels of an animation that move a node, in seconds.
  double animation_end(size_t animation) const;

  /// All parts of the default scene at `time` seconds of an animation (-1: the node tree as the
  /// file has it): depth first from the scene's roots, in the order of the file's lists.
  std::vector<Part> evaluate(int animation, double time) const;

 private:
  struct Scene;
  static std::shared_ptr<const Scene> build(const GltfDocument& document);
  std::shared_ptr<const Scene> m_scene;
};

}  // namespace supple::test
