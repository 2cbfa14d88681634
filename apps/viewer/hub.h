// What the connections of one server share, and how the server reaches them. Everything here is
// used by the server's own thread only, but for the numbers of pages.
#pragma once

#include <atomic>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "viewer/access.h"
#include "viewer/gallery.h"
#include "viewer/server.h"

namespace supple::viewer {

/// One connection of a browser, seen by the server.
class Connection {
 public:
  virtual ~Connection() = default;

  /// Ends the connection at once, whatever it is doing.
  virtual void close() = 0;

  /// What is available of an exhibit has changed.
  virtual void exhibit_changed(int /*exhibit*/) {}
};

/// What connections share.
struct Hub {
  ServerOptions options;
  ListenAddress address;  ///< with the port that was given
  std::string token;
  Gallery gallery;
  std::set<Connection*> connections;  ///< all there are; they enter and leave by themselves
  std::atomic<int> page_count = 0;    ///< open sockets; read by any thread
  std::atomic<int> visit_count = 0;   ///< sockets opened so far; read by any thread
};

/// The headers of every answer: nothing from elsewhere is loaded, shown around the page or guessed,
/// nothing is kept, nobody else may read.
inline constexpr std::pair<std::string_view, std::string_view> common_headers[] = {
    {"Content-Security-Policy",
     "default-src 'self'; img-src 'self' blob: data:; style-src 'self' 'unsafe-inline'; "
     "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cache-Control", "no-store"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
};

}  // namespace supple::viewer
