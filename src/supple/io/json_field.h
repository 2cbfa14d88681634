// Checked access to JSON values: every mistake becomes an input error naming file and field.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supple/core/bytes.h"

namespace supple {

using Json = nlohmann::ordered_json;

/// Parses JSON text; throws an input error naming `file` and the line of the mistake.
Json parse_json(ByteView bytes, const std::string& file);

/// A JSON value together with where it stands, for messages such as
/// "walk.glb: accessors[3].count: -1 is not allowed (0 to 4294967295)".
class JsonField {
 public:
  /// The root value of a document.
  JsonField(const Json& root, std::string file)
      : m_value(&root), m_file(std::make_shared<std::string>(std::move(file))) {}

  /// True when this object has a member of that name.
  bool has(std::string_view key) const;

  /// The member `key` of this object; throws when it is missing.
  JsonField operator[](std::string_view key) const;

  /// The member `key` of this object, or nothing when it is missing.
  std::optional<JsonField> find(std::string_view key) const;

  /// Element `index` of this array; throws when it is out of range.
  JsonField operator[](size_t index) const;

  /// Number of elements of this array; throws when it is not an array.
  size_t size() const;

  /// This value as a whole number within [min, max].
  int64_t integer(int64_t min = std::numeric_limits<int64_t>::min(),
                  int64_t max = std::numeric_limits<int64_t>::max()) const;

  /// This value as an index into a list of `count` things called `what`.
  int index(size_t count, std::string_view what) const;

  /// This value as a finite number within [min, max].
  double number(double min = std::numeric_limits<double>::lowest(),
                double max = std::numeric_limits<double>::max()) const;

  /// This array as `count` finite numbers.
  std::vector<double> numbers(size_t count) const;

  /// This value as text.
  std::string text() const;

  /// This value as true or false.
  bool boolean() const;

  /// Throws unless this is an object.
  const JsonField& object() const;

  /// Throws an input error about this field.
  [[noreturn]] void fail(std::string_view problem) const;

  /// Another value, which must outlive the result, in the place of this one.
  JsonField standing_for(const Json& value) const { return {value, m_file, m_path}; }

  /// The value itself.
  const Json& value() const { return *m_value; }

  /// Where the value stands, such as "nodes[2].mesh".
  const std::string& path() const { return m_path; }

  /// The file the value is from.
  const std::string& file() const { return *m_file; }

 private:
  JsonField(const Json& value, std::shared_ptr<std::string> file, std::string path)
      : m_value(&value), m_file(std::move(file)), m_path(std::move(path)) {}

  const Json* m_value;
  std::shared_ptr<std::string> m_file;
  std::string m_path;
};

}  // namespace supple
