#include "supple/io/xml_tags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "supple/core/error.h"

namespace supple {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool ends_name(char c) { return is_blank(c) || c == '=' || c == '>' || c == '/' || c == '<'; }

}  // namespace

const std::string* XmlTag::find(std::string_view key) const {
  for (const auto& [name, text] : attributes)
    if (name == key) return &text;
  return nullptr;
}

void XmlTags::advance(size_t to) {
  m_line += std::count(m_text.begin() + static_cast<ptrdiff_t>(m_at),
                       m_text.begin() + static_cast<ptrdiff_t>(to), '\n');
  m_at = to;
}

bool XmlTags::skip_past(std::string_view end) {
  const size_t found = m_text.find(end, m_at);
  advance(found == std::string_view::npos ? m_text.size() : found + end.size());
  return found != std::string_view::npos;
}

void XmlTags::skip_blanks() {
  size_t to = m_at;
  while (to < m_text.size() && is_blank(m_text[to])) ++to;
  advance(to);
}

std::string XmlTags::take_name() {
  size_t end = m_at;
  while (end < m_text.size() && !ends_name(m_text[end])) ++end;
  std::string name(m_text.substr(m_at, end - m_at));
  m_at = end;
  return name;
}

void XmlTags::take_attribute(XmlTag& tag) {
  std::string key = take_name();
  skip_blanks();
  if (key.empty() || m_at >= m_text.size() || m_text[m_at] != '=')
    fail(tag, fmt::format("expected NAME=\"VALUE\" in <{}>", printable(tag.name)));
  ++m_at;
  skip_blanks();
  const char quote = m_at < m_text.size() ? m_text[m_at] : '\0';
  const size_t end =
      quote == '"' || quote == '\'' ? m_text.find(quote, m_at + 1) : std::string_view::npos;
  if (end == std::string_view::npos)
    fail(tag, fmt::format("the value of '{}' is not closed", printable(key)));
  std::string value = unescaped_xml(m_text.substr(m_at + 1, end - m_at - 1));
  advance(end + 1);
  if (tag.find(key)) fail(tag, fmt::format("'{}' is there twice", printable(key)));
  tag.attributes.emplace_back(std::move(key), std::move(value));
}

std::optional<XmlTag> XmlTags::next() {
  constexpr size_t most_attributes = 64;
  while (true) {
    const size_t open = m_text.find('<', m_at);
    if (open == std::string_view::npos) return std::nullopt;
    advance(open);
    XmlTag tag;
    tag.line = m_line;
    const std::string_view rest = m_text.substr(m_at);
    const bool comment = rest.starts_with("<!--"), declaration = rest.starts_with("<?");
    if (comment || declaration) {
      if (!skip_past(comment ? "-->" : "?>")) fail(tag, "the file is cut off inside a comment");
      continue;
    }
    ++m_at;
    const bool closing = m_at < m_text.size() && m_text[m_at] == '/';
    if (closing) ++m_at;
    tag.name = take_name();
    if (tag.name.empty()) fail(tag, "expected the name of a tag after '<'");
    tag.opens = !closing;
    tag.closes = closing;
    for (skip_blanks(); m_at < m_text.size() && m_text[m_at] != '>'; skip_blanks()) {
      if (m_text.substr(m_at, 2) == "/>") {
        tag.closes = true;
        ++m_at;
      } else if (tag.attributes.size() == most_attributes) {
        fail(tag,
             fmt::format("<{}> has more than {} attributes", printable(tag.name), most_attributes));
      } else {
        take_attribute(tag);
      }
    }
    if (m_at >= m_text.size())
      fail(tag, fmt::format("the file is cut off inside <{}>", printable(tag.name)));
    tag.end = ++m_at;
    return tag;
  }
}

const std::string& XmlTags::value(const XmlTag& tag, std::string_view key) const {
  if (const std::string* found = tag.find(key)) return *found;
  fail(tag, fmt::format("<{}> has no '{}'", printable(tag.name), key));
}

uint64_t XmlTags::count(const XmlTag& tag, std::string_view key, uint64_t most) const {
  const std::string& text = value(tag, key);
  uint64_t result = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
  if (error != std::errc() || end != text.data() + text.size() || result > most)
    fail(tag, fmt::format("{}=\"{}\" is not allowed (0 to {})", key, printable(text), most));
  return result;
}

void XmlTags::fail(const XmlTag& tag, std::string_view problem) const {
  throw_input_error(m_file, fmt::format("line {}", tag.line), problem);
}

std::string unescaped_xml(std::string_view text) {
  static constexpr std::pair<std::string_view, char> entities[] = {
      {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
  std::string result;
  while (!text.empty()) {
    const auto found = std::find_if(std::begin(entities), std::end(entities),
                                    [&](const auto& e) { return text.starts_with(e.first); });
    const bool entity = found != std::end(entities);
    result += entity ? found->second : text[0];
    text.remove_prefix(entity ? found->first.size() : 1);
  }
  return result;
}

}  // namespace supple
