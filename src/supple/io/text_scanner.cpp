#include "supple/io/text_scanner.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "supple/core/error.h"

namespace supple {
namespace {

// Which bytes end a token: blanks, line ends, and a backslash, which may join lines.
constexpr std::array<bool, 256> ends_token = [] {
  std::array<bool, 256> table{};
  for (const char c : {' ', '\t', '\v', '\f', '\n', '\r', '\\'})
    table[static_cast<unsigned char>(c)] = true;
  return table;
}();

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

bool is_line_end(char c) { return c == '\n' || c == '\r'; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// A plus sign is legal in all our formats but unknown to from_chars.
std::string_view without_plus(std::string_view token) {
  if (token.size() > 1 && token[0] == '+' && token[1] != '-') token.remove_prefix(1);
  return token;
}

// Whether a number from_chars calls out of range is so because it is too close to zero.
bool is_tiny(std::string_view token) {
  const size_t exponent = token.find_first_of("eE");
  if (exponent != std::string_view::npos) return token.substr(exponent + 1).starts_with('-');
  if (token.starts_with('-')) token.remove_prefix(1);
  return token.starts_with('.') || token.starts_with("0.");
}

// Bytes of the UTF-8 character at the start of `text`, or 0 when there is no valid one.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF5 ? 0 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  // No overlong forms, surrogates or code points past U+10FFFF.
  const unsigned char second = byte(1);
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0)) return 0;
  if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90)) return 0;
  return length;
}

}  // namespace

TextScanner::TextScanner(ByteView bytes, std::string file, TextRules rules)
    : m_text(as_text(bytes)), m_file(std::move(file)), m_rules(rules) {
  if (m_text.starts_with("\xEF\xBB\xBF")) m_at = 3;  // byte order mark
}

bool TextScanner::at_line_end() const { return m_at < m_text.size() && is_line_end(m_text[m_at]); }

bool TextScanner::at_continuation() const {
  return m_rules.continuation && m_at + 1 < m_text.size() && m_text[m_at] == '\\' &&
         is_line_end(m_text[m_at + 1]);
}

void TextScanner::take_line_end() {
  if (m_at >= m_text.size()) return;
  m_at += m_text.substr(m_at, 2) == "\r\n" ? 2 : 1;
  ++m_line;
}

// Moves to the next token, line end or end of the text.
void TextScanner::skip_blanks() {
  while (m_at < m_text.size()) {
    if (is_blank(m_text[m_at])) {
      ++m_at;
    } else if (at_continuation()) {
      ++m_at;
      take_line_end();
    } else if (m_rules.comment != '\0' && m_text[m_at] == m_rules.comment) {
      while (m_at < m_text.size() && !is_line_end(m_text[m_at])) ++m_at;
    } else {
      return;
    }
  }
}

std::string_view TextScanner::take_token() {
  m_token_line = m_line;
  const size_t first = m_at;
  for (; m_at < m_text.size(); ++m_at) {
    const char c = m_text[m_at];
    if (ends_token[static_cast<unsigned char>(c)] && (c != '\\' || at_continuation())) break;
  }
  return m_text.substr(first, m_at - first);
}

std::optional<std::string_view> TextScanner::try_token_on_line() {
  skip_blanks();
  if (m_at >= m_text.size() || at_line_end()) return std::nullopt;
  return take_token();
}

void TextScanner::skip_to_token() {
  for (skip_blanks(); at_line_end(); skip_blanks()) take_line_end();
}

std::optional<std::string_view> TextScanner::try_token() {
  skip_to_token();
  return try_token_on_line();
}

std::string_view TextScanner::token(std::string_view what) {
  if (const auto found = try_token()) return *found;
  m_token_line = m_line;
  fail(fmt::format("expected {}, found the end of the file", what));
}

std::string_view TextScanner::token_on_line(std::string_view what) {
  if (const auto found = try_token_on_line()) return *found;
  m_token_line = m_line;
  fail(fmt::format("expected {}, found the end of the line", what));
}

