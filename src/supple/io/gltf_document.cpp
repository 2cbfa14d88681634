#include "supple/io/gltf_document.h"

#include <algorithm>
#include <array>

#include "supple/core/error.h"
#include "supple/core/file.h"

namespace supple {
namespace {

constexpr uint32_t glb_magic = 0x46546C67;   // "glTF"
constexpr uint32_t json_chunk = 0x4E4F534A;  // "JSON"
constexpr uint32_t bin_chunk = 0x004E4942;   // "BIN\0"

struct Container {
  ByteView json;
  ByteView bin;
  bool has_bin = false;
};

// Splits a .glb into its chunks; a .gltf is all JSON.
Container split_container(ByteView bytes, const std::string& file) {
  if (bytes.size() < 4 || load_at<uint32_t>(bytes, 0) != glb_magic) return {bytes, {}, false};
  if (bytes.size() < 20) throw_input_error(file, "GLB header", "is cut short");
  const auto version = load_at<uint32_t>(bytes, 4);
  if (version != 2)
    throw_input_error(file, "GLB header", fmt::format("version {} is not supported (2)", version));
  if (load_at<uint32_t>(bytes, 8) > bytes.size())
    throw_input_error(file, "GLB header",
                      fmt::format("file is cut short: {} of {} bytes", bytes.size(),
                                  load_at<uint32_t>(bytes, 8)));
  Container container;
  bool has_json = false;
  for (size_t offset = 12; offset + 8 <= bytes.size();) {
    const auto length = load_at<uint32_t>(bytes, offset);
    const auto type = load_at<uint32_t>(bytes, offset + 4);
    if (length > bytes.size() - offset - 8)
      throw_input_error(file, "GLB chunk", "reaches past the end of the file");
    const ByteView content = bytes.subspan(offset + 8, length);
    if (type == json_chunk && !has_json) {
      container.json = content;
      has_json = true;
    } else if (type == bin_chunk && !container.has_bin) {
      container.bin = content;
      container.has_bin = true;
    }
    offset += 8 + size_t{length};
    offset = (offset + 3) / 4 * 4;
  }
  if (!has_json) throw_input_error(file, "GLB", "has no JSON chunk");
  return container;
}

std::string percent_decoded(std::string_view text) {
  const auto hex = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex(text[i + 1]) >= 0 && hex(text[i + 2]) >= 0) {
      result += static_cast<char>(16 * hex(text[i + 1]) + hex(text[i + 2]));
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

Bytes read_external(const std::string& uri, const std::filesystem::path& folder,
                    const JsonField& field) {
  const std::string name = percent_decoded(uri);
  if (name.find("://") != std::string::npos || std::filesystem::path(name).is_absolute() ||
      name.find('\0') != std::string::npos)
    field.fail(fmt::format("'{}' is not a file beside this one", printable(uri)));
  if (folder.empty()) field.fail("external buffers are not available here");
  const std::filesystem::path path = folder / name;
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code))
    field.fail(fmt::format("file '{}' does not exist", printable(path.string())));
  return read_file(path);
}

Bytes load_buffer(const JsonField& buffer, size_t index, const Container& container,
                  const std::filesystem::path& folder) {
  const auto length = static_cast<size_t>(buffer["byteLength"].integer(0, int64_t{1} << 40));
  Bytes data;
  if (const auto uri = buffer.find("uri")) {
    const std::string address = uri->text();
    if (address.starts_with("data:")) {
      const size_t comma = address.find(',');
      if (comma == std::string::npos ||
          !std::string_view(address).substr(0, comma).ends_with(";base64"))
        uri->fail("data address must be base64");
      data = decode_base64(std::string_view(address).substr(comma + 1), *uri);
    } else {
      data = read_external(address, folder, *uri);
    }
  } else if (index == 0 && container.has_bin) {
    data.assign(container.bin.begin(), container.bin.end());
  } else if (const auto extensions = buffer.find("extensions");
             extensions && extensions->has("EXT_meshopt_compression")) {
    return {};  // a fallback buffer: its views are unpacked from another one
  } else {
    buffer.fail("has neither an address nor a binary chunk");
  }
  if (data.size() < length)
    buffer["byteLength"].fail(fmt::format("{} bytes promised, {} found", length, data.size()));
  data.resize(length);
  return data;
}

void refuse_unknown_requirements(const JsonField& root) {
  static constexpr std::array<std::string_view, 6> understood = {
      "KHR_mesh_quantization", "KHR_draco_mesh_compression", "EXT_meshopt_compression",
      "KHR_texture_basisu",    "KHR_lights_punctual",        "KHR_texture_transform"};
  const auto required = root.find("extensionsRequired");
  if (!required) return;
  for (size_t i = 0; i < required->size(); ++i) {
    const std::string name = (*required)[i].text();
    // Materials and textures do not change the geometry.
    if (name.starts_with("KHR_materials_") || name.starts_with("EXT_texture_")) continue;
    if (std::find(understood.begin(), understood.end(), name) == understood.end())
      (*required)[i].fail(fmt::format("the extension '{}' is not supported", printable(name)));
  }
}

void pad(Bytes& bytes, size_t alignment, std::byte filler) {
  while (bytes.size() % alignment != 0) bytes.push_back(filler);
}

}  // namespace

