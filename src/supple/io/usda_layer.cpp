#include "supple/io/usda_layer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "supple/core/error.h"

namespace supple {
namespace {

constexpr int most_depth = 100;
constexpr size_t most_prims = 100'000;

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool describes_meshes(std::string_view name) {
  return is_one_of(name,
                   {"points", "faceVertexCounts", "faceVertexIndices", "orientation", "primvars:st",
                    "primvars:st:indices", "primvars:displayColor", "primvars:displayColor:indices",
                    "userProperties:material", "xformOpOrder", "indices", "elementType"});
}

bool parse_number(std::string_view text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

// Reads the grammar: metadata, prims, properties.
class LayerParser {
 public:
  explicit LayerParser(const InputFile& file) : m_file(file), m_scan(file) {}

  UsdaLayer parse() {
    constexpr std::string_view magic = "#usda 1.0";
    const Bytes head = m_file.read(0, std::min<uint64_t>(m_file.size(), magic.size()));
    if (as_text(head) != magic) throw_input_error(m_file.name(), "line 1", "is not '#usda 1.0'");
    if (m_scan.peek() == '(') layer_metadata();
    while (m_scan.peek() != '\0') statement(-1, 0);
    return std::move(m_layer);
  }

 private:
  // Calls `take(key)` with the scanner before each value; what it leaves is passed over.
  template <class Take>
  void metadata(const Take& take) {
    m_scan.expect('(');
    while (!m_scan.take(')')) {
      const char c = m_scan.peek();
      if (c == '"' || c == '\'') {
        m_scan.skip_value();  // a comment
        continue;
      }
      if (m_scan.take(',')) continue;
      std::string key = m_scan.word("a name or ')'");
      if (is_one_of(key, {"prepend", "append", "add", "delete", "reorder"}))
        key = m_scan.word("a name");
      m_scan.expect('=');
      if (!take(key)) m_scan.skip_value();
    }
  }

  double number(std::string_view key, double least, double most) {
    const std::string text = m_scan.word("a number");
    double value = 0;
    if (!parse_number(text, value) || value < least || value > most)
      m_scan.fail(
          fmt::format("{} = {} is not allowed ({} to {})", key, printable(text), least, most));
    return value;
  }

  void layer_metadata() {
    bool has_time_codes = false;
    metadata([&](const std::string& key) {
      if (key == "metersPerUnit") {
        m_layer.meters_per_unit = number(key, 1e-9, 1e9);
      } else if (key == "timeCodesPerSecond") {
        m_layer.time_codes_per_second = number(key, 1e-6, 1e6);
        has_time_codes = true;
      } else if (key == "framesPerSecond") {
        const double rate = number(key, 1e-6, 1e6);
        if (!has_time_codes) m_layer.time_codes_per_second = rate;
      } else if (key == "startTimeCode") {
        m_layer.start_time = number(key, -1e9, 1e9);
      } else if (key == "upAxis") {
        m_layer.up_axis = m_scan.quoted("\"Y\" or \"Z\"");
        if (m_layer.up_axis != "Y" && m_layer.up_axis != "Z")
          m_scan.fail(
              fmt::format("upAxis = \"{}\" is not allowed (Y or Z)", printable(m_layer.up_axis)));
      } else {
        return false;
      }
      return true;
    });
  }

  // One prim, property or variant set of a prim's body (or the layer's).
  void statement(int prim, int depth) {
    const std::string word = m_scan.word("a prim or property");
    if (is_one_of(word, {"def", "over", "class"})) {
      new_prim(word == "def", prim, depth);
    } else if (word == "variantSet") {
      m_scan.quoted("the name of a variant set");
      m_scan.expect('=');
      m_scan.skip_value();
    } else {
      property(word, prim);
    }
  }

  void new_prim(bool is_defined, int parent, int depth) {
    if (depth == most_depth) m_scan.fail(fmt::format("prims nest deeper than {}", most_depth));
    if (m_layer.prims.size() == most_prims)
      m_scan.fail(fmt::format("there are more than {} prims", most_prims));
    const int index = static_cast<int>(m_layer.prims.size());
    UsdaPrim prim;
    prim.is_defined =
        is_defined && (parent < 0 || m_layer.prims[static_cast<size_t>(parent)].is_defined);
    prim.parent = parent;
    if (const char c = m_scan.peek(); c != '"' && c != '\'') prim.type = m_scan.word("a type");
    prim.name = m_scan.quoted("the name of a prim");
    m_layer.prims.push_back(std::move(prim));
    if (m_scan.peek() == '(') metadata([](const std::string&) { return false; });
    m_scan.expect('{');
    while (!m_scan.take('}')) statement(index, depth + 1);
  }

  // [custom] [uniform] [prepend] TYPE NAME[.timeSamples] [= VALUE] [(METADATA)]
  void property(std::string word, int prim) {
    while (is_one_of(word, {"custom", "uniform", "varying", "config", "prepend", "append", "add",
                            "delete", "reorder"}))
      word = m_scan.word("a type");
    if (m_scan.take('[')) m_scan.expect(']');
    const bool has_name = !is_one_of(word, {"nameChildren", "properties", "rootPrims"});
    std::string name = has_name ? m_scan.word("the name of a property") : word;
    constexpr std::string_view suffix = ".timeSamples";
    const bool sampled = name.ends_with(suffix);
    if (sampled) name.resize(name.size() - suffix.size());
    UsdaProperty unused;
    UsdaProperty& found = prim >= 0 && describes_meshes(name) ? property_of(prim, name) : unused;
    if (m_scan.take('=')) {
      if (sampled && name == "points")
        samples(found);
      else if (sampled || name.find('.') != std::string::npos)
        m_scan.skip_value();
      else
        found.value = m_scan.skip_value();
    }
    if (m_scan.peek() == '(')
      metadata([&](const std::string& key) {
        if (key != "interpolation") return false;
        found.interpolation = m_scan.quoted("an interpolation");
        return true;
      });
  }

  // A property may be declared in one place and get its samples in another.
  UsdaProperty& property_of(int prim, const std::string& name) {
    std::vector<UsdaProperty>& all = m_layer.prims[static_cast<size_t>(prim)].properties;
    for (UsdaProperty& known : all)
      if (known.name == name) return known;
    all.emplace_back();
    all.back().name = name;
    return all.back();
  }

  void samples(UsdaProperty& property) {
    m_scan.expect('{');
    property.samples.clear();
    while (!m_scan.take('}')) {
      std::string key = m_scan.word("a time code");
      const size_t colon = key.find(':');
      // "7:[" and "7 : [" are the same; "7:None" is one word.
      if (colon != std::string::npos && colon + 1 < key.size())
        m_scan.fail(fmt::format("time code {} has no list", printable(key.substr(0, colon))));
      if (colon == std::string::npos && m_scan.word("':'") != ":")
        m_scan.fail("expected ':' after a time code");
      UsdaSample sample;
      const std::string_view digits = std::string_view(key).substr(0, colon);
      if (!parse_number(digits, sample.time) || std::abs(sample.time) > 1e9)
        m_scan.fail(fmt::format("'{}' is not a time code", printable(digits)));
      sample.value = m_scan.skip_value();
      property.samples.push_back(sample);
      if (m_scan.peek() != '}') m_scan.expect(',');
    }
  }

  const InputFile& m_file;
  UsdaScanner m_scan;
  UsdaLayer m_layer;
};

// Numbers of a value that has been read into memory.
class ValueReader {
 public:
  ValueReader(const InputFile& file, const UsdaSpan& span)
      : m_file(file), m_span(span), m_bytes(file.read(span.begin, span.end - span.begin)) {
    m_text = as_text(m_bytes);
  }

  bool take(char c) {
    skip_blanks();
    if (m_at >= m_text.size() || m_text[m_at] != c) return false;
    ++m_at;
    return true;
  }

  void expect(char c) {
    if (!take(c)) fail(fmt::format("expected '{}'", c));
  }

  // Passes over a comma, which may be missing before `end`; says whether the list goes on.
  bool next(char end) {
    const bool comma = take(',');
    if (take(end)) return false;
    if (!comma) fail(fmt::format("expected ',' or '{}'", end));
    return true;
  }

  template <class T>
  T number(const char* what) {
    skip_blanks();
    T value{};
    const char* begin = m_text.data() + m_at;
    const char* const text_end = m_text.data() + m_text.size();
    auto [end, error] = std::from_chars(begin, text_end, value);
    if constexpr (std::is_same_v<T, float>)
      if (error == std::errc::result_out_of_range) {
        double wide = 0;  // what is too small for a float is zero
        end = std::from_chars(begin, text_end, wide).ptr;
        error = std::abs(wide) < 1 ? std::errc() : error;
        value = static_cast<float>(std::abs(wide) < 1 ? wide : 0);
      }
    if (error != std::errc()) fail(fmt::format("expected {}", what));
    m_at += static_cast<size_t>(end - begin);
    return value;
  }

  size_t size() const { return m_text.size(); }

 private:
  void skip_blanks() {
    for (; m_at < m_text.size(); ++m_at) {
      const char c = m_text[m_at];
      if (c == '#')
        m_at = std::min(m_text.find('\n', m_at), m_text.size() - 1);
      else if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
        return;
    }
  }

  [[noreturn]] void fail(const std::string& expected) const {
    const auto here = m_text.begin() + static_cast<ptrdiff_t>(std::min(m_at, m_text.size()));
    throw_input_error(
        m_file.name(), fmt::format("line {}", m_span.line + std::count(m_text.begin(), here, '\n')),
        fmt::format("{}, found '{}'", expected,
                    printable(std::string(here, here == m_text.end() ? here : here + 1))));
  }

  const InputFile& m_file;
  UsdaSpan m_span;
  Bytes m_bytes;
  std::string_view m_text;
  size_t m_at = 0;
};

}  // namespace

const UsdaProperty* UsdaPrim::find(std::string_view property) const {
  for (const UsdaProperty& known : properties)
    if (known.name == property) return &known;
  return nullptr;
}

UsdaLayer read_usda_layer(const InputFile& file) { return LayerParser(file).parse(); }

std::string read_usda_text(const InputFile& file, const UsdaSpan& span) {
  constexpr uint64_t longest = 4096;
  const Bytes bytes = file.read(span.begin, std::min(span.end - span.begin, longest));
  std::string_view text = as_text(bytes);
  if (text.size() < 2 || (text[0] != '"' && text[0] != '\'')) return std::string(text);
  text = text.substr(1, text.size() - 2);
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    result += text[i];
  }
  return result;
}

std::vector<int64_t> read_usda_integers(const InputFile& file, const UsdaSpan& span) {
  ValueReader reader(file, span);
  std::vector<int64_t> result;
  reader.expect('[');
  if (reader.take(']')) return result;
  result.reserve(reader.size() / 8);
  do result.push_back(reader.number<int64_t>("a whole number"));
  while (reader.next(']'));
  return result;
}

std::vector<float> read_usda_tuples(const InputFile& file, const UsdaSpan& span, int components) {
  ValueReader reader(file, span);
  std::vector<float> result;
  reader.expect('[');
  if (reader.take(']')) return result;
  result.reserve(reader.size() / 12);
  do {
    reader.expect('(');
    for (int k = 0; k < components; ++k) {
      if (k > 0) reader.expect(',');
      result.push_back(reader.number<float>("a number"));
    }
    reader.expect(')');
  } while (reader.next(']'));
  return result;
}

}  // namespace supple
