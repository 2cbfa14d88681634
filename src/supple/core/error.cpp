#include "supple/core/error.h"

#include <algorithm>
#include <numeric>

namespace supple {

void throw_input_error(std::string_view file, std::string_view field, std::string_view problem) {
  throw Error(ErrorKind::input, field.empty() ? fmt::format("{}: {}", file, problem)
                                              : fmt::format("{}: {}: {}", file, field, problem));
}

void throw_output_error(std::string_view file, std::string_view problem) {
  throw Error(ErrorKind::output, fmt::format("cannot write {}: {}", file, problem));
}

namespace {

// Levenshtein distance by the two-row recurrence.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t substitute = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substitute, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
  if (word.size() > 64) return {};
  std::string best;
  size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  const std::string nearest = nearest_word(word, known);
  return nearest.empty() ? std::string{} : fmt::format("; did you mean '{}'?", nearest);
}

namespace {

// Length in bytes of the printable UTF-8 character at the start of `text`; 0 when there is none.
size_t printable_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return byte(0) >= 32 && byte(0) != 127 ? 1 : 0;
  const size_t length = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < length) return 0;
  uint32_t code = byte(0) & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  constexpr uint32_t shortest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool valid =
      code >= shortest[length] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
  // Controls of the upper set, line separators, and marks that turn the reading direction.
  const bool control =
      code < 0xA0 || (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return valid && !control ? length : 0;
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr size_t longest = 60;  // characters
  std::string result;
  for (size_t characters = 0; !text.empty(); ++characters) {
    if (characters == longest) return result + "...";
    const size_t length = printable_length(text);
    result += length == 0 ? "?" : text.substr(0, length);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return result;
}

}  // namespace supple
