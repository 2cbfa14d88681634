#include "viewer/protocol.h"

#include <charconv>
#include <cstdint>
#include <cstring>

#include "supple/core/error.h"
#include "viewer/access.h"

namespace supple::viewer {
namespace {

// The whole text as a decimal number the way it is written by us: no sign but a minus, no leading
// zeros, no spaces.
std::optional<int> plain_number(std::string_view text) {
  int value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (std::to_string(value) != text) return std::nullopt;
  return value;
}

// Takes `prefix` off the front of `text`; false when it does not start so.
bool skip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// The frame that a report is asked for from: the query's `from`, or the lowest number there is.
std::optional<int> from_frame(std::string_view query) {
  int from = std::numeric_limits<int>::min();
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    std::string_view parameter = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (!skip(parameter, "from=")) continue;
    const std::optional<int> number = plain_number(parameter);
    if (!number) return std::nullopt;
    from = *number;
  }
  return from;
}

std::optional<Address> parse_exhibit_address(std::string_view path, std::string_view query,
                                             int exhibit_count) {
  const size_t slash = path.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::optional<int> exhibit = plain_number(path.substr(0, slash));
  if (!exhibit || *exhibit < 0 || *exhibit >= exhibit_count) return std::nullopt;
  const std::string_view file = path.substr(slash + 1);
  if (file == "static.chunk") return Address{.place = Place::static_chunk, .exhibit = *exhibit};
  if (file != "report.json") return std::nullopt;
  const std::optional<int> from = from_frame(query);
  if (!from) return std::nullopt;
  return Address{.place = Place::report, .exhibit = *exhibit, .from_frame = *from};
}

}  // namespace

std::optional<Address> parse_address(std::string_view target, std::string_view token,
                                     int exhibit_count) {
  const size_t mark = std::min(target.find('?'), target.size());
  std::string_view path = target.substr(0, mark);
  const std::string_view query = target.substr(std::min(mark + 1, target.size()));

  // "/TOKEN/"
  if (path.size() < token.size() + 2 || path[0] != '/' || path[token.size() + 1] != '/')
    return std::nullopt;
  if (!same_secret(path.substr(1, token.size()), token)) return std::nullopt;
  path.remove_prefix(token.size() + 2);

  if (path == "exhibits.json") return Address{.place = Place::exhibits};
  if (path == "socket") return Address{.place = Place::socket};
  if (skip(path, "exhibits/")) return parse_exhibit_address(path, query, exhibit_count);
  const PageAsset* asset = page_asset(path);
  if (!asset) return std::nullopt;
  return Address{.place = Place::page, .asset = asset};
}

Message parse_message(std::string_view text, int exhibit_count, int most_frames) {
  const Json json = parse_json(as_bytes(text), "message");
  const JsonField message(json, "message");
  const JsonField type_field = message["type"];
  const std::string type = type_field.text();
  if (type == "cancel") return CancelMessage{};
  if (type != "frames")
    type_field.fail(fmt::format("'{}' is not known (frames, cancel)", printable(type)));

  FramesMessage request;
  request.exhibit = message["exhibit"].index(static_cast<size_t>(exhibit_count), "exhibits");
  const JsonField frames = message["frames"];
  if (frames.size() > static_cast<size_t>(most_frames))
    frames.fail(
        fmt::format("at most {} frames may be waiting, found {}", most_frames, frames.size()));
  for (size_t i = 0; i < frames.size(); ++i)
    request.frames.push_back(static_cast<int>(frames[i].integer(
        std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max())));
  return request;
}

std::array<std::byte, 64> frame_header(int exhibit, int frame) {
  std::array<std::byte, 64> header{};
  const auto number = static_cast<uint32_t>(exhibit);
  const auto signed_frame = static_cast<int32_t>(frame);
  std::memcpy(header.data(), "SPLF", 4);
  std::memcpy(header.data() + 4, &number, sizeof number);
  std::memcpy(header.data() + 8, &signed_frame, sizeof signed_frame);
  return header;
}

std::string frame_error_message(int exhibit, int frame, std::string_view problem) {
  return json_text(
      {{"type", "frame_error"}, {"exhibit", exhibit}, {"frame", frame}, {"message", problem}});
}

std::string changed_message(int exhibit, const Availability& availability) {
  return json_text({{"type", "changed"},
                    {"exhibit", exhibit},
                    {"available", availability.frames},
                    {"status", availability.status}});
}

std::string error_message(std::string_view problem) {
  return json_text({{"type", "error"}, {"message", problem}});
}

std::string json_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace supple::viewer
