// One connection that speaks HTTP: a request is read whole or refused, answered, and the next one
// waited for. Every stage has a deadline, so that nobody holds a connection by being slow. Bodies
// of requests are never read as such.
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/bind_handler.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <limits>
#include <memory>
#include <optional>

#include "sessions.h"

namespace supple::viewer {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using beast::error_code;
using tcp = boost::asio::ip::tcp;

using Body = http::span_body<const char>;

// How long a refused client may go on sending before the connection is cut under it.
constexpr std::chrono::seconds drain_time{1};

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

class HttpSession : public Connection, public std::enable_shared_from_this<HttpSession> {
 public:
  HttpSession(Hub& hub, tcp::socket socket)
      : m_hub(hub), m_stream(std::move(socket)), m_buffer(2 * hub.options.max_header_bytes) {
    m_hub.connections.insert(this);
  }
  ~HttpSession() override { m_hub.connections.erase(this); }

  void start() { read_request(); }
  void close() override { m_stream.close(); }

 private:
  // The deadline covers waiting for a request and the whole of it, not each of its bytes.
  void read_request() {
    m_parser.emplace();
    m_parser->header_limit(static_cast<uint32_t>(m_hub.options.max_header_bytes));
    m_parser->body_limit(std::numeric_limits<uint64_t>::max());
    m_stream.expires_after(m_hub.options.request_timeout);
    http::async_read_header(
        m_stream, m_buffer, *m_parser,
        beast::bind_front_handler(&HttpSession::on_request, shared_from_this()));
  }

  void on_request(error_code error, size_t) {
    constexpr unsigned bad_request = 400, headers_too_large = 431;
    if (error == http::error::header_limit || error == http::error::buffer_overflow)
      return refuse(headers_too_large);
    if (error == http::error::end_of_stream || error == http::error::partial_message)
      return finish();
    if (error) {
      const bool is_malformed =
          error.category() == make_error_code(http::error::bad_target).category();
      if (is_malformed) refuse(bad_request);
      return;  // else the connection is gone or was too slow
    }
    respond();
  }

  void respond() {
    constexpr unsigned not_found = 404, bad_request = 400;
    const HttpRequest& request = m_parser->get();
    const bool is_upgrade = beast::websocket::is_upgrade(request);
    const bool has_body = !m_parser->is_done();
    if (const auto status = refusal(head_of(request, has_body, is_upgrade), m_hub.address))
      return has_body ? refuse(*status) : send({*status}, request.keep_alive());

    const auto address = parse_address(view(request.target()), m_hub.token, m_hub.gallery.size());
    const bool is_socket = address && address->place == Place::socket;
    if (!address || (is_socket && !is_upgrade)) return send({not_found}, request.keep_alive());
    if (!is_socket) return send(m_hub.gallery.answer(*address), request.keep_alive());

    // A client has nothing to say on the socket before it is accepted.
    if (m_buffer.size() > 0) return refuse(bad_request);
    m_stream.expires_never();
    start_socket_session(m_hub, std::move(m_stream), m_parser->release());
  }

  static RequestHead head_of(const HttpRequest& request, bool has_body, bool is_upgrade) {
    RequestHead head{
        .method = view(request.method_string()), .has_body = has_body, .is_upgrade = is_upgrade};
    for (const auto& field : request) {
      if (field.name() == http::field::host) head.hosts.push_back(view(field.value()));
      if (field.name() == http::field::origin) head.origins.push_back(view(field.value()));
    }
    return head;
  }

  // Answers a request that was not read to its end: what follows cannot be told from it.
  void refuse(unsigned status) { send({status}, false); }

  void send(Answer answer, bool keep_alive) {
    m_answer = std::move(answer);
    m_response.emplace(static_cast<http::status>(m_answer.status), 11);
    for (const auto& [name, value] : common_headers)
      m_response->set(beast::string_view(name.data(), name.size()),
                      beast::string_view(value.data(), value.size()));
    if (!m_answer.media_type.empty())
      m_response->set(http::field::content_type,
                      beast::string_view(m_answer.media_type.data(), m_answer.media_type.size()));
    if (m_response->result() == http::status::method_not_allowed)
      m_response->set(http::field::allow, "GET, HEAD");
    m_response->keep_alive(keep_alive);
    m_response->content_length(m_answer.content.size());
    m_response->body() = {m_answer.content.data(), m_answer.content.size()};

    m_serializer.emplace(*m_response);
    m_stream.expires_after(m_hub.options.write_timeout);
    auto handler = beast::bind_front_handler(&HttpSession::on_sent, shared_from_this(), keep_alive);
    if (m_parser->is_header_done() && m_parser->get().method() == http::verb::head)
      http::async_write_header(m_stream, *m_serializer, std::move(handler));
    else
      http::async_write(m_stream, *m_serializer, std::move(handler));
  }

  void on_sent(bool keep_alive, error_code error, size_t) {
    m_serializer.reset();
    m_response.reset();
    m_answer = {};
    if (error) return;
    if (keep_alive) return read_request();
    finish();
  }

  // Closing while the client still sends would take the answer away from it: the system throws
  // unread answers away with the connection.
  void finish() {
    error_code ignored;
    m_stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
    m_stream.expires_after(drain_time);
    drain();
  }

  void drain() {
    m_stream.async_read_some(boost::asio::buffer(m_drained),
                             [self = shared_from_this()](error_code error, size_t) {
                               if (!error) self->drain();
                             });
  }

  Hub& m_hub;
  beast::tcp_stream m_stream;
  beast::flat_buffer m_buffer;
  std::optional<http::request_parser<http::empty_body>> m_parser;
  Answer m_answer;
  std::optional<http::response<Body>> m_response;
  std::optional<http::response_serializer<Body>> m_serializer;
  std::array<char, 4096> m_drained;
};

}  // namespace

void start_http_session(Hub& hub, tcp::socket socket) {
  std::make_shared<HttpSession>(hub, std::move(socket))->start();
}

}  // namespace supple::viewer
