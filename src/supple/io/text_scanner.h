// A scanner over the text formats: tokens, numbers and lines, with the line number in every error.
// Lines end in LF, CRLF or CR and may be of any length; the text is not copied.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "supple/core/bytes.h"

namespace supple {

/// How a format writes what is not data.
struct TextRules {
  char comment = '\0';        ///< starts a comment that runs to the end of the line; 0 for none
  bool continuation = false;  ///< a backslash before the line end joins two lines
};

/// Reads a text token by token. Tokens are runs of bytes other than blanks and line ends, given as
/// views of the text.
class TextScanner {
 public:
  /// Scans `bytes`, which must outlive the scanner; `file` is the name errors give.
  TextScanner(ByteView bytes, std::string file, TextRules rules = {});

  /// The next token on this or a later line; nothing at the end of the text.
  std::optional<std::string_view> try_token();

  /// The next token on this or a later line; fails with "expected `what`" at the end of the text.
  std::string_view token(std::string_view what);

  /// The next token on this line; nothing when the line has no more.
  std::optional<std::string_view> try_token_on_line();

  /// The next token on this line; fails with "expected `what`" when the line has no more.
  std::string_view token_on_line(std::string_view what);

  /// Reads a token that must be `word`, whatever the case of its letters.
  void expect(std::string_view word);

  /// Reads "`label`:", whatever the case of its letters.
  void expect_label(std::string_view label);

  /// The text from the next token up to `stop` or the end of its line, without blanks at its end;
  /// `stop` and the line end stay unread.
  std::string_view text_until(char stop);

  /// The text up to the end of the line without blanks at both ends; goes on to the next line.
  std::string_view rest_of_line();

  /// Goes on to the next line.
  void skip_line() { rest_of_line(); }

  /// The next token as a finite number.
  double number(std::string_view what) { return to_number(token(what), what); }

  /// The next token as a whole number.
  int64_t integer(std::string_view what) { return to_integer(token(what), what); }

  /// The next token as a number of items, each of which takes at least `bytes_each` bytes of the
  /// text that follows: a count the rest of the file cannot hold is refused.
  size_t count(std::string_view what, size_t bytes_each);

  /// A token as a finite number; NaN, infinities and numbers beyond a double are refused.
  double to_number(std::string_view token, std::string_view what) const;

  /// A token as a finite number that a float can hold.
  float to_float(std::string_view token, std::string_view what) const;

  /// A token as a whole number.
  int64_t to_integer(std::string_view token, std::string_view what) const;

  /// Throws an input error that names the file and the line of the last token.
  [[noreturn]] void fail(std::string_view problem) const;

  /// Throws "expected `what`, found 'TOKEN'".
  [[noreturn]] void fail_expected(std::string_view what, std::string_view found) const;

  /// Line of the last token, counted from one.
  int64_t line() const { return m_token_line; }

  /// Bytes not yet read.
  size_t remaining() const { return m_text.size() - m_at; }

  /// Position of the next unread byte.
  size_t offset() const { return m_at; }

  /// Goes on at a later position of the text.
  void seek(size_t offset);

  /// The name errors give.
  const std::string& file() const { return m_file; }

 private:
  bool at_line_end() const;
  bool at_continuation() const;
  void take_line_end();
  void skip_blanks();
  void skip_to_token();
  std::string_view take_token();

  std::string_view m_text;
  std::string m_file;
  TextRules m_rules;
  size_t m_at = 0;
  int64_t m_line = 1;        // line of the next unread byte
  int64_t m_token_line = 1;  // line of the last token
};

/// True when two ASCII words are the same apart from the case of their letters.
bool same_word(std::string_view a, std::string_view b);

/// A name from a file as valid UTF-8 of at most 255 bytes without control characters; other bytes
/// become '?', longer names are cut.
std::string clean_name(std::string_view name);

}  // namespace supple
