#include "supple/io/scene_file.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "supple/sim/scene_fields.h"

namespace supple {
namespace {

template <class T>
std::vector<std::string> word_list(const T& words) {
  std::vector<std::string> result;
  for (const auto& entry : words) {
    if constexpr (requires { entry.word; })
      result.emplace_back(entry.word);
    else
      result.emplace_back(entry);
  }
  return result;
}

// Whether a word is meant: '-' and '_' are alike.
bool is_same_word(std::string_view a, std::string_view b) {
  const auto plain = [](char c) { return c == '-' ? '_' : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return plain(x) == plain(y); });
}

std::string joined(const std::vector<std::string>& words) {
  std::string result;
  for (const std::string& word : words) result += (result.empty() ? "" : ", ") + word;
  return result;
}

// --- reading -----------------------------------------------------------------------------------

// Fills a struct from a JSON object.
class FieldReader {
 public:
  explicit FieldReader(JsonField from) : m_from(std::move(from)) { m_from.object(); }

  template <class T>
  void field(std::string_view name, T& value, const FieldInfo& info) {
    if (const auto found = take(name)) read(*found, value, info);
  }

  void automatic(std::string_view name, int& value, int /*sentinel*/, const FieldInfo& info) {
    field(name, value, info);
  }

  template <class T, class Words>
  void words(std::string_view name, T& value, const Words& known, const FieldInfo&) {
    const auto found = take(name);
    if (!found) return;
    const std::string word = found->text();
    for (const auto& entry : known)
      if (is_same_word(entry.word, word)) {
        value = entry.value;
        return;
      }
    refuse_word(*found, word, word_list(known));
  }

  template <class Words>
  void choice(std::string_view name, std::string& value, const Words& known, const FieldInfo&) {
    const auto found = take(name);
    if (!found) return;
    value = found->text();
    const std::vector<std::string> list = word_list(known);
    if (std::find(list.begin(), list.end(), value) == list.end()) refuse_word(*found, value, list);
  }

  template <class T>
  void group(std::string_view name, T& value, const FieldInfo&) {
    if (const auto found = take(name)) read_group(*found, value);
  }

  template <class T>
  void group_or_main(std::string_view name, T& value, std::string_view main, const FieldInfo&) {
    const auto found = take(name);
    if (!found) return;
    if (found->value().is_object()) return read_group(*found, value);
    // A value alone stands for an object with just its main field.
    const Json whole = {{std::string(main), found->value()}};
    read_group(found->standing_for(whole), value);
  }

  template <class T>
  void optional(std::string_view name, std::optional<T>& value, const FieldInfo& info) {
    const auto found = take(name);
    if (!found) return;
    value.emplace();
    if constexpr (std::is_arithmetic_v<T>)
      read(*found, *value, info);
    else
      read_group(*found, *value);
  }

  template <class T>
  void list(std::string_view name, std::vector<T>& values, const FieldInfo&) {
    const auto found = take(name);
    if (!found) return;
    values.clear();
    for (size_t i = 0; i < found->size(); ++i) read_group((*found)[i], values.emplace_back());
  }

  // Refuses the keys that no field has asked for.
  void finish() const {
    for (const auto& [key, unused] : m_from.value().items()) {
      if (key == "$schema" && m_from.path().empty()) continue;
      if (std::find(m_known.begin(), m_known.end(), key) != m_known.end()) continue;
      throw_input_error(
          m_from.file(),
          m_from.path().empty() ? printable(key) : m_from.path() + "." + printable(key),
          "unknown field" + hint(key));
    }
  }

  // The nearest field, or those there are when none is near.
  std::string hint(const std::string& key) const {
    const std::string near = suggestion(key, m_known);
    return near.empty() ? fmt::format("; there are {}", fmt::join(m_known, ", ")) : near;
  }

 private:
  [[noreturn]] static void refuse_word(const JsonField& field, const std::string& word,
                                       const std::vector<std::string>& known) {
    field.fail(fmt::format("'{}' is not one of {}{}", printable(word), joined(known),
                           suggestion(word, known)));
  }

  std::optional<JsonField> take(std::string_view name) {
    m_known.emplace_back(name);
    return m_from.find(name);
  }

  template <class T>
  static void read_group(const JsonField& from, T& value) {
    FieldReader reader(from);
    describe(reader, value);
    reader.finish();
  }

