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

std::string printable(std::string_view text) {
  constexpr size_t longest = 60;
  std::string result(text.substr(0, longest));
  for (char& c : result)
    if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) c = '?';
  if (text.size() > longest) result += "...";
  return result;
}

}  // namespace supple
