// Writes glTF documents number by number, for test assets made in code.
//
// Part of the tests' support: uses no code of the library. Knows buffers, views and accessors;
// nodes, meshes, skins and animations are written as JSON by the caller.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace supple::test {

/// glTF's componentType codes.
enum class Component {
  int8 = 5120,
  uint8 = 5121,
  int16 = 5122,
  uint16 = 5123,
  uint32 = 5125,
  float32 = 5126
};

/// How an accessor's numbers are written.
struct AccessorFormat {
  std::string type = "SCALAR";  ///< SCALAR, VEC2, VEC3, VEC4 or MAT4
  Component component = Component::float32;
  bool normalized = false;
  bool bounds = false;      ///< write min and max, as POSITION and key times need
  size_t byte_stride = 0;   ///< bytes from element to element; 0: tightly packed
  size_t byte_offset = 0;   ///< unused bytes before the first element
  bool align_rows = false;  ///< pad elements to four bytes, as vertex attributes need
};

/// The format of a vertex attribute: rows padded to four bytes.
AccessorFormat vertex_format(const std::string& type, Component component = Component::float32,
                             bool normalized = false);

/// A glTF document under construction: JSON and one buffer.
class GltfBuilder {
 public:
  GltfBuilder();

  nlohmann::json document;
  std::vector<std::byte> binary;

  /// Appends `item` to the top-level list `list` ("nodes", "meshes", ...); returns its index.
  int add(const std::string& list, nlohmann::json item);

  /// Appends an accessor of the numbers as they are stored (integers for integer components).
  int add_accessor(const std::vector<double>& numbers, const AccessorFormat& format);

  /// Appends a sparse accessor of `count` elements: `base` (empty: no buffer view, zeros), with the
  /// elements `indices` replaced by `numbers`.
  int add_sparse_accessor(size_t count, const std::vector<double>& base,
                          const std::vector<double>& indices, const std::vector<double>& numbers,
                          const AccessorFormat& format, Component index_component);

  /// Appends float positions or other triples, with bounds.
  int add_points(const std::vector<Eigen::Vector3d>& points);

  /// Appends inverse bind matrices.
  int add_matrices(const std::vector<Eigen::Matrix4d>& matrices);

  /// Appends triangle or strip indices.
  int add_indices(const std::vector<int>& indices, Component component);

  /// Appends a channel and its sampler to `animation`: key times in seconds, output numbers as they
  /// are stored (integer components are normalised).
  void add_channel(nlohmann::json& animation, int node, const std::string& path,
                   const std::string& interpolation, const std::vector<double>& times,
                   const std::vector<double>& values, const std::string& type,
                   Component component = Component::float32);

 private:
  int add_view(const std::vector<double>& numbers, const AccessorFormat& format);
};

/// A .glb file; sets the document's only buffer.
std::vector<std::byte> make_glb(nlohmann::json document, const std::vector<std::byte>& binary);

/// A .gltf file whose buffer of `byte_length` bytes is at `uri`, a path beside the file.
std::vector<std::byte> make_gltf_with_uri(nlohmann::json document, size_t byte_length,
                                          const std::string& uri);

/// A .gltf file that holds its buffer as a base64 data URI.
std::vector<std::byte> make_gltf_with_data_uri(const nlohmann::json& document,
                                               const std::vector<std::byte>& binary);

}  // namespace supple::test
