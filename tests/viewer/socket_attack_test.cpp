// Broken and hostile pages on the socket: answered or let go, with bounded memory, and the server
// lives on and ends in time.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "served.h"
#include "support/test_support.h"

namespace supple::test {
namespace {

using namespace std::chrono_literals;
using viewer::ServerOptions;

constexpr size_t large = 12 << 20;  // bytes, more than the system keeps for a slow reader

TEST(SocketAttack, MessagesThatMakeNoSense) {
  Served served;
  RawSocket socket(*served.page);
  Json too_many = Json::array();
  for (int i = 0; i < 10000; ++i) too_many.push_back(1001);
  for (const std::string& text :
       {std::string("hello"), std::string(""), std::string("null"), std::string("[]"),
        std::string("{}"), std::string(R"({"type": "steer"})"), std::string(R"({"type": null})"),
        std::string(R"({"type": "frames"})"), std::string(60000, '['),
        std::string(R"({"type": "frames", "exhibit": -1, "frames": [1001]})"),
        std::string(R"({"type": "frames", "exhibit": 1, "frames": [1001]})"),
        std::string(R"({"type": "frames", "exhibit": "0", "frames": [1001]})"),
        std::string(R"({"type": "frames", "exhibit": 0.5, "frames": [1001]})"),
        std::string(R"({"type": "frames", "exhibit": 1e300, "frames": [1001]})"),
        std::string(R"({"type": "frames", "exhibit": 0, "frames": {"0": 1001}})"),
        std::string(R"({"type": "frames", "exhibit": 0, "frames": [1001, [1001]]})"),
        std::string(R"({"type": "frames", "exhibit": 0, "frames": [99999999999]})"),
        Json({{"type", "frames"}, {"exhibit", 0}, {"frames", too_many}}).dump()}) {
    ASSERT_TRUE(socket.send(text));
    const Json answer = next_text(socket, "error");
    ASSERT_TRUE(answer.is_object()) << printable(text);
    EXPECT_EQ(answer["message"].get<std::string>().find('\n'), std::string::npos);
  }
  socket.send("\x01\x02", 2);
  EXPECT_EQ(next_text(socket, "error")["message"], "message: must be text");
  EXPECT_EQ(served.state().frames_read, 0);
  socket.send(ask_for(1));  // the same connection is still good
  EXPECT_EQ(next_frame(socket), 1001);
  socket.send(R"({"type": "frames", "exhibit": 0, "frames": [-2147483648, 2147483647, 0]})");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(next_text(socket, "frame_error").is_object());
  served.expect_alive();
}

TEST(SocketAttack, MessagesThatAreTooLarge) {
  const Served served;
  {
    RawSocket socket(*served.page);
    EXPECT_TRUE(socket.send("{\"type\": \"cancel\"}" + std::string(65000, ' ')));
    socket.send(ask_for(1));
    EXPECT_EQ(next_frame(socket), 1001);
    socket.send(std::string(65537, ' '));
    EXPECT_TRUE(socket.client.sees_the_end());
  }
  {  // In pieces, none of them too large.
    RawSocket socket(*served.page);
    for (int i = 0; i < 1000; ++i)
      socket.client.send(RawSocket::framed(std::string(1000, ' '), i == 0 ? 1 : 0, false));
    EXPECT_TRUE(socket.client.sees_the_end());
  }
  {  // One that claims to have 2^62 bytes.
    RawSocket socket(*served.page);
    socket.client.send(std::string("\x81\xff\x40\0\0\0\0\0\0\0abcd", 14));
    EXPECT_TRUE(socket.client.sees_the_end());
  }
  served.expect_alive();
}

TEST(SocketAttack, BytesThatAreNoWebSocket) {
  const Served served;
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string("\x81\x05hello", 7),  // not masked
        RawSocket::framed("x", 3), RawSocket::framed(std::string(200, 'x'), 9),  // too long a ping
        RawSocket::framed("\xff\xfe"), RawSocket::framed("x", 0),
        std::string("\xf1\x80") + "abcd"}) {
    RawSocket socket(*served.page);
    socket.client.send(bytes);
    EXPECT_TRUE(socket.client.sees_the_end()) << printable(bytes);
  }
  EXPECT_TRUE(comes_true([&] { return served.server->page_count() == 0; }));
  std::mt19937 random(9);
  for (int i = 0; i < 100 * soak_factor(); ++i) {
    RawSocket socket(*served.page);
    std::string bytes = RawSocket::framed(ask_for(5)) + RawSocket::framed("x", 9);
    for (int flips = 0; flips < 4; ++flips)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    socket.client.send(bytes);
    if (i % 2) socket.client.reset();
  }
  served.expect_alive();
}

