// The one exception type of the library: what went wrong, in one line, and whose fault it is.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace supple {

/// Whose fault a failure is; the command line maps each kind to an exit code.
enum class ErrorKind { simulation, usage, input, output, interrupted };

/// A failure with a one-line message that names file, field, value and what is allowed.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), m_kind(kind) {}

  /// Whose fault the failure is.
  ErrorKind kind() const { return m_kind; }

 private:
  ErrorKind m_kind;
};

/// An input file is wrong: "FILE: FIELD: PROBLEM" (field may be empty).
[[noreturn]] void throw_input_error(std::string_view file, std::string_view field,
                                    std::string_view problem);

/// A file cannot be written: "cannot write FILE: PROBLEM".
[[noreturn]] void throw_output_error(std::string_view file, std::string_view problem);

/// The known word closest to `word` by edit distance, or empty when none is close.
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

/// "; did you mean 'X'?" for the known word closest to `word`, or empty when none is close.
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

/// Text from a file made fit for a one-line message: control characters and bytes that are not
/// UTF-8 replaced, long text shortened.
std::string printable(std::string_view text);

}  // namespace supple
