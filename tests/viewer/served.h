// A server of made-up exhibits, and the questions tests keep asking it.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fake_exhibit.h"
#include "raw_client.h"
#include "viewer/server.h"

namespace supple::test {

/// A server and the states of its exhibits.
struct Served {
  explicit Served(int exhibits = 1, viewer::ServerOptions options = quick_options()) {
    std::vector<std::unique_ptr<viewer::Exhibit>> list;
    for (int i = 0; i < exhibits; ++i) {
      states.push_back(std::make_shared<FakeState>());
      list.push_back(std::make_unique<FakeExhibit>(states.back()));
    }
    server = std::make_unique<viewer::Server>(std::move(list), options);
    page.emplace(server->url());
  }

  static viewer::ServerOptions quick_options() {
    viewer::ServerOptions options;
    options.poll_interval = std::chrono::milliseconds(20);
    return options;
  }

  /// Exhibit `i` as the test changes it.
  FakeState& state(size_t i = 0) { return *states[i]; }

  /// What exhibits.json says now.
  Json exhibits() const { return Json::parse(fetch(*page, "exhibits.json").body); }

  /// Fails the test unless a page can be loaded and a frame be had.
  void expect_alive() const {
    EXPECT_EQ(fetch(*page, "").status, 200);
    RawSocket socket(*page);
    EXPECT_EQ(socket.handshake.status, 101);
    socket.send(R"({"type": "frames", "exhibit": 0, "frames": [1002]})");
    while (const auto message = socket.receive())
      if (message->opcode == 2) return;
    ADD_FAILURE() << "no frame came";
  }

  /// Ends the server and returns how long that took, in seconds.
  double seconds_to_end() {
    const auto begin = std::chrono::steady_clock::now();
    server.reset();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  std::vector<std::shared_ptr<FakeState>> states;
  std::unique_ptr<viewer::Server> server;
  std::optional<PageAddress> page;
};

/// Waits until something holds, for some seconds at most.
inline bool comes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 1000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return condition();
}

/// The next text message of a type, others skipped; null when there is none.
inline Json next_text(RawSocket& socket, const std::string& type) {
  while (const auto message = socket.receive()) {
    if (message->opcode != 1) continue;
    Json json = Json::parse(message->content);
    if (json["type"] == type) return json;
  }
  return nullptr;
}

/// The number of a frame's message.
inline int frame_of(const SocketMessage& message) {
  if (message.opcode != 2 || message.content.size() < 64) return -1;
  return load_at<int32_t>(as_bytes(message.content), 8);
}

/// The number of the next frame that comes, texts skipped; -1 when none does.
inline int next_frame(RawSocket& socket) {
  while (const auto message = socket.receive())
    if (message->opcode == 2) return frame_of(*message);
  return -1;
}

/// The text of a page's message that asks for `count` frames from 1001 on.
inline std::string ask_for(int count) {
  Json frames = Json::array();
  for (int i = 0; i < count; ++i) frames.push_back(1001 + i);
  return Json({{"type", "frames"}, {"exhibit", 0}, {"frames", frames}}).dump();
}

}  // namespace supple::test
