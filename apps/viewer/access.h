// Who may ask: the token, and the Host and Origin of requests. Pure functions over text, without
// any network. A page of another site must neither read nor be able to guess anything, not even
// when its name is made to resolve to our address (DNS rebinding).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace supple::viewer {

/// 32 hexadecimal digits from the system's source of randomness; throws when there is none.
std::string random_token();

/// Whether two texts are the same, in a time that depends on their lengths only.
bool same_secret(std::string_view a, std::string_view b);

/// An IP address to listen on.
struct ListenAddress {
  std::string text = "127.0.0.1";  ///< without brackets
  uint16_t port = 0;
};

/// "127.0.0.1:8080" or "[::1]:8080".
std::string host_text(const ListenAddress& address);

/// Whether a Host header's value names the server itself: the address it listens on, and
/// `localhost` or `[::1]` for a loopback address; any IP address, but no name, for one that other
/// machines reach. The port must be right.
bool is_own_host(std::string_view host, const ListenAddress& address);

/// What decides about a request, from its first line and headers.
struct RequestHead {
  std::string_view method;
  std::vector<std::string_view> hosts = {};    ///< values of all Host headers
  std::vector<std::string_view> origins = {};  ///< values of all Origin headers
  bool has_body = false;
  bool is_upgrade = false;  ///< to a WebSocket
};

/// The HTTP status to refuse a request with, whatever its address; nothing when it may go on.
std::optional<unsigned> refusal(const RequestHead& request, const ListenAddress& address);

}  // namespace supple::viewer
