#include "supple/core/error.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace supple {
namespace {

// Length in bytes of the UTF-8 sequence `text` starts with, when it is a character fit for display:
// no control character, nothing that changes the direction of the text; 0 otherwise.
size_t displayable_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return lead >= 32 && lead != 127;
  const size_t length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (length == 0 || length > text.size()) return 0;
  uint32_t code = lead & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  const bool overlong = code < (length == 3 ? 0x800u : length == 4 ? 0x10000u : 0x80u);
  const bool control = code < 0xA0 || (code >= 0x2028 && code <= 0x202E) ||
                       (code >= 0x2066 && code <= 0x2069) || code == 0x200E || code == 0x200F;
  const bool no_character = (code >= 0xD800 && code < 0xE000) || code > 0x10FFFF;
  return overlong || control || no_character ? 0 : length;
}

// `text` with everything that cannot be displayed replaced, cut after `longest` bytes.
std::string displayable(std::string_view text, size_t longest) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const size_t length = displayable_length(text.substr(i));
    if (result.size() + std::max<size_t>(length, 1) > longest) return result + "...";
    if (length == 0)
      result += '?';
    else
      result += text.substr(i, length);
    i += std::max<size_t>(length, 1);
  }
  return result;
}

}  // namespace

// Fields may be named by the file itself, and files by other files.
void throw_input_error(std::string_view file, std::string_view field, std::string_view problem) {
  constexpr size_t longest_file = 4096, longest_field = 160;
  const std::string where = displayable(file, longest_file);
  if (field.empty()) throw Error(ErrorKind::input, fmt::format("{}: {}", where, problem));
  throw Error(ErrorKind::input,
              fmt::format("{}: {}: {}", where, displayable(field, longest_field), problem));
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
    // A word that shares no letter is not close, however short it is.
    if (distance < best_distance && distance < std::max(word.size(), candidate.size())) {
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

std::string printable(std::string_view text) { return displayable(text, 60); }

}  // namespace supple
