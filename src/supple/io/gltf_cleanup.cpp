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
  const std::string_view text = as_text(data);
  if (text.starts_with("\x89PNG")) return "image/png";
  if (text.starts_with("\xFF\xD8\xFF")) return "image/jpeg";
  if (text.starts_with("\xABKTX 20")) return "image/ktx2";
  if (text.starts_with("RIFF") && text.substr(0, 12).ends_with("WEBP")) return "image/webp";
  return nullptr;
}

// Takes references to textures in `gone` out of a material: members "...Texture" with an "index".
void erase_texture_uses(Json& value, const std::vector<bool>& gone) {
  std::vector<std::string> dead;
  for (auto& [key, member] : value.items()) {
    if (!member.is_object()) continue;
    const auto index = member.find("index");
    if (key.ends_with("Texture") && index != member.end() && index->is_number_unsigned() &&
        index->get<size_t>() < gone.size() && gone[index->get<size_t>()])
      dead.push_back(key);
    else
      erase_texture_uses(member, gone);
  }
  for (const std::string& key : dead) value.erase(key);
}

// Renumbers a texture's reference to an image, or drops it; true when it was dropped.
bool renumber_source(Json& owner, const std::vector<int>& number) {
  const auto source = owner.find("source");
  if (source == owner.end() || !source->is_number_unsigned() ||
      source->get<size_t>() >= number.size())
    return false;
  const int kept = number[source->get<size_t>()];
  if (kept >= 0)
    *source = kept;
  else
    owner.erase("source");
  return kept < 0;
}

// Takes the images in `gone` out of the document, and off the materials the textures that are left
// without any image.
void remove_images(Json& root, const std::vector<bool>& gone) {
  Json kept = Json::array();
  std::vector<int> number(gone.size(), -1);
  for (size_t i = 0; i < gone.size(); ++i)
    if (!gone[i]) {
      number[i] = static_cast<int>(kept.size());
      kept.push_back(root["images"][i]);
    }
  if (kept.empty())
    root.erase("images");
  else
    root["images"] = std::move(kept);
  if (!root.contains("textures") || !root["textures"].is_array()) return;
  std::vector<bool> blank;
  for (Json& texture : root["textures"]) {
    if (!texture.is_object()) return;
    bool dropped = renumber_source(texture, number), has_image = texture.contains("source");
    if (texture.contains("extensions") && texture["extensions"].is_object())
      for (auto& [name, extension] : texture["extensions"].items()) {
        if (!extension.is_object()) continue;
        dropped |= renumber_source(extension, number);
        has_image |= extension.contains("source");
      }
    blank.push_back(dropped && !has_image);
  }
  if (root.contains("materials") && root["materials"].is_array())
    for (Json& material : root["materials"])
      if (material.is_object()) erase_texture_uses(material, blank);
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
  std::vector<std::string> problems;
  if (!document.root.contains("images")) return problems;
  const size_t count = document.fields()["images"].size();
  std::vector<bool> gone(count, false);
  for (size_t i = 0; i < count; ++i) {
    try {
      const JsonField image = document.fields()["images"][i].object();
      const auto uri = image.find("uri");
      if (!uri || uri->text().starts_with("data:")) continue;
      const Bytes data = read_beside(document, *uri);
      const char* type = image_type(data);
      if (!type) uri->fail("is not a PNG, JPEG, KTX2 or WebP image");
      const int view = add_buffer_view(document, data);  // fields are stale from here on
      Json& entry = document.root["images"][i];
      entry.erase("uri");
      entry["bufferView"] = view;
      entry["mimeType"] = type;
    } catch (const Error& error) {
      gone[i] = true;
      problems.push_back(error.what());
    }
  }
  if (!problems.empty()) remove_images(document.root, gone);
  return problems;
}

}  // namespace supple
