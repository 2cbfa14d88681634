#include "support/gltf_builder.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>

namespace supple::test {
namespace {

using nlohmann::json;
using Bytes = std::vector<std::byte>;

template <class T>
void append(Bytes& bytes, T value) {
  const size_t at = bytes.size();
  bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

void append_component(Bytes& bytes, double number, Component component) {
  switch (component) {
    case Component::int8:
      return append(bytes, static_cast<int8_t>(number));
    case Component::uint8:
      return append(bytes, static_cast<uint8_t>(number));
    case Component::int16:
      return append(bytes, static_cast<int16_t>(number));
    case Component::uint16:
      return append(bytes, static_cast<uint16_t>(number));
    case Component::uint32:
      return append(bytes, static_cast<uint32_t>(number));
    case Component::float32:
      return append(bytes, static_cast<float>(number));
  }
}

size_t components_of(const std::string& type) {
  static const std::map<std::string, size_t> counts = {
      {"SCALAR", 1}, {"VEC2", 2}, {"VEC3", 3}, {"VEC4", 4}, {"MAT4", 16}};
  return counts.at(type);
}

void pad_to_four(Bytes& bytes, std::byte with = std::byte{0}) {
  while (bytes.size() % 4) bytes.push_back(with);
}

Bytes to_bytes(const std::string& text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return Bytes(first, first + text.size());
}

std::string encode_base64(const Bytes& bytes) {
  static const char* alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (i + k < bytes.size() ? static_cast<uint32_t>(bytes[i + k]) : 0u);
    }
    for (size_t k = 0; k < 4; ++k) {
      text += i + k <= bytes.size() ? alphabet[bits >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

/// Smallest and largest number of each component, as stored.
void set_bounds(json& accessor, const std::vector<double>& numbers, const AccessorFormat& format) {
  const size_t n = components_of(format.type);
  std::vector<double> low(n, 1e300), high(n, -1e300);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double stored = format.component == Component::float32
                              ? static_cast<double>(static_cast<float>(numbers[i]))
                              : numbers[i];
    low[i % n] = std::min(low[i % n], stored);
    high[i % n] = std::max(high[i % n], stored);
  }
  accessor["min"] = low;
  accessor["max"] = high;
}

json describe(size_t count, const AccessorFormat& format) {
  json accessor = {{"componentType", static_cast<int>(format.component)},
                   {"count", count},
                   {"type", format.type}};
  if (format.normalized) accessor["normalized"] = true;
  return accessor;
}

}  // namespace

AccessorFormat vertex_format(const std::string& type, Component component, bool normalized) {
  AccessorFormat format;
  format.type = type;
  format.component = component;
  format.normalized = normalized;
  format.align_rows = true;
  return format;
}

GltfBuilder::GltfBuilder() {
  document = {{"asset", {{"version", "2.0"}, {"generator", "Supple tests"}}},
              {"scene", 0},
              {"scenes", json::array({{{"nodes", json::array()}}})}};
}

int GltfBuilder::add(const std::string& list, json item) {
  json& items = document[list];
  items.push_back(std::move(item));
  return static_cast<int>(items.size()) - 1;
}

int GltfBuilder::add_view(const std::vector<double>& numbers, const AccessorFormat& format) {
  pad_to_four(binary);
  const size_t first = binary.size(), n = components_of(format.type);
  binary.resize(first + format.byte_offset, std::byte{0xa5});
  size_t stride = format.byte_stride;
  for (size_t i = 0; i < numbers.size(); i += n) {
    const size_t row = binary.size();
    for (size_t c = 0; c < n; ++c) append_component(binary, numbers.at(i + c), format.component);
    if (!stride) stride = binary.size() - row;
    if (format.align_rows) stride = (stride + 3) / 4 * 4;
    binary.resize(row + stride, std::byte{0xa5});
  }
  json view = {{"buffer", 0}, {"byteOffset", first}, {"byteLength", binary.size() - first}};
  if (format.align_rows || format.byte_stride) view["byteStride"] = stride;
  return add("bufferViews", view);
}

int GltfBuilder::add_accessor(const std::vector<double>& numbers, const AccessorFormat& format) {
  json accessor = describe(numbers.size() / components_of(format.type), format);
  accessor["bufferView"] = add_view(numbers, format);
  if (format.byte_offset) accessor["byteOffset"] = format.byte_offset;
  if (format.bounds) set_bounds(accessor, numbers, format);
  return add("accessors", accessor);
}

int GltfBuilder::add_sparse_accessor(size_t count, const std::vector<double>& base,
                                     const std::vector<double>& indices,
                                     const std::vector<double>& numbers,
                                     const AccessorFormat& format, Component index_component) {
  const size_t n = components_of(format.type);
  json accessor = describe(count, format);
  if (!base.empty()) accessor["bufferView"] = add_view(base, format);
  AccessorFormat packed, index_format;
  packed.type = format.type;
  packed.component = format.component;
  index_format.component = index_component;
  accessor["sparse"] = {{"count", indices.size()},
                        {"indices",
                         {{"bufferView", add_view(indices, index_format)},
                          {"componentType", static_cast<int>(index_component)}}},
                        {"values", {{"bufferView", add_view(numbers, packed)}}}};
  if (format.bounds) {
    std::vector<double> all = base.empty() ? std::vector<double>(count * n, 0.0) : base;
    for (size_t i = 0; i < indices.size(); ++i) {
      for (size_t c = 0; c < n; ++c) {
        all.at(static_cast<size_t>(indices[i]) * n + c) = numbers.at(i * n + c);
      }
    }
    set_bounds(accessor, all, format);
  }
  return add("accessors", accessor);
}

int GltfBuilder::add_points(const std::vector<Eigen::Vector3d>& points) {
  std::vector<double> numbers;
  for (const Eigen::Vector3d& p : points) numbers.insert(numbers.end(), p.begin(), p.end());
  AccessorFormat format = vertex_format("VEC3");
  format.bounds = true;
  return add_accessor(numbers, format);
}

int GltfBuilder::add_matrices(const std::vector<Eigen::Matrix4d>& matrices) {
  std::vector<double> numbers;
  for (const Eigen::Matrix4d& m : matrices) {
    numbers.insert(numbers.end(), m.data(), m.data() + 16);
  }
  AccessorFormat format;
  format.type = "MAT4";
  return add_accessor(numbers, format);
}

int GltfBuilder::add_indices(const std::vector<int>& indices, Component component) {
  AccessorFormat format;
  format.component = component;
  return add_accessor(std::vector<double>(indices.begin(), indices.end()), format);
}

void GltfBuilder::add_channel(json& animation, int node, const std::string& path,
                              const std::string& interpolation, const std::vector<double>& times,
                              const std::vector<double>& values, const std::string& type,
                              Component component) {
  AccessorFormat time_format, value_format;
  time_format.bounds = true;
  value_format.type = type;
  value_format.component = component;
  value_format.normalized = component != Component::float32;
  const int input = add_accessor(times, time_format);
  const int output = add_accessor(values, value_format);
  json& samplers = animation["samplers"];
  samplers.push_back({{"input", input}, {"output", output}, {"interpolation", interpolation}});
  animation["channels"].push_back(
      {{"sampler", samplers.size() - 1}, {"target", {{"node", node}, {"path", path}}}});
}

Bytes make_glb(json document, const Bytes& binary) {
  Bytes chunk = binary;
  pad_to_four(chunk);
  document["buffers"] = json::array({{{"byteLength", binary.size()}}});
  Bytes text = to_bytes(document.dump());
  pad_to_four(text, std::byte{' '});
  Bytes file;
  append(file, uint32_t{0x46546C67});
  append(file, uint32_t{2});
  append(file, static_cast<uint32_t>(12 + 8 + text.size() + 8 + chunk.size()));
  append(file, static_cast<uint32_t>(text.size()));
  append(file, uint32_t{0x4E4F534A});
  file.insert(file.end(), text.begin(), text.end());
  append(file, static_cast<uint32_t>(chunk.size()));
  append(file, uint32_t{0x004E4942});
  file.insert(file.end(), chunk.begin(), chunk.end());
  return file;
}

Bytes make_gltf_with_uri(json document, size_t byte_length, const std::string& uri) {
  document["buffers"] = json::array({{{"byteLength", byte_length}, {"uri", uri}}});
  return to_bytes(document.dump(1));
}

Bytes make_gltf_with_data_uri(const json& document, const Bytes& binary) {
  return make_gltf_with_uri(document, binary.size(),
                            "data:application/octet-stream;base64," + encode_base64(binary));
}

}  // namespace supple::test
