#include "support/gltf_document.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

namespace supple::test {
namespace {

using nlohmann::json;
using Bytes = std::vector<std::byte>;

Bytes read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return Bytes(first, first + text.size());
}

/// The number of type T at a byte offset of little-endian data.
template <class T>
T read_number(std::span<const std::byte> bytes, size_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) {
    throw std::runtime_error("glTF data ends early");
  }
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

Bytes decode_base64(const std::string& text) {
  static const std::string alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  Bytes bytes;
  uint32_t bits = 0;
  int bit_count = 0;
  for (const char c : text) {
    if (c == '=') break;
    const size_t digit = alphabet.find(c);
    if (digit == std::string::npos) throw std::runtime_error("not base64");
    bits = bits << 6 | static_cast<uint32_t>(digit);
    bit_count += 6;
    if (bit_count >= 8) {
      bit_count -= 8;
      bytes.push_back(static_cast<std::byte>(bits >> bit_count & 0xff));
    }
  }
  return bytes;
}

/// A relative URI with its %XX escapes replaced.
std::string decode_percent(const std::string& uri) {
  std::string path;
  for (size_t i = 0; i < uri.size(); ++i) {
    if (uri[i] == '%' && i + 2 < uri.size() && std::isxdigit(uri[i + 1]) &&
        std::isxdigit(uri[i + 2])) {
      path += static_cast<char>(std::stoi(uri.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      path += uri[i];
    }
  }
  return path;
}

Bytes read_uri(const std::string& uri, const std::filesystem::path& folder) {
  if (uri.rfind("data:", 0) != 0) return read_file(folder / decode_percent(uri));
  const std::string marker = ";base64,";
  const size_t at = uri.find(marker);
  if (at == std::string::npos) throw std::runtime_error("data URI is not base64");
  return decode_base64(uri.substr(at + marker.size()));
}

/// glTF's componentType codes.
enum ComponentType {
  int8_type = 5120,
  uint8_type = 5121,
  int16_type = 5122,
  uint16_type = 5123,
  uint32_type = 5125,
  float_type = 5126
};

size_t size_of_component(int type) {
  static const std::map<int, size_t> sizes = {{int8_type, 1},   {uint8_type, 1},  {int16_type, 2},
                                              {uint16_type, 2}, {uint32_type, 4}, {float_type, 4}};
  return sizes.at(type);
}

/// One number of a buffer, as written.
double read_component(std::span<const std::byte> bytes, size_t offset, int type) {
  switch (type) {
    case int8_type:
      return read_number<int8_t>(bytes, offset);
    case uint8_type:
      return read_number<uint8_t>(bytes, offset);
    case int16_type:
      return read_number<int16_t>(bytes, offset);
    case uint16_type:
      return read_number<uint16_t>(bytes, offset);
    case uint32_type:
      return read_number<uint32_t>(bytes, offset);
    default:
      return read_number<float>(bytes, offset);
  }
}

/// The real number a normalised integer c stands for (glTF 2.0, section 3.11).
double dequantize(double c, int type) {
  switch (type) {
    case int8_type:
      return std::max(c / 127.0, -1.0);
    case uint8_type:
      return c / 255.0;
    case int16_type:
      return std::max(c / 32767.0, -1.0);
    case uint16_type:
      return c / 65535.0;
    default:
      throw std::runtime_error("this component type cannot be normalised");
  }
}

/// Where the numbers of an element lie: columns of matrices start at multiples of four bytes.
struct ElementLayout {
  size_t columns, rows, column_bytes;
  int component_type;

  ElementLayout(const std::string& type, int component) : component_type(component) {
    static const std::map<std::string, std::pair<size_t, size_t>> shapes = {
        {"SCALAR", {1, 1}}, {"VEC2", {1, 2}}, {"VEC3", {1, 3}}, {"VEC4", {1, 4}},
        {"MAT2", {2, 2}},   {"MAT3", {3, 3}}, {"MAT4", {4, 4}}};
    columns = shapes.at(type).first;
    rows = shapes.at(type).second;
    column_bytes = rows * size_of_component(component);
    if (columns > 1) column_bytes = (column_bytes + 3) / 4 * 4;
  }

  size_t components() const { return columns * rows; }
  size_t bytes() const { return columns * column_bytes; }

  void read(std::span<const std::byte> data, size_t offset, double* out) const {
    for (size_t c = 0; c < columns; ++c) {
      for (size_t r = 0; r < rows; ++r) {
        *out++ =
            read_component(data, offset + c * column_bytes + r * size_of_component(component_type),
                           component_type);
      }
    }
  }
};

/// The bytes of a buffer view and the distance between its elements (0: tightly packed).
struct View {
  std::span<const std::byte> bytes;
  size_t stride;

  View(const json& document, const std::vector<Bytes>& buffers, size_t index) {
    const json& view = document.at("bufferViews").at(index);
    const Bytes& buffer = buffers.at(view.at("buffer").get<size_t>());
    const size_t offset = view.value("byteOffset", size_t{0});
    const size_t length = view.at("byteLength").get<size_t>();
    if (offset > buffer.size() || length > buffer.size() - offset) {
      throw std::runtime_error("buffer view lies outside its buffer");
    }
    bytes = std::span(buffer).subspan(offset, length);
    stride = view.value("byteStride", size_t{0});
  }
};

}  // namespace

GltfDocument::GltfDocument(const std::filesystem::path& file) {
  load(read_file(file), file.parent_path());
}

GltfDocument::GltfDocument(std::span<const std::byte> bytes, const std::filesystem::path& folder) {
  load(bytes, folder);
}

void GltfDocument::load(std::span<const std::byte> bytes, const std::filesystem::path& folder) {
  constexpr uint32_t glb_magic = 0x46546C67, json_chunk = 0x4E4F534A, bin_chunk = 0x004E4942;
  std::span<const std::byte> text = bytes, binary;
  if (bytes.size() >= 4 && read_number<uint32_t>(bytes, 0) == glb_magic) {
    // A 12-byte header, then chunks: length, type, data.
    for (size_t at = 12; at + 8 <= bytes.size();) {
      const size_t length = read_number<uint32_t>(bytes, at);
      const uint32_t type = read_number<uint32_t>(bytes, at + 4);
      if (length > bytes.size() - at - 8) throw std::runtime_error("glb chunk ends early");
      if (type == json_chunk) text = bytes.subspan(at + 8, length);
      if (type == bin_chunk && binary.empty()) binary = bytes.subspan(at + 8, length);
      at += 8 + length;
    }
  }
  const auto* first = reinterpret_cast<const char*>(text.data());
  m_json = json::parse(first, first + text.size());
  for (const json& required : m_json.value("extensionsRequired", json::array())) {
    if (required == "KHR_draco_mesh_compression" || required == "EXT_meshopt_compression") {
      throw std::runtime_error("compressed geometry is not supported");
    }
  }
  for (const json& buffer : m_json.value("buffers", json::array())) {
    m_buffers.push_back(buffer.contains("uri") ? read_uri(buffer.at("uri"), folder)
                                               : Bytes(binary.begin(), binary.end()));
  }
}

AccessorValues GltfDocument::accessor(size_t index) const {
  const json& accessor = m_json.at("accessors").at(index);
  const int component_type = accessor.at("componentType");
  const ElementLayout layout(accessor.at("type"), component_type);
  AccessorValues result;
  result.count = accessor.at("count");
  result.components = layout.components();
  result.values.assign(result.count * result.components, 0.0);
  double* const values = result.values.data();

  if (accessor.contains("bufferView")) {
    const View view(m_json, m_buffers, accessor["bufferView"]);
    const size_t offset = accessor.value("byteOffset", size_t{0});
    const size_t stride = view.stride ? view.stride : layout.bytes();
    for (size_t i = 0; i < result.count; ++i) {
      layout.read(view.bytes, offset + i * stride, values + i * result.components);
    }
  }
  if (accessor.contains("sparse")) {
    const json& sparse = accessor["sparse"];
    const json &where = sparse.at("indices"), &what = sparse.at("values");
    const View index_view(m_json, m_buffers, where.at("bufferView"));
    const View value_view(m_json, m_buffers, what.at("bufferView"));
    const int index_type = where.at("componentType");
    for (size_t i = 0; i < sparse.at("count").get<size_t>(); ++i) {
      const size_t index_at =
          where.value("byteOffset", size_t{0}) + i * size_of_component(index_type);
      const auto element =
          static_cast<size_t>(read_component(index_view.bytes, index_at, index_type));
      if (element >= result.count) throw std::runtime_error("sparse index is out of range");
      layout.read(value_view.bytes, what.value("byteOffset", size_t{0}) + i * layout.bytes(),
                  values + element * result.components);
    }
  }
  if (accessor.value("normalized", false)) {
    for (double& value : result.values) value = dequantize(value, component_type);
  }
  return result;
}

}  // namespace supple::test
