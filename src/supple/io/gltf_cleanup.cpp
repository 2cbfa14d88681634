#include "supple/io/gltf_cleanup.h"

#include <algorithm>
#include <array>
#include <functional>

#include "supple/core/error.h"
#include "supple/core/file.h"

namespace supple {
namespace {

using Visit = std::function<void(Json&)>;

void visit_members(Json& object, const Visit& visit) {
  if (object.is_object())
    for (auto& [key, value] : object.items()) visit(value);
}

// Calls `visit` with every place that holds the number of an accessor.
void visit_accessor_references(Json& root, const Visit& visit) {
  for (Json& mesh : root["meshes"])
    for (Json& primitive : mesh["primitives"]) {
      visit_members(primitive["attributes"], visit);
      if (primitive.contains("indices")) visit(primitive["indices"]);
      if (primitive.contains("targets"))
        for (Json& target : primitive["targets"]) visit_members(target, visit);
    }
  if (root.contains("skins"))
    for (Json& skin : root["skins"])
      if (skin.contains("inverseBindMatrices")) visit(skin["inverseBindMatrices"]);
  if (root.contains("animations"))
    for (Json& animation : root["animations"])
      for (Json& sampler : animation["samplers"]) {
        visit(sampler["input"]);
        visit(sampler["output"]);
      }
}

// Calls `visit` with every place that holds the number of a buffer view.
void visit_view_references(Json& root, const Visit& visit) {
  if (root.contains("accessors"))
    for (Json& accessor : root["accessors"]) {
      if (accessor.contains("bufferView")) visit(accessor["bufferView"]);
      if (accessor.contains("sparse"))
        for (const char* part : {"indices", "values"})
          visit(accessor["sparse"][part]["bufferView"]);
    }
  if (root.contains("images"))
    for (Json& image : root["images"])
      if (image.contains("bufferView")) visit(image["bufferView"]);
}

// Keeps the entries of root[list] that `visit_all` finds references to, and renumbers those.
void compact(Json& root, const char* list,
             const std::function<void(Json&, const Visit&)>& visit_all) {
  if (!root.contains(list)) return;
  std::vector<int> number(root[list].size(), -1);
  visit_all(root, [&](Json& reference) { number.at(reference.get<size_t>()) = 0; });
  Json kept = Json::array();
  for (size_t i = 0; i < number.size(); ++i)
    if (number[i] == 0) {
      number[i] = static_cast<int>(kept.size());
      kept.push_back(root[list][i]);
    }
  visit_all(root, [&](Json& reference) { reference = number[reference.get<size_t>()]; });
  if (kept.empty())
    root.erase(list);
  else
    root[list] = std::move(kept);
}

// Copies the bytes the remaining views need into one fresh buffer.
void rebuild_buffers(GltfDocument& document) {
  Bytes joined;
  if (document.root.contains("bufferViews"))
    for (Json& view : document.root["bufferViews"]) {
      const Bytes& from = document.buffers.at(view["buffer"].get<size_t>());
      const auto offset = view.value("byteOffset", size_t{0});
      const auto length = view["byteLength"].get<size_t>();
      if (offset > from.size() || length > from.size() - offset)
        throw_input_error(document.file, "bufferViews", "reach past the end of their buffer");
      joined.resize((joined.size() + 3) / 4 * 4);
      view["buffer"] = 0;
      view["byteOffset"] = joined.size();
      joined.insert(joined.end(), from.begin() + static_cast<ptrdiff_t>(offset),
                    from.begin() + static_cast<ptrdiff_t>(offset + length));
    }
  document.root.erase("buffers");
  document.buffers.clear();
  if (joined.empty()) return;
  document.root["buffers"] = Json::array({Json{{"byteLength", joined.size()}}});
  document.buffers.push_back(std::move(joined));
}

bool references_are_known(const Json& root) {
  static constexpr std::array<std::string_view, 4> harmless = {
      "KHR_mesh_quantization", "KHR_lights_punctual", "KHR_texture_transform",
      "KHR_texture_basisu"};
  if (!root.contains("extensionsUsed")) return true;
  return std::all_of(
      root["extensionsUsed"].begin(), root["extensionsUsed"].end(), [](const Json& entry) {
        const auto name = entry.get<std::string>();
        return name.starts_with("KHR_materials_") || name.starts_with("EXT_texture_") ||
               std::find(harmless.begin(), harmless.end(), name) != harmless.end();
      });
}

const char* image_type(const Bytes& data) {
  if (data.size() > 8 && data[0] == std::byte{0x89} && data[1] == std::byte{'P'})
    return "image/png";
  if (data.size() > 3 && data[0] == std::byte{0xFF} && data[1] == std::byte{0xD8})
    return "image/jpeg";
  return nullptr;
}

}  // namespace

void remove_unused_data(GltfDocument& document) {
  if (!references_are_known(document.root)) return;
  try {
    compact(document.root, "accessors", visit_accessor_references);
    compact(document.root, "bufferViews", visit_view_references);
    rebuild_buffers(document);
  } catch (const std::logic_error&) {
    throw_input_error(document.file, "accessors",
                      "or buffer views are referred to that do not exist");
  } catch (const Json::exception&) {
    throw_input_error(document.file, "accessors", "or buffer views have fields of a wrong type");
  }
}

std::vector<std::string> embed_images(GltfDocument& document) {
  std::vector<std::string> missing;
  if (!document.root.contains("images")) return missing;
  for (size_t i = 0; i < document.root["images"].size(); ++i) {
    const JsonField field = document.fields()["images"][i];
    const auto uri = field.find("uri");
    if (!uri || uri->text().starts_with("data:")) continue;
    const std::string address = uri->text();
    try {
      const Bytes data = read_beside(document, *uri);
      const char* type = image_type(data);
      if (!type) throw_input_error(document.file, address, "is neither PNG nor JPEG");
      const int view = add_buffer_view(document, data);
      Json& image = document.root["images"][i];
      image.erase("uri");
      image["bufferView"] = view;
      image["mimeType"] = type;
    } catch (const Error&) {
      missing.push_back(address);
    }
  }
  return missing;
}

}  // namespace supple
