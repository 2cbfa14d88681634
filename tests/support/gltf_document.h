// A glTF 2.0 file as the tests see it: its JSON and its numbers, decoded to double.
//
// Part of the tests' independent reference: uses no code of the library. Reads .glb, and .gltf with
// buffers in files beside it or in base64 data URIs. Does not read compressed geometry (Draco,
// meshopt), and trusts the file: damage ends in std::exception, without a helpful message.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

namespace supple::test {

/// The elements of an accessor, one after the other; matrices column by column.
struct AccessorValues {
  size_t count = 0;       ///< elements
  size_t components = 0;  ///< numbers per element
  std::vector<double> values;

  /// Component `c` of element `i`.
  double operator()(size_t i, size_t c) const { return values.at(i * components + c); }
};

/// A parsed file with the bytes of all its buffers.
class GltfDocument {
 public:
  /// Reads a .glb or .gltf file and the buffers it names.
  explicit GltfDocument(const std::filesystem::path& file);

  /// Reads a .glb or .gltf from memory; `folder` is where external buffers are.
  explicit GltfDocument(std::span<const std::byte> bytes, const std::filesystem::path& folder = {});

  /// The JSON of the file.
  const nlohmann::json& root() const { return m_json; }

  /// The decoded accessor: normalised integers become real numbers, sparse values are applied.
  AccessorValues accessor(size_t index) const;

 private:
  void load(std::span<const std::byte> bytes, const std::filesystem::path& folder);

  nlohmann::json m_json;
  std::vector<std::vector<std::byte>> m_buffers;
};

}  // namespace supple::test
