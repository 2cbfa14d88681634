// The exhibits of a server and the answers made from them. No failure of an exhibit leaves these
// functions as an exception. Used by one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "viewer/exhibit.h"
#include "viewer/protocol.h"

namespace supple::viewer {

/// What the server says to a request.
struct Answer {
  unsigned status = 200;             ///< of HTTP
  std::string_view media_type = {};  ///< of the content, if any
  std::string_view content = {};     ///< within `storage`, or static
  std::shared_ptr<const void> storage = nullptr;
};

/// A frame's bytes, or why there are none.
struct FrameAnswer {
  Bytes chunk;
  std::string problem;  ///< one line; empty when there is a chunk
};

/// The exhibits, and what is known of their growth.
class Gallery {
 public:
  /// Takes the exhibits over and asks them what is available.
  Gallery(std::vector<std::unique_ptr<Exhibit>> exhibits, bool live);

  /// Number of exhibits.
  int size() const { return static_cast<int>(m_exhibits.size()); }

  /// The answer to a request for that address; sockets are not answered here.
  Answer answer(const Address& address);

  /// The bytes of a frame.
  FrameAnswer frame(int exhibit, int frame) const;

  /// Asks all exhibits what is available; the numbers of those where it has changed since the last
  /// call.
  std::vector<int> changes();

  /// What was available when last asked.
  const Availability& availability(int exhibit) const { return m_known[index(exhibit)]; }

  /// Whether what is available has ever differed from what it was at the start.
  bool ever_changed(int exhibit) const { return m_ever_changed[index(exhibit)]; }

  /// The simulation in this program has ended.
  void end_live() { m_live = false; }

 private:
  static size_t index(int exhibit) { return static_cast<size_t>(exhibit); }
  void refresh();
  Json exhibit_json(size_t number) const;

  std::vector<std::unique_ptr<Exhibit>> m_exhibits;
  std::vector<Availability> m_known;
  std::vector<bool> m_ever_changed;
  std::vector<bool> m_unannounced;  // changed since the last call of changes()
  bool m_live;
};

}  // namespace supple::viewer
