// The viewer's addresses, hosts, origins and messages: any text is understood or refused. The first
// byte chooses; a request's host and origin are split at the first '|'.
#include <algorithm>
#include <cstdlib>

#include "supple/core/error.h"
#include "viewer/access.h"
#include "viewer/protocol.h"

namespace {

using namespace supple;
using namespace supple::viewer;

constexpr int exhibits = 3, most_frames = 64;
const std::string token = "0123456789abcdef0123456789abcdef";

void check(bool holds) {
  if (!holds) std::abort();
}

void read_message(std::string_view text) {
  try {
    const Message message = parse_message(text, exhibits, most_frames);
    if (const auto* request = std::get_if<FramesMessage>(&message))
      check(request->exhibit >= 0 && request->exhibit < exhibits &&
            request->frames.size() <= most_frames);
  } catch (const Error& error) {
    check(std::string_view(error.what()).find('\n') == std::string_view::npos);
    parse_json(as_bytes(error_message(error.what())), "answer");
  }
}

// What is let through names the server and nothing else.
void read_head(std::string_view text, const ListenAddress& address) {
  const size_t split = std::min(text.find('|'), text.size());
  const std::string_view host = text.substr(0, split);
  const std::string_view origin = text.substr(std::min(split + 1, text.size()));
  const RequestHead head{.method = "GET", .hosts = {host}, .origins = {origin}};
  if (refusal(head, address)) return;
  check(origin.starts_with("http://") && origin.substr(7) == host);
  check(host.find_first_not_of("0123456789abcdefABCDEF.:[]localhstLOCALHST") == host.npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'a':
      if (const auto address = parse_address(text, token, exhibits))
        check(text.substr(1, token.size()) == token && address->exhibit >= 0 &&
              address->exhibit < exhibits);
      break;
    case 'p':  // an address below the token, which the fuzzer would not guess
      parse_address("/" + token + "/" + std::string(text), token, exhibits);
      break;
    case 'l':
      read_head(text, {"127.0.0.1", 8080});
      break;
    case 'w':
      read_head(text, {"::", 80});
      break;
    default:
      read_message(text);
  }
  return 0;
}
