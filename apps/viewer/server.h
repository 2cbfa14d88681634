// The page's server: HTTP and WebSocket on one port, by the rules of docs/viewer-protocol.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "viewer/exhibit.h"

namespace supple::viewer {

/// Where the server listens and what it puts up with.
struct ServerOptions {
  std::string address = "127.0.0.1";  ///< IP address to listen on
  uint16_t port = 0;                  ///< 0 for any free one
  bool live = false;                  ///< a simulation in this program is running
  size_t max_header_bytes = 8 << 10;
  size_t max_message_bytes = 64 << 10;
  size_t max_connections = 64;
  int max_waiting_frames = 64;                       ///< per connection
  std::chrono::milliseconds request_timeout{10000};  ///< to send a whole request
  std::chrono::milliseconds write_timeout{30000};    ///< to take one answer
  std::chrono::milliseconds poll_interval{500};      ///< how often exhibits are asked for growth
};

/// Serves exhibits to pages from a thread of its own, from construction to destruction.
class Server {
 public:
  /// Starts listening; throws an output error when the address or port cannot be had, a usage error
  /// when the address is not one.
  Server(std::vector<std::unique_ptr<Exhibit>> exhibits, const ServerOptions& options);

  /// Closes all connections and ends the thread; takes at most a second.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// The page's address with the token, "http://127.0.0.1:PORT/TOKEN/".
  std::string url() const;

  /// Tells pages what has become available; from any thread, returns at once.
  void exhibits_changed();

  /// Marks the end of the simulation of a live server; from any thread, returns at once.
  void end_live();

  /// Number of pages connected now; from any thread.
  int page_count() const;

  /// Number of pages that have connected so far; from any thread.
  int visit_count() const;

 private:
  class Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace supple::viewer
