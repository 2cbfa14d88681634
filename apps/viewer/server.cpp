// The server's thread, its listening socket, and the regular look at what exhibits have to show.
#include "viewer/server.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <future>
#include <thread>

#include "sessions.h"
#include "supple/core/error.h"

namespace supple::viewer {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

// How long the end of the server waits for connections to let go of themselves.
constexpr std::chrono::milliseconds patience{700};
// How long to wait after a failure to accept, as when there are no file descriptors left.
constexpr std::chrono::milliseconds accept_pause{100};

tcp::endpoint endpoint_of(const ServerOptions& options) {
  error_code error;
  const asio::ip::address address = asio::ip::make_address(options.address, error);
  if (error)
    throw Error(ErrorKind::usage,
                fmt::format("'{}' is not an IP address to listen on", printable(options.address)));
  return {address, options.port};
}

// Programs that are started meanwhile, such as a browser, do not inherit the socket.
template <class Socket>
void keep_from_children(Socket& socket) {
  const int flags = fcntl(socket.native_handle(), F_GETFD);
  if (flags >= 0) fcntl(socket.native_handle(), F_SETFD, flags | FD_CLOEXEC);
}

tcp::acceptor listening(asio::io_context& context, const ServerOptions& options) {
  const tcp::endpoint endpoint = endpoint_of(options);
  tcp::acceptor acceptor(context);
  try {
    acceptor.open(endpoint.protocol());
    keep_from_children(acceptor);
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    acceptor.bind(endpoint);
    acceptor.listen();
  } catch (const boost::system::system_error& error) {
    const ListenAddress address{options.address, options.port};
    throw Error(ErrorKind::output,
                fmt::format("cannot listen on {}: {}", host_text(address), error.code().message()));
  }
  return acceptor;
}

}  // namespace

class Server::Impl {
 public:
  Impl(std::vector<std::unique_ptr<Exhibit>> exhibits, const ServerOptions& options)
      : m_hub{.options = options,
              .address = {},
              .token = random_token(),
              .gallery = Gallery(std::move(exhibits), options.live),
              .connections = {}},
        m_context(1),
        m_acceptor(listening(m_context, options)),
        m_accept_timer(m_context),
        m_poll_timer(m_context),
        m_work(m_context.get_executor()) {
    const tcp::endpoint endpoint = m_acceptor.local_endpoint();
    m_hub.address = {endpoint.address().to_string(), endpoint.port()};
    accept_next();
    start_thread();
  }

  ~Impl() {
    asio::post(m_context, [this] { stop(); });
    if (m_ended.wait_for(patience) != std::future_status::ready) m_context.stop();
    m_thread.join();
  }

  std::string url() const {
    ListenAddress address = m_hub.address;
    if (address.text == "0.0.0.0") address.text = "127.0.0.1";
    if (address.text == "::") address.text = "::1";
    return fmt::format("http://{}/{}/", host_text(address), m_hub.token);
  }

  void exhibits_changed() {
    if (m_look_is_due.exchange(true)) return;
    asio::post(m_context, [this] {
      m_look_is_due = false;
      look_for_changes();
    });
  }

  void end_live() {
    asio::post(m_context, [this] { m_hub.gallery.end_live(); });
    exhibits_changed();
  }

  int page_count() const { return m_hub.page_count; }
  int visit_count() const { return m_hub.visit_count; }

 private:
  // Signals are left to the threads that wait for them.
  void start_thread() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::promise<void> ended;
    m_ended = ended.get_future();
    m_thread = std::thread([this, ended = std::move(ended)]() mutable {
      run();
      ended.set_value();
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  // One connection's failure, such as a lack of memory, must not end the others.
  void run() {
    for (;;) {
      try {
        m_context.run();
        return;
      } catch (...) {
      }
    }
  }

  void accept_next() {
    m_acceptor.async_accept([this](error_code error, tcp::socket socket) {
      if (!m_acceptor.is_open()) return;
      if (error) return accept_later();
      accept_next();
      take(std::move(socket));
    });
  }

  void accept_later() {
    m_accept_timer.expires_after(accept_pause);
    m_accept_timer.async_wait([this](error_code error) {
      if (!error && m_acceptor.is_open()) accept_next();
    });
  }

  void take(tcp::socket socket) {
    keep_from_children(socket);
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    if (m_hub.connections.size() >= m_hub.options.max_connections) return turn_away(socket);
    start_http_session(m_hub, std::move(socket));
    watch();
  }

  static void turn_away(tcp::socket& socket) {
    std::string answer = "HTTP/1.1 503 Service Unavailable\r\n";
    for (const auto& [name, value] : common_headers)
      answer += fmt::format("{}: {}\r\n", name, value);
    answer += "Content-Length: 0\r\nConnection: close\r\n\r\n";
    error_code ignored;
    socket.non_blocking(true, ignored);
    socket.write_some(asio::buffer(answer), ignored);
    socket.shutdown(tcp::socket::shutdown_both, ignored);
    socket.close(ignored);
  }

  // Looks at the exhibits regularly as long as there is somebody to tell.
  void watch() {
    if (m_is_watching) return;
    m_is_watching = true;
    m_poll_timer.expires_after(m_hub.options.poll_interval);
    m_poll_timer.async_wait([this](error_code error) {
      m_is_watching = false;
      if (error || m_hub.connections.empty()) return;
      watch();
      look_for_changes();
    });
  }

  void look_for_changes() {
    if (m_hub.page_count == 0) return;
    for (const int exhibit : m_hub.gallery.changes())
      for (Connection* connection : m_hub.connections) connection->exhibit_changed(exhibit);
  }

  void stop() {
    error_code ignored;
    m_acceptor.close(ignored);
    m_accept_timer.cancel();
    m_poll_timer.cancel();
    m_work.reset();
    for (Connection* connection : m_hub.connections) connection->close();
  }

  Hub m_hub;  // connections leave it when the context ends: it comes before
  asio::io_context m_context;
  tcp::acceptor m_acceptor;
  asio::steady_timer m_accept_timer;
  asio::steady_timer m_poll_timer;
  asio::executor_work_guard<asio::io_context::executor_type> m_work;
  bool m_is_watching = false;
  std::atomic<bool> m_look_is_due = false;
  std::future<void> m_ended;
  std::thread m_thread;
};

Server::Server(std::vector<std::unique_ptr<Exhibit>> exhibits, const ServerOptions& options)
    : m_impl(std::make_unique<Impl>(std::move(exhibits), options)) {}

Server::~Server() = default;

std::string Server::url() const { return m_impl->url(); }

void Server::exhibits_changed() { m_impl->exhibits_changed(); }

void Server::end_live() { m_impl->end_live(); }

int Server::page_count() const { return m_impl->page_count(); }

int Server::visit_count() const { return m_impl->visit_count(); }

}  // namespace supple::viewer
