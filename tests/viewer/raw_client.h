// Clients on plain POSIX sockets, written without the server's library: HTTP as text, and a
// WebSocket by hand [RFC 6455].
#pragma once

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace supple::test {

/// What an HTTP server has answered.
struct HttpAnswer {
  int status = 0;       ///< 0 when the connection was closed without an answer
  std::string headers;  ///< names in lower case
  std::string body;

  /// Value of a header; empty when it is not there.
  std::string header(const std::string& name) const {
    const size_t at = headers.find("\r\n" + name + ": ");
    if (at == std::string::npos) return {};
    const size_t begin = at + name.size() + 4;
    return headers.substr(begin, headers.find("\r\n", begin) - begin);
  }
};

/// The parts of "http://127.0.0.1:PORT/TOKEN/".
struct PageAddress {
  std::string host;   ///< with port
  std::string token;  ///< without slashes
  uint16_t port = 0;

  explicit PageAddress(const std::string& url) {
    const size_t begin = url.find("//") + 2, slash = url.find('/', begin);
    host = url.substr(begin, slash - begin);
    token = url.substr(slash + 1, url.size() - slash - 2);
    port = static_cast<uint16_t>(std::atoi(host.substr(host.rfind(':') + 1).c_str()));
  }

  /// "/TOKEN/" and the rest.
  std::string path(const std::string& rest = "") const { return "/" + token + "/" + rest; }
};

/// A TCP connection to 127.0.0.1. Reading waits at most `patience`.
class RawClient {
 public:
  explicit RawClient(uint16_t port, int receive_buffer = 0) {
    m_socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receive_buffer > 0)
      setsockopt(m_socket, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    const int yes = 1;
    setsockopt(m_socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(m_socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("cannot connect");
  }
  ~RawClient() { close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  RawClient(RawClient&& other) noexcept
      : patience(other.patience),
        m_socket(std::exchange(other.m_socket, -1)),
        m_read(std::move(other.m_read)) {}

  std::chrono::milliseconds patience{5000};

  void close() {
    if (m_socket >= 0) ::close(std::exchange(m_socket, -1));
  }

  /// Ends the connection the rude way, with RST.
  void reset() {
    const linger now{.l_onoff = 1, .l_linger = 0};
    setsockopt(m_socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close();
  }

  /// Says that nothing more will be sent.
  void end_sending() { ::shutdown(m_socket, SHUT_WR); }

  /// Sends everything; false when the other side does not take it any more.
  bool send(std::string_view text) {
    while (!text.empty()) {
      pollfd waiting{m_socket, POLLOUT, 0};
      if (::poll(&waiting, 1, static_cast<int>(patience.count())) <= 0) return false;
      const ssize_t count = ::send(m_socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && errno == EAGAIN) continue;
      if (count <= 0) return false;
      text.remove_prefix(static_cast<size_t>(count));
    }
    return true;
  }

  /// Whether there are `count` bytes to read, or come in time.
  bool has(size_t count) {
    while (m_read.size() - m_begin < count)
      if (!receive()) return false;
    return true;
  }

  /// The next `count` bytes; the caller knows that they are there.
  std::string take(size_t count) {
    std::string result = m_read.substr(m_begin, count);
    m_begin += count;
    if (m_begin == m_read.size()) {
      m_read.clear();
      m_begin = 0;
    }
    return result;
  }

  /// Reads `count` bytes to `out`; false when they do not come in time.
  bool read(char* out, size_t count) {
    const size_t ready = std::min(count, m_read.size() - m_begin);
    take(ready).copy(out, ready);
    for (size_t done = ready; done < count;) {
      pollfd waiting{m_socket, POLLIN, 0};
      if (::poll(&waiting, 1, static_cast<int>(patience.count())) <= 0) return false;
      const ssize_t more = ::recv(m_socket, out + done, count - done, 0);
      if (more <= 0) return false;
      done += static_cast<size_t>(more);
    }
    return true;
  }

  /// Whether the other side closes the connection in time; what it has sent is thrown away.
  bool sees_the_end() {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < end)
      if (!receive()) return m_is_ended;
    return false;
  }

  /// Everything up to the end of the connection.
  std::string rest() {
    while (receive()) {
    }
    return take(m_read.size() - m_begin);
  }

  /// Reads one answer; `has_body` is false for the answer to HEAD.
  HttpAnswer answer(bool has_body = true) {
    HttpAnswer result;
    size_t end;
    while ((end = m_read.find("\r\n\r\n", m_begin)) == std::string::npos)
      if (!receive()) return result;
    result.headers = take(end + 4 - m_begin);
    std::transform(result.headers.begin(), result.headers.end(), result.headers.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    result.status = std::atoi(result.headers.substr(9, 3).c_str());
    const size_t length = std::strtoul(result.header("content-length").c_str(), nullptr, 10);
    if (has_body && has(length)) result.body = take(length);
    return result;
  }

 private:
  bool receive() {
    pollfd waiting{m_socket, POLLIN, 0};
    if (::poll(&waiting, 1, static_cast<int>(patience.count())) <= 0) return false;
    if (m_begin > 0) {
      m_read.erase(0, m_begin);
      m_begin = 0;
    }
    const size_t before = m_read.size();
    constexpr size_t most = 1 << 18;
    m_read.resize(before + most);
    const ssize_t count = ::recv(m_socket, m_read.data() + before, most, 0);
    m_read.resize(before + (count > 0 ? static_cast<size_t>(count) : 0));
    m_is_ended = count <= 0;
    return count > 0;
  }

  int m_socket = -1;
  std::string m_read;
  size_t m_begin = 0;
  bool m_is_ended = false;
};

/// A request as a browser would send it.
inline std::string request_text(const PageAddress& page, const std::string& path,
                                const std::string& more_headers = "",
                                const std::string& method = "GET") {
  return fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n{}\r\n", method, path, page.host, more_headers);
}

/// Asks for a path below the token on a connection of its own.
inline HttpAnswer fetch(const PageAddress& page, const std::string& rest,
                        const std::string& more_headers = "") {
  RawClient client(page.port);
  client.send(request_text(page, page.path(rest), more_headers));
  return client.answer();
}

/// What came over a WebSocket.
struct SocketMessage {
  int opcode = 0;  ///< 1 text, 2 binary, 8 close, 9 ping
  std::string content;
};

/// A WebSocket client.
class RawSocket {
 public:
  /// Connects as the page does; `status` says whether that went well (101).
  explicit RawSocket(const PageAddress& page, int receive_buffer = 0)
      : RawSocket(page, page.path("socket"), fmt::format("Origin: http://{}\r\n", page.host),
                  receive_buffer) {}

  RawSocket(const PageAddress& page, const std::string& path, const std::string& more_headers,
            int receive_buffer = 0)
      : client(page.port, receive_buffer) {
    client.send(request_text(page, path,
                             "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                             "Sec-WebSocket-Version: 13\r\n"
                             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
                                 more_headers));
    handshake = client.answer();
  }

  /// One frame of the WebSocket protocol, masked as clients must.
  static std::string framed(std::string_view content, int opcode = 1, bool is_last = true) {
    std::string frame(1, static_cast<char>(opcode | (is_last ? 0x80 : 0)));
    const size_t size = content.size();
    if (size < 126) {
      frame += static_cast<char>(0x80 | size);
    } else if (size < 65536) {
      frame += static_cast<char>(0x80 | 126);
      for (int i = 1; i >= 0; --i) frame += static_cast<char>(size >> (8 * i));
    } else {
      frame += static_cast<char>(0x80 | 127);
      for (int i = 7; i >= 0; --i) frame += static_cast<char>(size >> (8 * i));
    }
    const std::string mask = "\x12\x34\x56\x78";
    frame += mask;
    for (size_t i = 0; i < size; ++i) frame += static_cast<char>(content[i] ^ mask[i % 4]);
    return frame;
  }

  bool send(std::string_view content, int opcode = 1) {
    return client.send(framed(content, opcode));
  }

  /// The next message; nothing at the end of the connection or of patience.
  std::optional<SocketMessage> receive() {
    SocketMessage message;
    if (!receive(message)) return std::nullopt;
    return message;
  }

  /// Reads the next message into `message`; false at the end of the connection or of patience.
  bool receive(SocketMessage& message) {
    message.content.clear();
    for (bool is_last = false; !is_last;) {
      unsigned char head[10];
      const auto read = [&](size_t begin, size_t count) {
        return client.read(reinterpret_cast<char*>(head) + begin, count);
      };
      if (!read(0, 2)) return false;
      is_last = head[0] & 0x80;
      if ((head[0] & 0x0F) != 0) message.opcode = head[0] & 0x0F;
      size_t size = head[1] & 0x7F;
      const size_t more = size == 126 ? 2 : size == 127 ? 8 : 0;
      if (!read(2, more)) return false;
      if (more > 0) size = 0;
      for (size_t i = 0; i < more; ++i) size = size << 8 | head[2 + i];
      const size_t before = message.content.size();
      message.content.resize(before + size);
      if (!client.read(message.content.data() + before, size)) return false;
    }
    return true;
  }

  RawClient client;
  HttpAnswer handshake;
};

}  // namespace supple::test
