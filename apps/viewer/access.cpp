#include "viewer/access.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "supple/core/error.h"

namespace supple::viewer {
namespace {

// An IP address in the form in which two ways of writing it are the same.
struct IpAddress {
  bool is_v6 = false;
  std::array<unsigned char, 16> bytes{};

  bool operator==(const IpAddress&) const = default;
  bool is_loopback() const { return is_v6 ? *this == loopback_v6() : bytes[0] == 127; }

  static IpAddress loopback_v6() {
    IpAddress address{.is_v6 = true};
    address.bytes[15] = 1;
    return address;
  }
};

std::optional<IpAddress> parse_ip(const std::string& text, bool is_v6) {
  IpAddress address{.is_v6 = is_v6};
  const int family = is_v6 ? AF_INET6 : AF_INET;
  // A zero byte inside would end the text early for inet_pton.
  if (text.find('\0') != std::string::npos) return std::nullopt;
  if (inet_pton(family, text.c_str(), address.bytes.data()) != 1) return std::nullopt;
  return address;
}

std::optional<IpAddress> parse_ip(const std::string& text) {
  return parse_ip(text, text.find(':') != std::string::npos);
}

bool is_localhost(std::string_view name) {
  constexpr std::string_view localhost = "localhost";
  return std::equal(name.begin(), name.end(), localhost.begin(), localhost.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; });
}

// Takes the port off the end of a Host header's value; false when it is another one. Browsers
// leave out port 80.
bool skip_port(std::string_view& host, uint16_t port) {
  const std::string suffix = fmt::format(":{}", port);
  if (host.ends_with(suffix)) {
    host.remove_suffix(suffix.size());
    return true;
  }
  return port == 80 && (host.ends_with(']') || host.find(':') == std::string_view::npos);
}

}  // namespace

std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t count = getrandom(bytes.data() + filled, bytes.size() - filled, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0)
      throw Error(ErrorKind::output,
                  fmt::format("cannot draw the page's token: {}", std::strerror(errno)));
    filled += static_cast<size_t>(count);
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  volatile unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i)
    difference = static_cast<unsigned char>(difference | (a[i] ^ b[i]));
  return difference == 0;
}

std::string host_text(const ListenAddress& address) {
  const bool is_v6 = address.text.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", is_v6 ? "[" : "", address.text, is_v6 ? "]" : "", address.port);
}

bool is_own_host(std::string_view host, const ListenAddress& address) {
  const std::optional<IpAddress> own = parse_ip(address.text);
  if (!own || !skip_port(host, address.port)) return false;
  if (own->is_loopback() && is_localhost(host)) return true;

  const bool in_brackets = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (in_brackets) host = host.substr(1, host.size() - 2);
  const std::optional<IpAddress> named = parse_ip(std::string(host), in_brackets);
  if (!named) return false;
  return !own->is_loopback() || *named == *own || *named == IpAddress::loopback_v6();
}

std::optional<unsigned> refusal(const RequestHead& request, const ListenAddress& address) {
  constexpr unsigned forbidden = 403, method_not_allowed = 405, too_large = 413;
  if (request.hosts.size() != 1 || !is_own_host(request.hosts[0], address)) return forbidden;
  if (request.origins.size() > 1 || (request.origins.empty() && request.is_upgrade))
    return forbidden;
  if (!request.origins.empty() && request.origins[0] != fmt::format("http://{}", request.hosts[0]))
    return forbidden;
  if (request.method != "GET" && request.method != "HEAD") return method_not_allowed;
  if (request.has_body) return too_large;
  return std::nullopt;
}

}  // namespace supple::viewer
