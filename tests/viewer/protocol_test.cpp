// Addresses and messages as text.
#include "viewer/protocol.h"

#include <gtest/gtest.h>

#include <random>

#include "supple/core/error.h"
#include "support/test_support.h"

namespace supple::test {
namespace {

using namespace supple::viewer;

const std::string token = "0123456789abcdef0123456789abcdef";

std::optional<Address> parse(const std::string& rest, int exhibits = 3) {
  return parse_address("/" + token + rest, token, exhibits);
}

TEST(Protocol, KnowsItsAddresses) {
  EXPECT_EQ(parse("/")->asset, page_asset(""));
  EXPECT_EQ(parse("/?frame=3")->asset, page_asset(""));
  EXPECT_EQ(parse("/app.js")->asset, page_asset("app.js"));
  EXPECT_EQ(parse("/exhibits.json")->place, Place::exhibits);
  EXPECT_EQ(parse("/socket")->place, Place::socket);
  EXPECT_EQ(parse("/exhibits/2/static.chunk")->place, Place::static_chunk);
  EXPECT_EQ(parse("/exhibits/2/static.chunk")->exhibit, 2);
  EXPECT_EQ(parse("/exhibits/1/report.json")->place, Place::report);
  EXPECT_EQ(parse("/exhibits/1/report.json")->from_frame, std::numeric_limits<int>::min());
  EXPECT_EQ(parse("/exhibits/1/report.json?from=-17")->from_frame, -17);
}

TEST(Protocol, KnowsNoOtherAddress) {
  for (const std::string rest : {"",
                                 "?",
                                 "/x",
                                 "//",
                                 "/./",
                                 "/../",
                                 "/app.js/",
                                 "/APP.JS",
                                 "/app%2ejs",
                                 "/app.js%00",
                                 "/%61pp.js",
                                 "/exhibits",
                                 "/exhibits/",
                                 "/exhibits/0",
                                 "/exhibits/0/",
                                 "/exhibits/0/x",
                                 "/exhibits/3/static.chunk",
                                 "/exhibits/-1/static.chunk",
                                 "/exhibits/+1/static.chunk",
                                 "/exhibits/01/static.chunk",
                                 "/exhibits/1 /static.chunk",
                                 "/exhibits//static.chunk",
                                 "/exhibits/4294967296/static.chunk",
                                 "/exhibits/99999999999999999999/static.chunk",
                                 "/exhibits/0/static.chunk/..",
                                 "/exhibits/0/../0/static.chunk",
                                 "/exhibits\\0\\static.chunk",
                                 "/exhibits/0/report.json?from=1.5",
                                 "/exhibits/0/report.json?from=+1"})
    EXPECT_FALSE(parse(rest)) << rest;
  std::string other = token;
  other.back() = '0';
  EXPECT_FALSE(parse_address("/" + other + "/", token, 3));
  EXPECT_FALSE(parse_address("/" + token.substr(1) + "/", token, 3));
  EXPECT_FALSE(parse_address("x" + token + "/", token, 3));
  EXPECT_FALSE(parse_address("http://127.0.0.1/" + token + "/", token, 3));
  for (const std::string target : {"", "/", "*", "//", "/app.js", "/exhibits.json"})
    EXPECT_FALSE(parse_address(target, token, 3)) << target;
}

TEST(Protocol, UnderstandsMessages) {
  const Message message =
      parse_message(R"({"type": "frames", "exhibit": 2, "frames": [5, -1, 5], "more": 1})", 3, 64);
  const auto& frames = std::get<FramesMessage>(message);
  EXPECT_EQ(frames.exhibit, 2);
  EXPECT_EQ(frames.frames, (std::vector<int>{5, -1, 5}));
  EXPECT_TRUE(std::holds_alternative<CancelMessage>(parse_message(R"({"type":"cancel"})", 0, 64)));
}

std::string problem_of(const std::string& text) {
  try {
    parse_message(text, 3, 4);
  } catch (const Error& error) {
    return error.what();
  }
  return "understood";
}

TEST(Protocol, SaysWhatIsWrongWithAMessage) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "message: line 1: is not valid JSON"},
      {"[]", "message: must be an object, found a list"},
      {"{}", "message: type: is missing"},
      {R"({"type": 3})", "message: type: must be a text, found 3"},
      {R"({"type": "steer"})", "message: type: 'steer' is not known (frames, cancel)"},
      {R"({"type": "frames"})", "message: exhibit: is missing"},
      {R"({"type": "frames", "exhibit": -1})",
       "message: exhibit: -1 is not one of the file's 3 exhibits"},
      {R"({"type": "frames", "exhibit": 0, "frames": 1})",
       "message: frames: must be a list, found 1"},
      {R"({"type": "frames", "exhibit": 0, "frames": [1, "2"]})",
       "message: frames[1]: must be a whole number, found \"2\""},
      {R"({"type": "frames", "exhibit": 0, "frames": [2147483648]})",
       "message: frames[0]: 2147483648 is not allowed (-2147483648 to 2147483647)"},
      {R"({"type": "frames", "exhibit": 0, "frames": [1, 2, 3, 4, 5]})",
       "message: frames: at most 4 frames may be waiting, found 5"},
      {std::string(300, '['), "message: is nested deeper than 256 levels"},
  };
  for (const auto& [text, problem] : cases) EXPECT_EQ(problem_of(text), problem) << text;
}

TEST(Protocol, RefusesDamagedMessages) {
  const std::string good = R"({"type": "frames", "exhibit": 2, "frames": [5, -1, 5]})";
  const ByteView bytes = as_bytes(good);
  expect_damage_is_refused(Bytes(bytes.begin(), bytes.end()),
                           [](const Bytes& damaged) { parse_message(as_text(damaged), 3, 64); });
}

// No text but the exact token is let through.
TEST(Protocol, RefusesDamagedAddresses) {
  const std::string good = "/" + token + "/exhibits/1/report.json?from=20";
  std::mt19937 random(3);
  for (int i = 0; i < 20000 * soak_factor(); ++i) {
    std::string damaged = good;
    for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    const auto address = parse_address(damaged, token, 3);
    if (!address) continue;
    EXPECT_EQ(damaged.substr(0, 34), good.substr(0, 34));
    EXPECT_GE(address->exhibit, 0);
    EXPECT_LT(address->exhibit, 3);
  }
}

TEST(Protocol, WritesMessages) {
  EXPECT_EQ(error_message("a \"b\""), R"({"type":"error","message":"a \"b\""})");
  EXPECT_EQ(changed_message(1, {17, "running"}),
            R"({"type":"changed","exhibit":1,"available":17,"status":"running"})");
  EXPECT_EQ(frame_error_message(1, -3, "no\xff"),
            "{\"type\":\"frame_error\",\"exhibit\":1,\"frame\":-3,\"message\":\"no\xEF\xBF\xBD\"}");
  const auto header = frame_header(258, -2);
  const std::string expected =
      std::string("SPLF\x02\x01\0\0\xfe\xff\xff\xff", 12) + std::string(52, '\0');
  EXPECT_EQ(as_text(header), expected);
}

}  // namespace
}  // namespace supple::test
