// The server as a well-behaved page meets it.
#include "viewer/server.h"

#include <gtest/gtest.h>

#include "fake_exhibit.h"
#include "raw_client.h"
#include "supple/core/version.h"
#include "viewer/page_assets.h"

namespace supple::test {
namespace {

using namespace std::chrono_literals;
using viewer::Server;
using viewer::ServerOptions;

struct Served {
  explicit Served(int exhibits = 1, ServerOptions options = quick_options()) {
    std::vector<std::unique_ptr<viewer::Exhibit>> list;
    for (int i = 0; i < exhibits; ++i) {
      states.push_back(std::make_shared<FakeState>());
      list.push_back(std::make_unique<FakeExhibit>(states.back()));
    }
    server = std::make_unique<Server>(std::move(list), options);
    page.emplace(server->url());
  }

  static ServerOptions quick_options() {
    ServerOptions options;
    options.poll_interval = 20ms;
    return options;
  }

  FakeState& state(size_t i = 0) { return *states[i]; }
  Json exhibits() const { return Json::parse(fetch(*page, "exhibits.json").body); }

  std::vector<std::shared_ptr<FakeState>> states;
  std::unique_ptr<Server> server;
  std::optional<PageAddress> page;
};

// The next message of a type, others skipped; null when there is none.
Json next_text(RawSocket& socket, const std::string& type) {
  while (const auto message = socket.receive()) {
    if (message->opcode != 1) continue;
    Json json = Json::parse(message->content);
    if (json["type"] == type) return json;
  }
  return nullptr;
}

std::string text_of(const Bytes& bytes) { return std::string(as_text(bytes)); }

TEST(Server, GivesThePageAndItsFiles) {
  const Served served;
  EXPECT_EQ(served.page->token.size(), 32u);
  EXPECT_EQ(served.page->token.find_first_not_of("0123456789abcdef"), std::string::npos);
  for (const std::string name : {"", "app.js", "style.css", "icon.svg"}) {
    const HttpAnswer answer = fetch(*served.page, name);
    const viewer::PageAsset* asset = viewer::page_asset(name);
    ASSERT_NE(asset, nullptr) << name;
    EXPECT_EQ(answer.status, 200) << name;
    EXPECT_EQ(answer.body, asset->content) << name;
    EXPECT_EQ(answer.header("content-type"), asset->media_type) << name;
  }
}

TEST(Server, ListsExhibits) {
  Served served(2);
  served.state(1).is_damaged = true;
  Json json = served.exhibits();
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["supple"], version);
  EXPECT_EQ(json["live"], false);
  ASSERT_EQ(json["exhibits"].size(), 2u);
  EXPECT_EQ(json["exhibits"][0], Json({{"title", "fake"},
                                       {"file", "fake.supple"},
                                       {"kind", "cache"},
                                       {"vertices", 3},
                                       {"available", 10},
                                       {"status", "running"},
                                       {"error", nullptr}}));
  EXPECT_EQ(
      json["exhibits"][1],
      Json({{"title", "fake"}, {"file", "fake.supple"}, {"error", "fake.supple: is damaged"}}));
  served.state().available = 12;
  served.state().is_done = true;
  json = served.exhibits();
  EXPECT_EQ(json["exhibits"][0]["available"], 12);
  EXPECT_EQ(json["exhibits"][0]["status"], "done");
}

TEST(Server, SendsFramesInOrderByteForByte) {
  Served served(2);
  RawSocket socket(*served.page);
  ASSERT_EQ(socket.handshake.status, 101);
  EXPECT_EQ(socket.handshake.header("sec-websocket-accept"), "s3pplmbitxaq9kygzzhzrbk+xoo=");
  socket.send(R"({"type": "frames", "exhibit": 1, "frames": [1003, 1001, 1010], "new": {}})");
  for (const int frame : {1003, 1001, 1010}) {
    const auto message = socket.receive();
    ASSERT_TRUE(message);
    EXPECT_EQ(message->opcode, 2);
    std::string expected = "SPLF";
    expected += std::string("\x01\0\0\0", 4);
    for (int i = 0; i < 4; ++i) expected += static_cast<char>(frame >> (8 * i));
    expected += std::string(52, '\0') + text_of(made_up_bytes(1000, static_cast<unsigned>(frame)));
    EXPECT_EQ(message->content, expected) << frame;
  }
}

}  // namespace
}  // namespace supple::test