// However much a page asks for without reading, one frame is in memory for it, and the next page
// does not notice.
TEST(SocketAttack, APageThatNeverReads) {
  Served served;
  served.state().available = 64;
  served.state().frame_bytes = large;
  RawSocket greedy(*served.page, 4096);
  for (int i = 0; i < 10; ++i) greedy.send(ask_for(64));
  EXPECT_TRUE(comes_true([&] { return served.state().frames_read > 0; }));
  std::this_thread::sleep_for(200ms);
  EXPECT_EQ(served.state().frames_read, 1);
  served.expect_alive();
  EXPECT_LT(served.seconds_to_end(), 1.0);
}

TEST(SocketAttack, APageThatNeverReadsIsLetGo) {
  ServerOptions options = Served::quick_options();
  options.write_timeout = 300ms;
  Served served(1, options);
  served.state().frame_bytes = large;
  RawSocket greedy(*served.page, 4096);
  greedy.send(ask_for(10));
  EXPECT_TRUE(comes_true([&] { return served.state().frames_read == 1; }));
  // It goes on talking, which must not keep it alive.
  for (int i = 0; i < 200 && served.server->page_count() > 0; ++i) {
    greedy.send(R"({"type": "cancel"})");
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(served.server->page_count(), 0);
  served.state().frame_bytes = 1000;
  served.expect_alive();
}

// Mistakes without end, none of the answers read: the server stops listening, as the answers would
// have to be kept.
TEST(SocketAttack, MistakesThatAreNotReadAbout) {
  Served served;
  served.state().frame_bytes = large;
  RawSocket socket(*served.page, 4096);
  socket.send(ask_for(1));
  EXPECT_TRUE(comes_true([&] { return served.state().frames_read == 1; }));
  socket.client.patience = 500ms;
  const std::string mistake = RawSocket::framed(std::string(60000, 'x'));
  constexpr size_t much = 64 << 20;
  size_t sent = 0;
  while (sent < much && socket.client.send(mistake)) sent += mistake.size();
  EXPECT_LT(sent, much) << "the server goes on listening";
  served.expect_alive();
  // Once the page reads, it is heard again.
  socket.client.patience = 5000ms;
  EXPECT_EQ(next_frame(socket), 1001);
  for (size_t i = 0; i < sent / mistake.size(); ++i)
    ASSERT_TRUE(next_text(socket, "error").is_object()) << i;
}

TEST(SocketAttack, NewsDoNotPileUp) {
  Served served;
  served.state().available = 1;
  served.state().frame_bytes = large;
  RawSocket socket(*served.page, 4096);
  EXPECT_EQ(next_text(socket, "changed")["available"], 1);
  socket.send(ask_for(1));
  EXPECT_TRUE(comes_true([&] { return served.state().frames_read == 1; }));
  for (int i = 2; i <= 50; ++i) {
    const int looks = served.state().looks;
    served.state().available = i;
    served.server->exhibits_changed();
    ASSERT_TRUE(comes_true([&] { return served.state().looks > looks; }));
  }
  EXPECT_EQ(next_frame(socket), 1001);
  EXPECT_EQ(next_text(socket, "changed")["available"], 50) << "only the latest news is told";
}

TEST(SocketAttack, PagesThatVanish) {
  Served served;
  served.state().frame_bytes = 3 << 20;
  for (int i = 0; i < 30; ++i) {
    RawSocket socket(*served.page);
    socket.send(ask_for(10));
    if (i % 3) socket.client.has(100000);  // in the middle of a frame
    i % 2 ? socket.client.reset() : socket.client.close();
  }
  EXPECT_TRUE(comes_true([&] { return served.server->page_count() == 0; }));
  served.expect_alive();
}

// A page whose machine is gone does not answer pings; one that does stays.
TEST(SocketAttack, DeadPagesAreNoticed) {
  ServerOptions options = Served::quick_options();
  options.write_timeout = 200ms;
  Served served(1, options);
  RawSocket dead(*served.page), alive(*served.page);
  const auto end = std::chrono::steady_clock::now() + 600ms;
  int pings = 0;
  while (std::chrono::steady_clock::now() < end) {
    const auto message = alive.receive();
    ASSERT_TRUE(message);
    if (message->opcode != 9) continue;
    ++pings;
    alive.send(message->content, 10);
  }
  EXPECT_GE(pings, 3);
  EXPECT_TRUE(comes_true([&] { return served.server->page_count() == 1; }));
  EXPECT_TRUE(dead.client.sees_the_end());
  alive.send(ask_for(1));
  EXPECT_EQ(next_frame(alive), 1001);
}

TEST(SocketAttack, ServerEndsInTimeWhateverPagesDo) {
  Served served;
  served.state().frame_bytes = large;
  served.state().static_bytes = large;
  const PageAddress& page = *served.page;
  std::vector<RawClient> clients;
  for (int i = 0; i < 4; ++i) clients.emplace_back(page.port, 4096);
  clients[1].send("GET /");                                                            // half
  clients[2].send(request_text(page, page.path("exhibits/0/static.chunk")));           // not read
  clients[3].send(request_text(page, page.path(), "Content-Length: 1000000000\r\n"));  // drained
  RawSocket idle(page), greedy(page, 4096), leaving(page), half(page);
  greedy.send(ask_for(10));
  leaving.send("\x03\xe8", 8);
  half.client.send("\x81");
  EXPECT_TRUE(comes_true(
      [&] { return served.state().frames_read == 1 && served.state().statics_read == 1; }));
  EXPECT_LT(served.seconds_to_end(), 0.5);
  EXPECT_TRUE(idle.client.sees_the_end());
}

TEST(SocketAttack, ServerEndsInTheMiddleOfEverything) {
  for (int i = 0; i < 20; ++i) {
    Served served;
    served.state().slowness_ms = 1;
    RawSocket socket(*served.page);
    socket.send(ask_for(10));
    RawClient client(served.page->port);
    client.send(request_text(*served.page, served.page->path()));
    std::this_thread::sleep_for(std::chrono::milliseconds(i % 5));
    EXPECT_LT(served.seconds_to_end(), 0.5);
  }
}

// Calls from other threads while pages come, ask and go.
TEST(SocketAttack, ManyThreadsAtOnce) {
  Served served;
  std::atomic<bool> is_over = false;
  std::thread simulation([&] {
    while (!is_over) {
      ++served.state().available;
      served.server->exhibits_changed();
      std::this_thread::yield();
    }
    served.server->end_live();
  });
  std::vector<std::thread> pages;
  for (int i = 0; i < 3; ++i)
    pages.emplace_back([&] {
      for (int round = 0; round < 10; ++round) {
        RawSocket socket(*served.page);
        socket.send(ask_for(10));
        for (int frame = 1001; frame <= 1010; ++frame) EXPECT_EQ(next_frame(socket), frame);
        EXPECT_GE(served.server->page_count(), 1);
      }
    });
  for (std::thread& page : pages) page.join();
  is_over = true;
  simulation.join();
  EXPECT_FALSE(served.state().was_shared);
}

}  // namespace
}  // namespace supple::test
