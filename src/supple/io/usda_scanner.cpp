#include "supple/io/usda_scanner.h"

#include <algorithm>
#include <array>

#include "supple/core/error.h"

namespace supple {
namespace {

constexpr size_t longest_text = 4096;

enum class Kind : uint8_t { plain, blank, line_end, open, close, quote, comment, mark };

constexpr std::array<Kind, 256> kinds = [] {
  std::array<Kind, 256> table{};
  const auto set = [&](std::string_view characters, Kind kind) {
    for (const char c : characters) table[static_cast<unsigned char>(c)] = kind;
  };
  set(" \t\r\v\f", Kind::blank);
  set("\n", Kind::line_end);
  set("([{", Kind::open);
  set(")]}", Kind::close);
  set("\"'", Kind::quote);
  set("#", Kind::comment);
  set("=,;@<>", Kind::mark);
  return table;
}();

Kind kind_of(char c) { return kinds[static_cast<unsigned char>(c)]; }

}  // namespace

UsdaScanner::UsdaScanner(const InputFile& file) : m_file(file) {}

bool UsdaScanner::refill() {
  constexpr uint64_t window = 1 << 18;
  m_base += m_window.size();
  m_at = 0;
  m_window = m_file.read(m_base, std::min(window, m_file.size() - m_base));
  return !m_window.empty();
}

char UsdaScanner::get() {
  if (at_end()) fail("the file is cut off");
  const char c = current();
  ++m_at;
  if (c == '\n') ++m_line;
  return c;
}

void UsdaScanner::skip_line() {
  while (!at_end() && current() != '\n') ++m_at;
}

char UsdaScanner::peek() {
  while (!at_end()) {
    const char c = current();
    const Kind kind = kind_of(c);
    if (kind == Kind::comment)
      skip_line();
    else if (kind == Kind::blank || kind == Kind::line_end || c == ';')
      get();
    else if (c == '\0')
      fail("a byte of zero is not text");
    else
      return c;
  }
  return '\0';
}

void UsdaScanner::expect(char c) {
  if (!take(c)) fail_expected(fmt::format("'{}'", c));
}

bool UsdaScanner::take(char c) {
  if (peek() != c || at_end()) return false;
  ++m_at;
  return true;
}

std::string UsdaScanner::word(std::string_view what) {
  std::string text;
  peek();
  while (!at_end() && kind_of(current()) == Kind::plain) {
    if (text.size() == longest_text) fail("a word is too long");
    text += get();
  }
  if (text.empty()) fail_expected(what);
  return text;
}

std::string UsdaScanner::quoted(std::string_view what) {
  const char c = peek();
  if (kind_of(c) != Kind::quote) fail_expected(what);
  std::string text;
  skip_string(&text);
  return text;
}

// "...", '...' on one line, or three quotes of a kind around any text.
void UsdaScanner::skip_string(std::string* text) {
  const char quote = get();
  size_t quotes = 1;  // at the begin
  while (quotes < 3 && !at_end() && current() == quote) {
    ++m_at;
    ++quotes;
  }
  if (quotes == 2) return;  // empty
  for (size_t closing = 0; closing < quotes;) {
    char c = get();
    closing = c == quote ? closing + 1 : 0;
    if (c == '\n' && quotes == 1) fail("a string is not closed");
    if (c == '\\') c = get();
    if (text && closing == 0 && text->size() < longest_text) *text += c;
  }
}

void UsdaScanner::skip_until(char end) {
  get();
  while (get() != end) {
  }
}

void UsdaScanner::skip_brackets() {
  const int64_t begin = m_line;
  for (uint64_t depth = 0;;) {
    if (at_end())
      fail(fmt::format("the file is cut off in the value that begins on line {}", begin));
    switch (kind_of(current())) {
      case Kind::open:
        ++depth;
        break;
      case Kind::close:
        --depth;
        break;
      case Kind::quote:
        skip_string(nullptr);
        continue;
      case Kind::comment:
        skip_line();
        continue;
      case Kind::line_end:
        ++m_line;
        break;
      default:
        break;
    }
    ++m_at;
    if (depth == 0) return;
  }
}

UsdaSpan UsdaScanner::skip_value() {
  const char c = peek();
  UsdaSpan span{offset(), 0, m_line};
  if (kind_of(c) == Kind::open)
    skip_brackets();
  else if (kind_of(c) == Kind::quote)
    skip_string(nullptr);
  else if (c == '@')
    skip_until('@');
  else if (c == '<')
    skip_until('>');
  else
    word("a value");
  span.end = offset();
  return span;
}

void UsdaScanner::fail(std::string_view problem) const {
  throw_input_error(m_file.name(), fmt::format("line {}", m_line), problem);
}

void UsdaScanner::fail_expected(std::string_view what) {
  if (at_end()) fail(fmt::format("expected {}, found the end of the file", what));
  fail(fmt::format("expected {}, found '{}'", what, printable(std::string(1, current()))));
}

}  // namespace supple
