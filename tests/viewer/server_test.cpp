// The server as a well-behaved page meets it.
#include "viewer/server.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "served.h"
#include "supple/core/version.h"
#include "viewer/page_assets.h"

namespace supple::test {
namespace {

using namespace std::chrono_literals;
using viewer::Server;
using viewer::ServerOptions;

std::string text_of(const Bytes& bytes) { return std::string(as_text(bytes)); }

TEST(Server, GivesThePageAndItsFiles) {
  const Served served;
  for (const std::string name : {"", "app.js", "style.css", "icon.svg"}) {
    const HttpAnswer answer = fetch(*served.page, name);
    const viewer::PageAsset* asset = viewer::page_asset(name);
    ASSERT_NE(asset, nullptr) << name;
    EXPECT_EQ(answer.status, 200) << name;
    EXPECT_EQ(answer.body, asset->content) << name;
    EXPECT_EQ(answer.header("content-type"), asset->media_type) << name;
  }
}

TEST(Server, DrawsATokenForEveryRun) {
  const Served one, other;
  EXPECT_EQ(one.page->token.size(), 32u);
  EXPECT_EQ(one.page->token.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(one.page->token, other.page->token);
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
  EXPECT_FALSE(served.state(1).was_shared) << "exhibits are asked by one thread only";
}

TEST(Server, SendsLargeAndEmptyChunksWhole) {
  Served served;
  RawSocket socket(*served.page);
  for (const size_t size : {0ul, 1ul, 61ul, 62ul, 65471ul, 65472ul, 7000001ul}) {
    served.state().frame_bytes = size;
    served.state().static_bytes = size;
    EXPECT_EQ(fetch(*served.page, "exhibits/0/static.chunk").body, text_of(made_up_bytes(size, 7)));
    socket.send(ask_for(1));
    const auto message = socket.receive();
    ASSERT_TRUE(message);
    EXPECT_EQ(message->content.substr(64), text_of(made_up_bytes(size, 1001))) << size;
  }
}

TEST(Server, GivesReportsFromAFrameOn) {
  Served served;
  const auto frames = [&](const std::string& query) {
    return Json::parse(fetch(*served.page, "exhibits/0/report.json" + query).body)["frames"];
  };
  EXPECT_EQ(frames("").size(), 10u);
  EXPECT_EQ(frames("?from=1009"), Json({1009, 1010}));
  EXPECT_EQ(frames("?other=3&from=1010"), Json::array({1010}));
  EXPECT_EQ(frames("?from=-5").size(), 10u);
  for (const std::string query : {"?from=", "?from=x", "?from=1e3", "?from=99999999999"})
    EXPECT_EQ(fetch(*served.page, "exhibits/0/report.json" + query).status, 404) << query;
}

TEST(Server, SaysWhatIsWrongWithAnExhibit) {
  Served served;
  served.state().is_damaged = true;
  HttpAnswer answer = fetch(*served.page, "exhibits/0/static.chunk");
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.header("content-type"), "application/json");
  EXPECT_EQ(answer.body, R"({"error":"fake.supple: static: is damaged"})");
  EXPECT_EQ(fetch(*served.page, "exhibits/0/report.json?from=13").status, 500);

  RawSocket socket(*served.page);
  socket.send(R"({"type": "frames", "exhibit": 0, "frames": [666, 7, 1001]})");
  EXPECT_EQ(
      next_text(socket, "frame_error"),
      Json({{"type", "frame_error"}, {"exhibit", 0}, {"frame", 666}, {"message", "not an Error"}}));
  EXPECT_EQ(next_text(socket, "frame_error")["message"], "fake.supple: frames: 7 is not there");
  EXPECT_EQ(next_frame(socket), 1001);
}

TEST(Server, TellsPagesWhatHasGrown) {
  Served served(2);
  RawSocket socket(*served.page), other(*served.page);
  EXPECT_TRUE(comes_true([&] { return served.server->page_count() == 2; }));
  served.state(1).available = 11;
  const Json grown = {
      {"type", "changed"}, {"exhibit", 1}, {"available", 11}, {"status", "running"}};
  EXPECT_EQ(next_text(socket, "changed"), grown);
  EXPECT_EQ(next_text(other, "changed"), grown);
  served.state(1).is_done = true;
  EXPECT_EQ(next_text(socket, "changed")["status"], "done");
}

TEST(Server, TellsAtOnceWhenTold) {
  ServerOptions options;
  options.poll_interval = 1h;
  Served served(1, options);
  RawSocket socket(*served.page);
  EXPECT_TRUE(comes_true([&] { return served.server->page_count() == 1; }));
  served.state().available = 11;
  served.server->exhibits_changed();
  EXPECT_EQ(next_text(socket, "changed")["available"], 11);
  // Another page's look at the list must not swallow the news.
  served.state().available = 12;
  EXPECT_EQ(served.exhibits()["exhibits"][0]["available"], 12);
  served.server->exhibits_changed();
  EXPECT_EQ(next_text(socket, "changed")["available"], 12);
}

TEST(Server, TellsALatePageWhatItHasMissed) {
  Served served;
  EXPECT_EQ(served.exhibits()["exhibits"][0]["available"], 10);
  served.state().available = 15;
  RawSocket socket(*served.page);
  EXPECT_EQ(next_text(socket, "changed")["available"], 15);
  RawSocket later(*served.page);
  EXPECT_EQ(next_text(later, "changed")["available"], 15);
}

TEST(Server, LooksAtExhibitsOnlyForPages) {
  Served served;
  fetch(*served.page, "");
  const int looks = served.state().looks;
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(served.state().looks, looks);
  {
    RawSocket socket(*served.page);
    EXPECT_TRUE(comes_true([&] { return served.state().looks > looks + 2; }));
  }
  EXPECT_TRUE(comes_true([&] { return served.server->page_count() == 0; }));
  const int looks_then = served.state().looks;
  std::this_thread::sleep_for(100ms);
  EXPECT_LE(served.state().looks, looks_then + 1);
}

TEST(Server, ForgetsFramesThatAreCancelled) {
  Served served;
  served.state().available = 64;
  served.state().frame_bytes = 12 << 20;  // more than the system keeps for a reader
  RawSocket socket(*served.page, 4096);
  socket.send(ask_for(64));
  EXPECT_TRUE(comes_true([&] { return served.state().frames_read == 1; }));
  socket.send(R"({"type": "cancel"})");
  socket.send(R"({"type": "frames", "exhibit": 0, "frames": [1050]})");
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(next_frame(socket), 1001);
  EXPECT_EQ(next_frame(socket), 1050);
  EXPECT_EQ(served.state().frames_read, 2);
}

TEST(Server, EndsBeingLive) {
  ServerOptions options = Served::quick_options();
  options.live = true;
  Served served(1, options);
  EXPECT_EQ(served.exhibits()["live"], true);
  served.server->end_live();
  EXPECT_TRUE(comes_true([&] { return served.exhibits()["live"] == false; }));
}

TEST(Server, AnswersHeadAndManyRequestsOnOneConnection) {
  Served served;
  RawClient client(served.page->port);
  client.send(request_text(*served.page, served.page->path("exhibits/0/static.chunk"), "", "HEAD"));
  const HttpAnswer head = client.answer(false);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.header("content-length"), "5000");
  // Two at once, without waiting for the first answer; then a close.
  client.send(request_text(*served.page, served.page->path("exhibits/0/static.chunk")) +
              request_text(*served.page, served.page->path("nothing")));
  EXPECT_EQ(client.answer().body.size(), 5000u);
  EXPECT_EQ(client.answer().status, 404);
  client.send(request_text(*served.page, served.page->path(), "Connection: close\r\n"));
  const HttpAnswer last = client.answer();
  EXPECT_EQ(last.status, 200);
  EXPECT_EQ(last.header("connection"), "close");
  EXPECT_TRUE(client.sees_the_end());
}

TEST(Server, CountsPages) {
  Served served;
  EXPECT_EQ(served.server->page_count(), 0);
  {
    RawSocket one(*served.page), other(*served.page);
    RawClient no_page(served.page->port);
    EXPECT_TRUE(comes_true([&] { return served.server->page_count() == 2; }));
    one.send("\x03\xe8", 8);
    EXPECT_EQ(one.receive().value().opcode, 8);  // the other side of closing politely
    EXPECT_TRUE(comes_true([&] { return served.server->page_count() == 1; }));
  }
  EXPECT_TRUE(comes_true([&] { return served.server->page_count() == 0; }));
}

TEST(Server, SaysWhyItCannotListen) {
  const Served served;
  ServerOptions options;
  options.port = served.page->port;
  const auto refusal = [](const ServerOptions& taken) -> std::pair<ErrorKind, std::string> {
    try {
      const Server server({}, taken);
    } catch (const Error& error) {
      return {error.kind(), error.what()};
    }
    return {ErrorKind::simulation, "it listens"};
  };
  EXPECT_EQ(refusal(options),
            std::pair(ErrorKind::output, fmt::format("cannot listen on 127.0.0.1:{}: Address "
                                                     "already in use",
                                                     served.page->port)));
  options.address = "203.0.113.1";
  EXPECT_EQ(refusal(options).second.find("cannot listen on 203.0.113.1:"), 0u);
  options.address = "example.org";
  EXPECT_EQ(
      refusal(options),
      std::pair(ErrorKind::usage, std::string("'example.org' is not an IP address to listen on")));
}

TEST(Server, ListensOnOtherAddresses) {
  ServerOptions options;
  options.address = "0.0.0.0";
  const Served all(1, options);
  EXPECT_EQ(all.page->host, fmt::format("127.0.0.1:{}", all.page->port));
  all.expect_alive();
  RawClient client(all.page->port);
  client.send(fmt::format("GET {} HTTP/1.1\r\nHost: evil.example:{}\r\n\r\n", all.page->path(),
                          all.page->port));
  EXPECT_EQ(client.answer().status, 403);
}

// A browser that is started while the server runs must not keep the port.
TEST(Server, KeepsSocketsFromOtherPrograms) {
  const Served served;
  const RawSocket socket(*served.page);
  int sockets = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    const std::string target = std::filesystem::read_symlink(entry.path(), ignored).string();
    if (target.find("socket:") != 0) continue;
    ++sockets;
    std::ifstream info("/proc/self/fdinfo/" + entry.path().filename().string());
    std::string word;
    while (info >> word && word != "flags:") {
    }
    info >> word;
    EXPECT_TRUE(std::stol(word, nullptr, 8) & O_CLOEXEC) << entry.path();
  }
  EXPECT_GE(sockets, 3);
}

}  // namespace
}  // namespace supple::test
