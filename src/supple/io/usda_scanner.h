// A scanner over USD text that holds only a window of the file in memory: layers with time samples
// can be larger than memory. Values are passed over and remembered by their place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "supple/core/input_file.h"

namespace supple {

/// Where a value stands in the file.
struct UsdaSpan {
  uint64_t begin = 0;
  uint64_t end = 0;
  int64_t line = 1;  ///< of its first character

  /// True when there is no value.
  bool empty() const { return begin == end; }
};

/// Reads a layer from its begin to its end.
class UsdaScanner {
 public:
  /// Scans `file`, which must outlive the scanner.
  explicit UsdaScanner(const InputFile& file);

  /// The next character after blanks and comments, which are passed over; 0 at the end.
  char peek();

  /// Passes over one character that must be `c`.
  void expect(char c);

  /// Passes over `c` where it is next; says whether it was.
  bool take(char c);

  /// The next word: a keyword, name or number; throws "expected `what`" where there is none.
  std::string word(std::string_view what);

  /// The next quoted string without its quotes, cut after a few thousand bytes.
  std::string quoted(std::string_view what);

  /// Passes over a value: a word, string, path, asset, or anything in brackets.
  UsdaSpan skip_value();

  /// Throws an input error that names the file and the line.
  [[noreturn]] void fail(std::string_view problem) const;

  /// Throws "expected `what`, found ...".
  [[noreturn]] void fail_expected(std::string_view what);

  /// Line of the next character, counted from one.
  int64_t line() const { return m_line; }

 private:
  bool refill();
  bool at_end() { return m_at == m_window.size() && !refill(); }
  char current() const { return static_cast<char>(m_window[m_at]); }
  uint64_t offset() const { return m_base + m_at; }
  char get();
  void skip_line();
  void skip_string(std::string* text);
  void skip_until(char end);
  void skip_brackets();

  const InputFile& m_file;
  Bytes m_window;
  uint64_t m_base = 0;  // the window's place in the file
  size_t m_at = 0;
  int64_t m_line = 1;
};

}  // namespace supple
