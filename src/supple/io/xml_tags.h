// The tags of an XML text, one after the other: as much XML as VTK's files need. Comments and
// declarations are skipped; text between tags, CDATA and document types are not read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace supple {

/// One tag: <name key="value" ...>, <name .../> or </name>.
struct XmlTag {
  std::string name;
  bool opens = false;   ///< not </name>
  bool closes = false;  ///< </name> or <name/>
  int64_t line = 1;     ///< where it begins
  size_t end = 0;       ///< position behind its '>'
  std::vector<std::pair<std::string, std::string>> attributes;

  /// The value of an attribute, or null.
  const std::string* find(std::string_view key) const;
};

/// Reads the tags of a text in order.
class XmlTags {
 public:
  /// Reads `text`, which must outlive the object; `file` names it in errors.
  XmlTags(std::string_view text, std::string file) : m_text(text), m_file(std::move(file)) {}

  /// The next tag, nothing at the end; throws an input error when a tag is malformed or cut off.
  std::optional<XmlTag> next();

  /// The value of an attribute the tag must have.
  const std::string& value(const XmlTag& tag, std::string_view key) const;

  /// The value of an attribute as a whole number from 0 to `most`.
  uint64_t count(const XmlTag& tag, std::string_view key, uint64_t most) const;

  /// Throws an input error that names the file and the tag's line.
  [[noreturn]] void fail(const XmlTag& tag, std::string_view problem) const;

 private:
  void advance(size_t to);
  bool skip_past(std::string_view end);
  void skip_blanks();
  std::string take_name();
  void take_attribute(XmlTag& tag);

  std::string_view m_text;
  std::string m_file;
  size_t m_at = 0;
  int64_t m_line = 1;
};

/// XML text with its entities (&amp;lt; and the like) replaced.
std::string unescaped_xml(std::string_view text);

}  // namespace supple
