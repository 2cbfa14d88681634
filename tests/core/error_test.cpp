// Messages: suggestions for misspelt words, and text from files made fit for one line.
#include "supple/core/error.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace supple {
namespace {

// Levenshtein distance straight from its recursive definition.
size_t distance_by_definition(std::string_view a, std::string_view b) {
  if (a.empty()) return b.size();
  if (b.empty()) return a.size();
  if (a[0] == b[0]) return distance_by_definition(a.substr(1), b.substr(1));
  return 1 +
         std::min({distance_by_definition(a.substr(1), b), distance_by_definition(a, b.substr(1)),
                   distance_by_definition(a.substr(1), b.substr(1))});
}

std::string message_of(const std::function<void()>& action, ErrorKind kind) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(Error, NamesFileFieldAndProblem) {
  EXPECT_EQ(message_of([] { throw_input_error("a.glb", "nodes[2]", "is bad"); }, ErrorKind::input),
            "a.glb: nodes[2]: is bad");
  EXPECT_EQ(message_of([] { throw_input_error("a.glb", "", "is bad"); }, ErrorKind::input),
            "a.glb: is bad");
  EXPECT_EQ(message_of([] { throw_output_error("b.pc2", "disk full"); }, ErrorKind::output),
            "cannot write b.pc2: disk full");
}

TEST(Error, MessagesAreOneShortLineWhateverTheFieldIsCalled) {
  const std::string field = "joint_map.evil\n\x1b[31mname\r" + std::string(5000, 'x');
  const std::string message = message_of(
      [&] { throw_input_error("scene.json", field, "must be a text"); }, ErrorKind::input);
  EXPECT_EQ(message.find_first_of("\n\r\x1b"), std::string::npos) << message;
  EXPECT_LT(message.size(), 300u);
  EXPECT_TRUE(message.starts_with("scene.json: joint_map.evil?")) << message;
  EXPECT_TRUE(message.ends_with(": must be a text")) << message;
}

TEST(Error, FilesAreNamedInOneLineToo) {
  const auto message = [](const std::string& file, const std::string& field) {
    return message_of([&] { throw_input_error(file, field, "is bad"); }, ErrorKind::input);
  };
  EXPECT_EQ(message("x\ny.vtu", ""), "x?y.vtu: is bad");
  EXPECT_EQ(message("x\ny.vtu", "points"), "x?y.vtu: points: is bad");
  const std::string folder(1000, 'a');
  EXPECT_EQ(message(folder + "/b.vtu", ""), folder + "/b.vtu: is bad");
}

TEST(Error, SuggestsTheNearestWord) {
  const std::vector<std::string> known = {"first", "last", "rate", "start", "preroll"};
  EXPECT_EQ(nearest_word("frist", known), "first");
  EXPECT_EQ(nearest_word("prerol", known), "preroll");
  EXPECT_EQ(nearest_word("Rate", known), "rate");
  EXPECT_EQ(nearest_word("lst", known), "last");
  EXPECT_EQ(nearest_word("gravity", known), "");
  EXPECT_EQ(suggestion("strat", known), "; did you mean 'start'?");
  EXPECT_EQ(suggestion("gravity", known), "");
  EXPECT_EQ(nearest_word("rate", {}), "");
}

TEST(Error, SuggestsNothingThatHasNothingInCommon) {
  EXPECT_EQ(nearest_word("", {"a", "id"}), "");
  EXPECT_EQ(nearest_word("x", {"a", "id"}), "");
  EXPECT_EQ(nearest_word("fps", {"id", "up", "z"}), "up");
  EXPECT_EQ(nearest_word(std::string(1000000, 'a'), {"a"}), "");
}

TEST(Error, NearestWordIsNearestByTheDefinition) {
  std::mt19937 random(3);
  const auto word = [&] {
    std::string result;
    for (size_t i = 0, n = 1 + random() % 6; i < n; ++i)
      result += static_cast<char>('a' + random() % 3);
    return result;
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> known;
    for (int i = 0; i < 5; ++i) known.push_back(word());
    const std::string misspelt = word();
    size_t least = 100;
    for (const std::string& k : known) {
      const size_t distance = distance_by_definition(misspelt, k);
      if (distance < std::max(misspelt.size(), k.size())) least = std::min(least, distance);
    }
    const std::string found = nearest_word(misspelt, known);
    if (!found.empty())
      EXPECT_EQ(distance_by_definition(misspelt, found), least) << misspelt << " " << found;
    else
      EXPECT_GT(least, 2u) << misspelt;
  }
}

TEST(Printable, ReplacesControlBytesAndShortens) {
  EXPECT_EQ(printable("plain text"), "plain text");
  EXPECT_EQ(printable(std::string_view("a\nb\tc\0d\x7f", 8)), "a?b?c?d?");
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable(std::string(60, 'x')), std::string(60, 'x'));
  EXPECT_EQ(printable(std::string(61, 'x')), std::string(60, 'x') + "...");
}

TEST(Printable, KeepsWordsOfOtherLanguages) {
  EXPECT_EQ(printable("Größe"), "Größe");
  EXPECT_EQ(printable("左手_关节"), "左手_关节");
  EXPECT_EQ(printable("\xF0\x9F\xA6\xB4"), "\xF0\x9F\xA6\xB4");
  EXPECT_EQ(printable("a\xC3"), "a?");                // cut sequence
  EXPECT_EQ(printable("\xFF\xC0\x80z"), "???z");      // never valid, overlong
  EXPECT_EQ(printable("\xED\xA0\x80"), "???");        // surrogate
  EXPECT_EQ(printable("\xC2\x9B[31m"), "??[31m");     // control character beyond ASCII
  EXPECT_EQ(printable("\xE2\x80\xAEglb"), "???glb");  // turns the text around
  std::string bones;
  for (int i = 0; i < 40; ++i) bones += "骨";
  const std::string shortened = printable(bones);
  EXPECT_EQ(shortened, bones.substr(0, 60) + "...");  // 20 characters of three bytes
  bones.insert(0, 1, 'x');
  EXPECT_EQ(printable(bones), bones.substr(0, 58) + "...");
}

}  // namespace
}  // namespace supple