  static void read(const JsonField& f, std::string& value, const FieldInfo&) { value = f.text(); }
  static void read(const JsonField& f, int& value, const FieldInfo& info) {
    value =
        static_cast<int>(f.integer(static_cast<int64_t>(info.min), static_cast<int64_t>(info.max)));
  }
  static void read(const JsonField& f, bool& value, const FieldInfo&) { value = f.boolean(); }
  static void read(const JsonField& f, Numbers3& value, const FieldInfo& info) {
    f.numbers(3);
    for (size_t i = 0; i < 3; ++i) read(f[i], value[i], info);
  }
  static void read(const JsonField& f, double& value, const FieldInfo& info) {
    value = f.number(info.min, info.max);
    if (info.min_excluded && value == info.min)
      f.fail(fmt::format("must be more than {}", info.min));
  }
  static void read(const JsonField& f, std::vector<std::string>& value, const FieldInfo&) {
    value.clear();
    for (size_t i = 0; i < f.size(); ++i) value.push_back(f[i].text());
  }
  static void read(const JsonField& f, std::map<std::string, std::string>& value,
                   const FieldInfo&) {
    value.clear();
    for (const auto& [key, unused] : f.object().value().items()) value[key] = f[key].text();
  }
  static void read(const JsonField& f, std::vector<std::vector<double>>& value, const FieldInfo&) {
    value.clear();
    for (size_t i = 0; i < f.size(); ++i) value.push_back(f[i].numbers(f[i].size()));
  }

  JsonField m_from;
  std::vector<std::string> m_known;
};

// --- writing -----------------------------------------------------------------------------------

// Writes a struct as a JSON object.
class FieldWriter {
 public:
  template <class T>
  void field(std::string_view name, T& value, const FieldInfo&) {
    m_out[std::string(name)] = value;
  }
  void automatic(std::string_view name, int& value, int sentinel, const FieldInfo&) {
    if (value != sentinel) m_out[std::string(name)] = value;
  }
  template <class T, class Words>
  void words(std::string_view name, T& value, const Words& known, const FieldInfo&) {
    for (const auto& entry : known)
      if (entry.value == value) m_out[std::string(name)] = std::string(entry.word);
  }
  template <class Words>
  void choice(std::string_view name, std::string& value, const Words&, const FieldInfo&) {
    m_out[std::string(name)] = value;
  }
  template <class T>
  void group(std::string_view name, T& value, const FieldInfo&) {
    m_out[std::string(name)] = written(value);
  }
  template <class T>
  void group_or_main(std::string_view name, T& value, std::string_view, const FieldInfo& info) {
    group(name, value, info);
  }
  template <class T>
  void optional(std::string_view name, std::optional<T>& value, const FieldInfo& info) {
    if (!value) return;
    if constexpr (std::is_arithmetic_v<T>)
      field(name, *value, info);
    else
      group(name, *value, info);
  }
  template <class T>
  void list(std::string_view name, std::vector<T>& values, const FieldInfo&) {
    Json entries = Json::array();
    for (T& value : values) entries.push_back(written(value));
    m_out[std::string(name)] = entries;
  }

  template <class T>
  static Json written(T& value) {
    FieldWriter writer;
    describe(writer, value);
    return writer.m_out;
  }

 private:
  Json m_out = Json::object();
};

// --- the schema --------------------------------------------------------------------------------

// Writes the JSON Schema of a struct, with the defaults of a fresh one.
class SchemaWriter {
 public:
  template <class T>
  void field(std::string_view name, T& value, const FieldInfo& info) {
    Json entry = type_of(value);
    add_limits(entry, info);
    add(name, std::move(entry), info, Json(value));
  }
  void automatic(std::string_view name, int&, int, const FieldInfo& info) {
    Json entry = {{"type", "integer"}};
    add_limits(entry, info);
    add(name, std::move(entry), info, nullptr);
  }
  template <class T, class Words>
  void words(std::string_view name, T& value, const Words& known, const FieldInfo& info) {
    Json usual;
    for (const auto& entry : known)
      if (entry.value == value) usual = std::string(entry.word);
    add(name, {{"type", "string"}, {"enum", word_list(known)}}, info, usual);
  }
  template <class Words>
  void choice(std::string_view name, std::string& value, const Words& known,
              const FieldInfo& info) {
    add(name, {{"type", "string"}, {"enum", word_list(known)}}, info, value);
  }
  template <class T>
  void group(std::string_view name, T& value, const FieldInfo& info) {
    add(name, written(value), info, nullptr);
  }
  template <class T>
  void group_or_main(std::string_view name, T& value, std::string_view main,
                     const FieldInfo& info) {
    const Json whole = written(value);
    const Json text = whole["properties"][std::string(main)];
    add(name, {{"anyOf", Json::array({text, whole})}}, info, nullptr);
  }
  template <class T>
  void optional(std::string_view name, std::optional<T>&, const FieldInfo& info) {
    T fresh{};
    Json entry;
    if constexpr (std::is_arithmetic_v<T>) {
      entry = type_of(fresh);
      add_limits(entry, info);
    } else {
      entry = written(fresh);
    }
    add(name, std::move(entry), info, nullptr);
  }
  template <class T>
  void list(std::string_view name, std::vector<T>&, const FieldInfo& info) {
    T fresh;
    add(name, {{"type", "array"}, {"items", written(fresh)}}, info, nullptr);
  }

