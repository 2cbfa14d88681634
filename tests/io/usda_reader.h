// A reader of the part of USDA that the tests need, written from the grammar and not from the
// writer: nested prims, attributes with values or time samples, metadata in parentheses. Anything
// unbalanced or unexpected throws std::runtime_error.
#pragma once

#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace supple::test {

/// One attribute: its type, values as words, time samples as numbers, and metadata.
struct UsdAttribute {
  std::string type;
  std::vector<std::string> words;
  std::map<int, std::vector<float>> samples;
  std::map<std::string, std::string> metadata;

  /// The words as floats.
  std::vector<float> numbers() const {
    std::vector<float> result;
    for (const std::string& word : words) result.push_back(std::strtof(word.c_str(), nullptr));
    return result;
  }
};

/// One prim with its attributes and children.
struct UsdPrim {
  std::string type, name;
  std::map<std::string, std::string> metadata;
  std::map<std::string, UsdAttribute> attributes;
  std::vector<UsdPrim> children;
};

/// Reads a whole layer: metadata and root prims as children of a nameless prim.
class UsdaReader {
 public:
  explicit UsdaReader(const std::string& text) : m_text(text) {}

  UsdPrim read() {
    const std::string magic = "#usda 1.0\n";
    if (m_text.compare(0, magic.size(), magic) != 0) throw std::runtime_error("no #usda 1.0");
    m_at = magic.size();
    UsdPrim layer;
    advance();
    if (m_token == "(") layer.metadata = metadata();
    while (!m_token.empty()) layer.children.push_back(prim());
    return layer;
  }

 private:
  // The next token: a punctuation mark, a quoted string (kept with its opening quote), or a word.
  void advance() {
    m_token.clear();
    while (m_at < m_text.size() && std::isspace(static_cast<unsigned char>(m_text[m_at]))) ++m_at;
    if (m_at == m_text.size()) return;
    const std::string marks = "()[]{}=,";
    char c = m_text[m_at++];
    m_token = c;
    if (marks.find(c) != std::string::npos) return;
    if (c == '"') {
      while ((c = m_text.at(m_at++)) != '"') {
        if (c == '\n') throw std::runtime_error("line break in a string");
        m_token += c == '\\' ? m_text.at(m_at++) : c;
      }
      return;
    }
    while (m_at < m_text.size() && !std::isspace(static_cast<unsigned char>(m_text[m_at])) &&
           (marks + "\"").find(m_text[m_at]) == std::string::npos)
      m_token += m_text[m_at++];
  }

  std::string take() {
    if (m_token.empty()) throw std::runtime_error("unexpected end");
    const std::string token = m_token;
    advance();
    return token;
  }

  void expect(const std::string& token) {
    if (m_token != token) throw std::runtime_error("'" + m_token + "' instead of " + token);
    advance();
  }

  static std::string unquoted(const std::string& token) {
    return token[0] == '"' ? token.substr(1) : token;
  }

  std::string quoted_name() {
    if (m_token.empty() || m_token[0] != '"') throw std::runtime_error("no name: " + m_token);
    return unquoted(take());
  }

  std::map<std::string, std::string> metadata() {
    std::map<std::string, std::string> result;
    expect("(");
    while (m_token != ")") {
      const std::string key = take();
      expect("=");
      result[key] = unquoted(take());
    }
    expect(")");
    return result;
  }

  // One value: a word, or nested lists and tuples of words with commas between.
  void value(std::vector<std::string>& words) {
    const std::string close = m_token == "[" ? "]" : m_token == "(" ? ")" : "";
    if (close.empty()) {
      if (std::string("()[]{}=,").find(m_token) != std::string::npos)
        throw std::runtime_error("value expected, not " + m_token);
      words.push_back(unquoted(take()));
      return;
    }
    take();
    while (m_token != close) {
      value(words);
      if (m_token != close) expect(",");
    }
    expect(close);
  }

  void samples(UsdAttribute& attribute) {
    expect("{");
    while (m_token != "}") {
      std::string time = take();
      if (time.back() != ':') throw std::runtime_error("time expected, not " + time);
      std::vector<std::string> words;
      value(words);
      UsdAttribute sample{"", words, {}, {}};
      if (!attribute.samples.emplace(std::stoi(time), sample.numbers()).second)
        throw std::runtime_error("time twice: " + time);
      if (m_token != "}") expect(",");
    }
    expect("}");
  }

  void attribute(UsdPrim& prim) {
    std::string type = take();
    while (type == "uniform" || type == "custom") type = take();
    if (m_token == "[") {
      take();
      expect("]");
      type += "[]";
    }
    std::string name = take();
    const std::string suffix = ".timeSamples";
    const bool sampled = name.ends_with(suffix);
    if (sampled) name.resize(name.size() - suffix.size());
    UsdAttribute& result = prim.attributes[name];
    if (!result.type.empty() && result.type != type) throw std::runtime_error("types differ");
    result.type = type;
    if (m_token == "=") {
      take();
      if (sampled)
        samples(result);
      else
        value(result.words);
    }
    if (m_token == "(") result.metadata = metadata();
  }

  UsdPrim prim() {
    UsdPrim result;
    expect("def");
    result.type = take();
    result.name = quoted_name();
    if (m_token == "(") result.metadata = metadata();
    expect("{");
    while (m_token != "}") {
      if (m_token == "def")
        result.children.push_back(prim());
      else
        attribute(result);
    }
    expect("}");
    return result;
  }

  std::string m_text;
  size_t m_at = 0;
  std::string m_token;
};

}  // namespace supple::test