void TextScanner::expect(std::string_view word) {
  const std::string quoted = fmt::format("'{}'", word);
  const std::string_view found = token(quoted);
  if (!same_word(found, word)) fail_expected(quoted, found);
}

void TextScanner::expect_label(std::string_view label) {
  const std::string_view found = text_until(':');
  const bool colon = m_at < m_text.size() && m_text[m_at] == ':';
  if (!colon || !same_word(found, label)) fail_expected(fmt::format("'{}:'", label), found);
  ++m_at;
}

std::string_view TextScanner::text_until(char stop) {
  skip_to_token();
  m_token_line = m_line;
  const size_t first = m_at;
  while (m_at < m_text.size() && m_text[m_at] != stop && !is_line_end(m_text[m_at])) ++m_at;
  return trimmed(m_text.substr(first, m_at - first));
}

std::string_view TextScanner::rest_of_line() {
  m_token_line = m_line;
  const size_t first = m_at;
  const auto to_line_end = [&] {
    while (m_at < m_text.size() && !is_line_end(m_text[m_at]) && !at_continuation()) ++m_at;
  };
  to_line_end();
  const std::string_view text = trimmed(m_text.substr(first, m_at - first));
  // Joined lines belong to this one.
  while (at_continuation()) {
    ++m_at;
    take_line_end();
    to_line_end();
  }
  take_line_end();
  return text;
}

void TextScanner::seek(size_t offset) {
  const std::string_view skipped = m_text.substr(m_at, offset - m_at);
  m_line += std::count(skipped.begin(), skipped.end(), '\n');
  m_at = offset;
}

size_t TextScanner::count(std::string_view what, size_t bytes_each) {
  const int64_t value = integer(what);
  if (value < 0 || value > std::numeric_limits<int32_t>::max())
    fail(fmt::format("expected {} from 0 to 2147483647, found {}", what, value));
  // The last item needs no line end.
  if (static_cast<size_t>(value) * bytes_each > remaining() + 1)
    fail(fmt::format("{} is {}, more than the remaining {} bytes can hold", what, value,
                     remaining()));
  return static_cast<size_t>(value);
}

double TextScanner::to_number(std::string_view token, std::string_view what) const {
  const std::string_view digits = without_plus(token);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::invalid_argument || end != digits.data() + digits.size())
    fail_expected(what, token);
  if (error == std::errc::result_out_of_range && is_tiny(digits)) return 0;
  if (error != std::errc() || !std::isfinite(value))
    fail_expected(fmt::format("{} that is finite", what), token);
  return value;
}

float TextScanner::to_float(std::string_view token, std::string_view what) const {
  const double value = to_number(token, what);
  if (std::abs(value) > std::numeric_limits<float>::max())
    fail_expected(fmt::format("{} below 3.4e38", what), token);
  return static_cast<float>(value);
}

int64_t TextScanner::to_integer(std::string_view token, std::string_view what) const {
  const std::string_view digits = without_plus(token);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) fail_expected(what, token);
  return value;
}

void TextScanner::fail(std::string_view problem) const {
  throw_input_error(m_file, fmt::format("line {}", m_token_line), problem);
}

void TextScanner::fail_expected(std::string_view what, std::string_view found) const {
  fail(fmt::format("expected {}, found '{}'", what, printable(found)));
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::string clean_name(std::string_view name) {
  constexpr size_t longest = 255;
  std::string result;
  while (!name.empty()) {
    const size_t length = utf8_length(name);
    if (result.size() + std::max<size_t>(length, 1) > longest) break;
    const bool control = static_cast<unsigned char>(name[0]) < 32 || name[0] == 127;
    if (length == 0 || control)
      result += '?';
    else
      result += name.substr(0, length);
    name.remove_prefix(std::max<size_t>(length, 1));
  }
  return result;
}

}  // namespace supple