Bytes decode_base64(std::string_view text, const JsonField& field) {
  static constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<int, 256> digit;
  digit.fill(-1);
  for (size_t i = 0; i < alphabet.size(); ++i)
    digit[static_cast<uint8_t>(alphabet[i])] = static_cast<int>(i);
  Bytes result;
  result.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    const int value = digit[static_cast<uint8_t>(c)];
    if (value < 0) field.fail("is not valid base64");
    bits = (bits << 6) | static_cast<uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      result.push_back(static_cast<std::byte>((bits >> count) & 0xFF));
    }
  }
  return result;
}

Bytes read_beside(const GltfDocument& document, const JsonField& field) {
  return read_external(field.text(), document.folder, field);
}

GltfDocument parse_gltf_document(ByteView bytes, const std::string& file,
                                 const std::filesystem::path& folder) {
  const Container container = split_container(bytes, file);
  GltfDocument document{file, folder, parse_json(container.json, file), {}};
  const JsonField root = document.fields();
  const std::string version = root["asset"]["version"].text();
  if (!version.starts_with("2."))
    root["asset"]["version"].fail(fmt::format("'{}' is not supported (2.x)", printable(version)));
  refuse_unknown_requirements(root);
  if (const auto buffers = root.find("buffers"))
    for (size_t i = 0; i < buffers->size(); ++i)
      document.buffers.push_back(load_buffer((*buffers)[i], i, container, folder));
  unpack_compressed_geometry(document);
  return document;
}

GltfDocument read_gltf_document(const std::filesystem::path& path) {
  return parse_gltf_document(
      read_file(path), path.string(),
      path.has_parent_path() ? path.parent_path() : std::filesystem::path("."));
}

int add_buffer_view(GltfDocument& document, ByteView data) {
  if (document.buffers.empty()) {
    document.buffers.emplace_back();
    document.root["buffers"] = Json::array({Json{{"byteLength", 0}}});
  }
  Bytes& buffer = document.buffers.back();
  pad(buffer, 4, std::byte{0});
  Json view = {{"buffer", document.buffers.size() - 1},
               {"byteOffset", buffer.size()},
               {"byteLength", data.size()}};
  buffer.insert(buffer.end(), data.begin(), data.end());
  document.root["buffers"].back()["byteLength"] = buffer.size();
  document.root["bufferViews"].push_back(std::move(view));
  return static_cast<int>(document.root["bufferViews"].size()) - 1;
}

Bytes serialise_glb(const GltfDocument& document, const std::string& output) {
  // All buffers are joined into one: find where each starts and move the views over.
  std::vector<size_t> start;
  size_t bin_size = 0;
  for (const Bytes& buffer : document.buffers) {
    start.push_back(bin_size);
    bin_size += (buffer.size() + 3) / 4 * 4;
  }
  Json root = document.root;
  if (root.contains("bufferViews"))
    for (size_t v = 0; v < root["bufferViews"].size(); ++v) {
      const JsonField field = document.fields()["bufferViews"][v];
      const auto buffer = static_cast<size_t>(field["buffer"].index(start.size(), "buffers"));
      const auto offset = field.find("byteOffset");
      Json& view = root["bufferViews"][v];
      view["byteOffset"] =
          start[buffer] +
          static_cast<size_t>(offset ? offset->integer(0, int64_t{1} << 40) : int64_t{0});
      view["buffer"] = 0;
    }
  root.erase("buffers");
  if (bin_size > 0) root["buffers"] = Json::array({Json{{"byteLength", bin_size}}});

  Bytes text;
  append_text(text, root.dump(-1, ' ', false, Json::error_handler_t::replace));
  pad(text, 4, std::byte{' '});
  const size_t total = 12 + 8 + text.size() + (bin_size > 0 ? 8 + bin_size : 0);
  check_glb_size(output, total);
  Bytes result;
  result.reserve(total);
  append(result, glb_magic);
  append(result, uint32_t{2});
  append(result, static_cast<uint32_t>(total));
  append(result, static_cast<uint32_t>(text.size()));
  append(result, json_chunk);
  result.insert(result.end(), text.begin(), text.end());
  if (bin_size == 0) return result;
  append(result, static_cast<uint32_t>(bin_size));
  append(result, bin_chunk);
  for (const Bytes& buffer : document.buffers) {
    result.insert(result.end(), buffer.begin(), buffer.end());
    pad(result, 4, std::byte{0});
  }
  return result;
}

void check_glb_size(const std::string& output, size_t bytes) {
  if (bytes > 0xFFFFFFFFu)
    throw_output_error(output, "the .glb would be larger than 4 GiB; choose .pc2 or .usda");
}

}  // namespace supple
