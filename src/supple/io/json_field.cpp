#include "supple/io/json_field.h"

#include <algorithm>
#include <cmath>

#include "supple/core/error.h"

namespace supple {
namespace {

std::string shown(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  return printable(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// Refuses text that would take the JSON library too long or too deep: values nested so far that
// copying them overflows the stack, and objects so large that its linear search for repeated keys
// takes quadratic time.
void refuse_excess(std::string_view text, const std::string& file) {
  constexpr size_t deepest = 256, most_members = 20000;
  struct Level {
    bool is_object;
    size_t members;
  };
  std::vector<Level> levels;  // the lists and objects around the place
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      levels.push_back({c == '{', 0});
      if (levels.size() > deepest)
        throw_input_error(file, "", fmt::format("is nested deeper than {} levels", deepest));
    } else if ((c == '}' || c == ']') && !levels.empty()) {
      levels.pop_back();
    } else if (c == ',' && !levels.empty() && levels.back().is_object &&
               ++levels.back().members > most_members) {
      throw_input_error(file, "",
                        fmt::format("has an object of more than {} members", most_members));
    }
  }
}

}  // namespace

Json parse_json(ByteView bytes, const std::string& file) {
  const std::string_view text = as_text(bytes);
  refuse_excess(text, file);
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const Json::parse_error& error) {
    const size_t at = std::min<size_t>(error.byte, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(at), '\n');
    throw_input_error(file, fmt::format("line {}", line), "is not valid JSON");
  } catch (const Json::exception&) {
    throw_input_error(file, "", "is not valid JSON");
  }
}

bool JsonField::has(std::string_view key) const { return object().m_value->contains(key); }

std::optional<JsonField> JsonField::find(std::string_view key) const {
  const auto found = object().m_value->find(key);
  if (found == m_value->end()) return std::nullopt;
  std::string path = m_path.empty() ? std::string(key) : m_path + "." + std::string(key);
  return JsonField(*found, m_file, std::move(path));
}

JsonField JsonField::operator[](std::string_view key) const {
  if (auto field = find(key)) return *field;
  throw_input_error(*m_file, m_path.empty() ? std::string(key) : m_path + "." + std::string(key),
                    "is missing");
}

JsonField JsonField::operator[](size_t index) const {
  if (index >= size()) fail(fmt::format("has only {} entries", size()));
  return JsonField((*m_value)[index], m_file, fmt::format("{}[{}]", m_path, index));
}

size_t JsonField::size() const {
  if (!m_value->is_array()) fail(fmt::format("must be a list, found {}", shown(*m_value)));
  return m_value->size();
}

int64_t JsonField::integer(int64_t min, int64_t max) const {
  // Whole numbers written as 3.0 are accepted, as JSON does not tell the two apart.
  double value = std::numeric_limits<double>::quiet_NaN();
  if (m_value->is_number()) value = m_value->get<double>();
  if (!(std::abs(value) <= 9.0e15) || value != std::floor(value))
    fail(fmt::format("must be a whole number, found {}", shown(*m_value)));
  const auto whole = static_cast<int64_t>(value);
  if (whole < min || whole > max) {
    if (max == std::numeric_limits<int64_t>::max())
      fail(fmt::format("{} is not allowed ({} or more)", whole, min));
    fail(fmt::format("{} is not allowed ({} to {})", whole, min, max));
  }
  return whole;
}

int JsonField::index(size_t count, std::string_view what) const {
  const int64_t value = integer(std::numeric_limits<int64_t>::min());
  if (value < 0 || value >= static_cast<int64_t>(count))
    fail(fmt::format("{} is not one of the file's {} {}", value, count, what));
  return static_cast<int>(value);
}

double JsonField::number(double min, double max) const {
  if (!m_value->is_number()) fail(fmt::format("must be a number, found {}", shown(*m_value)));
  const double value = m_value->get<double>();
  if (!std::isfinite(value)) fail("must be a finite number");
  if (value < min || value > max) {
    if (max == std::numeric_limits<double>::max())
      fail(fmt::format("{} is not allowed ({} or more)", value, min));
    fail(fmt::format("{} is not allowed ({} to {})", value, min, max));
  }
  return value;
}

std::vector<double> JsonField::numbers(size_t count) const {
  if (size() != count) fail(fmt::format("must have {} numbers, found {}", count, size()));
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i) values.push_back((*this)[i].number());
  return values;
}

std::string JsonField::text() const {
  if (!m_value->is_string()) fail(fmt::format("must be a text, found {}", shown(*m_value)));
  return m_value->get<std::string>();
}

bool JsonField::boolean() const {
  if (!m_value->is_boolean()) fail(fmt::format("must be true or false, found {}", shown(*m_value)));
  return m_value->get<bool>();
}

const JsonField& JsonField::object() const {
  if (!m_value->is_object()) fail(fmt::format("must be an object, found {}", shown(*m_value)));
  return *this;
}

void JsonField::fail(std::string_view problem) const {
  throw_input_error(*m_file, m_path, problem);
}

}  // namespace supple
