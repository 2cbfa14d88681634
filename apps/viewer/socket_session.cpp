// One page's WebSocket. The page asks for frames; they are read and sent one at a time, the next
// when the one before has been taken, so that a slow page costs one frame of memory. Changes of
// exhibits are remembered as "has changed", not as messages, so that they do not pile up either.
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/bind_handler.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <deque>
#include <memory>
#include <set>

#include "sessions.h"
#include "supple/core/error.h"

namespace supple::viewer {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using beast::error_code;

// A page that makes mistakes without reading about them is not listened to any further.
constexpr size_t most_errors_waiting = 16;

class SocketSession : public Connection, public std::enable_shared_from_this<SocketSession> {
 public:
  SocketSession(Hub& hub, beast::tcp_stream stream, HttpRequest request)
      : m_hub(hub),
        m_request(std::move(request)),
        m_socket(std::move(stream)),
        m_deadline(m_socket.get_executor()) {
    m_hub.connections.insert(this);
  }
  ~SocketSession() override {
    m_hub.connections.erase(this);
    leave();
  }

  void start() {
    websocket::stream_base::timeout timeout{};
    timeout.handshake_timeout = m_hub.options.request_timeout;
    timeout.idle_timeout = m_hub.options.write_timeout;
    timeout.keep_alive_pings = true;
    m_socket.set_option(timeout);
    m_socket.set_option(websocket::stream_base::decorator([](websocket::response_type& response) {
      for (const auto& [name, value] : common_headers)
        response.set(beast::string_view(name.data(), name.size()),
                     beast::string_view(value.data(), value.size()));
    }));
    // A page that says goodbye is gone, even before it has closed its side.
    m_socket.control_callback([this](websocket::frame_type kind, beast::string_view) {
      if (kind == websocket::frame_type::close) leave();
    });
    m_socket.read_message_max(m_hub.options.max_message_bytes);
    m_socket.auto_fragment(false);  // a frame's bytes go out from where they are
    m_socket.async_accept(
        m_request, beast::bind_front_handler(&SocketSession::on_accepted, shared_from_this()));
  }

  void close() override {
    m_is_closed = true;
    m_deadline.cancel();
    beast::get_lowest_layer(m_socket).close();
  }

  void exhibit_changed(int exhibit) override {
    if (!m_is_open) return;
    m_changed.insert(exhibit);
    send_next();
  }

 private:
  void on_accepted(error_code error) {
    m_request = {};
    if (error) return;
    m_is_open = true;
    ++m_hub.page_count;
    ++m_hub.visit_count;
    // The page may have read exhibits.json before the latest change.
    for (int i = 0; i < m_hub.gallery.size(); ++i)
      if (m_hub.gallery.ever_changed(i)) m_changed.insert(i);
    send_next();
    read_next();
  }

  void leave() {
    if (m_is_open) --m_hub.page_count;
    m_is_open = false;
    m_waiting.clear();
    m_changed.clear();
  }

  void read_next() {
    m_is_reading = true;
    m_socket.async_read(m_buffer,
                        beast::bind_front_handler(&SocketSession::on_read, shared_from_this()));
  }

  void on_read(error_code error, size_t) {
    m_is_reading = false;
    if (error) return close();
    try {
      if (!m_socket.got_text()) throw Error(ErrorKind::input, "message: must be text");
      const std::string text = beast::buffers_to_string(m_buffer.data());
      take(parse_message(text, m_hub.gallery.size(), m_hub.options.max_waiting_frames));
    } catch (const std::exception& problem) {
      m_errors.push_back(error_message(problem.what()));
    }
    m_buffer.consume(m_buffer.size());
    send_next();
    if (m_errors.size() < most_errors_waiting) read_next();
  }

  void take(const Message& message) {
    if (std::holds_alternative<CancelMessage>(message)) {
      m_waiting.clear();
      return;
    }
    const auto& request = std::get<FramesMessage>(message);
    const auto most = static_cast<size_t>(m_hub.options.max_waiting_frames);
    if (m_waiting.size() + request.frames.size() > most)
      throw Error(ErrorKind::input,
                  fmt::format("message: frames: at most {} frames may be waiting, {} are already",
                              most, m_waiting.size()));
    for (const int frame : request.frames) m_waiting.push_back({request.exhibit, frame});
  }

  // Sends one message, the most urgent one: mistakes, changes, then frames.
  void send_next() {
    if (m_is_sending || m_is_closed) return;
    if (!m_errors.empty()) {
      send_text(std::move(m_errors.front()));
      m_errors.pop_front();
    } else if (!m_changed.empty()) {
      const int exhibit = *m_changed.begin();
      m_changed.erase(m_changed.begin());
      send_text(changed_message(exhibit, m_hub.gallery.availability(exhibit)));
    } else if (!m_waiting.empty()) {
      const WaitingFrame next = m_waiting.front();
      m_waiting.pop_front();
      send_frame(next.exhibit, next.frame);
    }
  }

  void send_text(std::string text) {
    m_text = std::move(text);
    m_socket.text(true);
    begin_deadline();
    m_socket.async_write(boost::asio::buffer(m_text),
                         beast::bind_front_handler(&SocketSession::on_sent, shared_from_this()));
  }

  void send_frame(int exhibit, int frame) {
    FrameAnswer answer = m_hub.gallery.frame(exhibit, frame);
    if (!answer.problem.empty())
      return send_text(frame_error_message(exhibit, frame, answer.problem));
    m_header = frame_header(exhibit, frame);
    m_chunk = std::move(answer.chunk);
    m_socket.binary(true);
    begin_deadline();
    const std::array<boost::asio::const_buffer, 2> message{boost::asio::buffer(m_header),
                                                           boost::asio::buffer(m_chunk)};
    m_socket.async_write(message,
                         beast::bind_front_handler(&SocketSession::on_sent, shared_from_this()));
  }

  void begin_deadline() {
    m_is_sending = true;
    m_deadline.expires_after(m_hub.options.write_timeout);
    m_deadline.async_wait([self = shared_from_this()](error_code error) {
      const bool is_over = std::chrono::steady_clock::now() >= self->m_deadline.expiry();
      if (!error && is_over && self->m_is_sending) self->close();
    });
  }

  void on_sent(error_code error, size_t) {
    m_is_sending = false;
    m_deadline.cancel();
    m_chunk = {};
    if (error) return close();
    send_next();
    if (!m_is_reading && !m_is_closed && m_errors.size() < most_errors_waiting) read_next();
  }

  struct WaitingFrame {
    int exhibit;
    int frame;
  };

  Hub& m_hub;
  HttpRequest m_request;
  websocket::stream<beast::tcp_stream> m_socket;
  boost::asio::steady_timer m_deadline;  // of the message being sent
  beast::flat_buffer m_buffer;
  bool m_is_open = false;
  bool m_is_reading = false;
  bool m_is_sending = false;
  bool m_is_closed = false;

  std::deque<std::string> m_errors;    // texts of messages about the page's mistakes
  std::set<int> m_changed;             // exhibits to say the availability of
  std::deque<WaitingFrame> m_waiting;  // frames asked for

  // The message being sent.
  std::string m_text;
  std::array<std::byte, 64> m_header;
  Bytes m_chunk;
};

}  // namespace

void start_socket_session(Hub& hub, beast::tcp_stream stream, HttpRequest request) {
  std::make_shared<SocketSession>(hub, std::move(stream), std::move(request))->start();
}

}  // namespace supple::viewer