  template <class T>
  static Json written(T& value) {
    SchemaWriter writer;
    describe(writer, value);
    return {
        {"type", "object"}, {"properties", writer.m_properties}, {"additionalProperties", false}};
  }

 private:
  static Json type_of(const std::string&) { return {{"type", "string"}}; }
  static Json type_of(bool) { return {{"type", "boolean"}}; }
  static Json type_of(const Numbers3&) {
    return {{"type", "array"}, {"items", {{"type", "number"}}}, {"minItems", 3}, {"maxItems", 3}};
  }
  static Json type_of(int) { return {{"type", "integer"}}; }
  static Json type_of(double) { return {{"type", "number"}}; }
  static Json type_of(const std::vector<std::string>&) {
    return {{"type", "array"}, {"items", {{"type", "string"}}}};
  }
  static Json type_of(const std::map<std::string, std::string>&) {
    return {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}};
  }
  static Json type_of(const std::vector<std::vector<double>>&) {
    return {{"type", "array"}, {"items", {{"type", "array"}, {"items", {{"type", "number"}}}}}};
  }

  static void add_limits(Json& entry, const FieldInfo& info) {
    if (entry["type"] == "array" && entry.contains("minItems"))
      return add_limits(entry["items"], info);
    if (entry["type"] != "integer" && entry["type"] != "number") return;
    if (info.min != std::numeric_limits<double>::lowest())
      entry[info.min_excluded ? "exclusiveMinimum" : "minimum"] = info.min;
    if (info.max != std::numeric_limits<double>::max()) entry["maximum"] = info.max;
  }

  void add(std::string_view name, Json entry, const FieldInfo& info, Json usual) {
    entry["description"] = std::string(info.meaning);
    if (!usual.is_null()) entry["default"] = std::move(usual);
    m_properties[std::string(name)] = std::move(entry);
  }

  Json m_properties = Json::object();
};

void make_relative_to(const std::filesystem::path& folder, std::string& file) {
  if (file.empty() || folder.empty() || std::filesystem::path(file).is_absolute()) return;
  const bool is_folder = file.ends_with('/');
  file = (folder / file).lexically_normal().string();
  if (is_folder && !file.ends_with('/')) file += '/';
}

}  // namespace

Scene parse_scene(ByteView bytes, const std::string& file) {
  const Json json = parse_json(bytes, file);
  Scene scene;
  FieldReader reader{JsonField(json, file)};
  describe(reader, scene);
  reader.finish();
  if (scene.character.file.empty() && scene.character.shape.type == ShapeType::none &&
      scene.objects.empty())
    throw_input_error(file, "character",
                      "is missing: name a rigged .glb, .gltf, .fbx, a mesh or a shape");
  return scene;
}

Scene read_scene(const std::filesystem::path& path) {
  Scene scene = parse_scene(read_file(path), path.string());
  if (scene.name.empty()) scene.name = path.stem().string();
  const std::filesystem::path folder = path.parent_path();
  make_relative_to(folder, scene.character.file);
  make_relative_to(folder, scene.character.motion.file);
  for (ColliderSettings& collider : scene.body.contact.colliders)
    make_relative_to(folder, collider.file);
  for (BoneSettings& bone : scene.body.attach.bones) make_relative_to(folder, bone.file);
  make_relative_to(folder, scene.body.tets.file);
  make_relative_to(folder, scene.body.surface.detail);
  for (ObjectSettings& object : scene.objects) {
    make_relative_to(folder, object.file);
    make_relative_to(folder, object.detail);
  }
  for (std::string& file : scene.output.files) make_relative_to(folder, file);
  return scene;
}

Json scene_to_json(const Scene& scene) {
  Scene copy = scene;
  return FieldWriter::written(copy);
}

Json scene_schema() {
  Scene fresh;
  Json schema = {
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"title", "Supple scene"},
      {"description",
       "What to simulate and what to write. Every field but the character has a default."}};
  Json body = SchemaWriter::written(fresh);
  body["properties"]["$schema"] = {{"type", "string"},
                                   {"description", "Address of this schema, for editors."}};
  schema.update(body);
  schema["oneOf"] = Json::array(
      {{{"required", Json::array({"character"})}}, {{"required", Json::array({"objects"})}}});
  return schema;
}

}  // namespace supple
