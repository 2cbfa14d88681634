#include "viewer/picture_words.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "supple/core/error.h"

namespace supple::viewer {
namespace {

constexpr int min_size = 16, max_size = 8192;
constexpr size_t max_frames = 1000000;

[[noreturn]] void refuse(const std::string& option, std::string_view text,
                         std::string_view allowed) {
  throw Error(ErrorKind::usage,
              fmt::format("{}: '{}' is not {}", option, printable(text), allowed));
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  size_t start = 0;
  while (true) {
    const size_t end = std::min(text.find(',', start), text.size());
    parts.push_back(text.substr(start, end - start));
    if (end == text.size()) return parts;
    start = end + 1;
  }
}

// A number that makes up the whole text; whole numbers for T = int, finite ones for double.
template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto result = std::from_chars(text.data(), end, value);
  if (text.empty() || result.ec != std::errc{} || result.ptr != end) return std::nullopt;
  if constexpr (std::is_floating_point_v<T>)
    if (!std::isfinite(value)) return std::nullopt;
  return value;
}

std::vector<double> numbers(const std::string& text) {
  std::vector<double> values;
  for (const std::string& part : split(text)) {
    const auto value = number<double>(part);
    if (!value) return {};
    values.push_back(*value);
  }
  return values;
}

// "7", "3-9", "-5:20": a dash or colon after the first character separates; a leading dash is a
// sign.
std::optional<std::pair<int, int>> frame_span(const std::string& text) {
  const size_t separator = text.find_first_of("-:", 1);
  const auto first = number<int>(std::string_view(text).substr(0, separator));
  if (!first) return std::nullopt;
  if (separator == std::string::npos) return std::pair(*first, *first);
  const auto last = number<int>(std::string_view(text).substr(separator + 1));
  if (!last || *last < *first) return std::nullopt;
  return std::pair(*first, *last);
}

}  // namespace

const std::vector<std::string>& camera_names() {
  static const std::vector<std::string> names = {"front", "back", "left",
                                                 "right", "top",  "quarter"};
  return names;
}

std::pair<int, int> parse_size(const std::string& text, const std::string& option) {
  const size_t cross = text.find('x');
  const std::string allowed =
      fmt::format("WIDTHxHEIGHT with {} to {} pixels each", min_size, max_size);
  if (cross == std::string::npos) refuse(option, text, allowed);
  const auto width = number<int>(std::string_view(text).substr(0, cross));
  const auto height = number<int>(std::string_view(text).substr(cross + 1));
  for (const auto& side : {width, height})
    if (!side || *side < min_size || *side > max_size) refuse(option, text, allowed);
  return {*width, *height};
}

std::vector<int> parse_frame_list(const std::string& text, const std::string& option) {
  std::vector<int> frames;
  for (const std::string& part : split(text)) {
    const auto span = frame_span(part);
    if (!span) refuse(option, part, "a frame or FIRST-LAST");
    const int64_t count = int64_t{span->second} - span->first + 1;
    if (static_cast<uint64_t>(count) > max_frames - frames.size())
      refuse(option, text, fmt::format("a list of at most {} frames", max_frames));
    for (int64_t i = 0; i < count; ++i) frames.push_back(static_cast<int>(span->first + i));
  }
  return frames;
}

void parse_camera(const std::string& text, const std::string& option, PictureOptions& options) {
  const std::vector<std::string>& names = camera_names();
  if (std::find(names.begin(), names.end(), text) != names.end()) {
    options.camera = text;
    return;
  }
  const std::vector<double> values = numbers(text);
  const bool good = (values.size() == 2 || values.size() == 3) && std::abs(values[0]) <= 3600 &&
                    std::abs(values[1]) <= 90 &&
                    (values.size() == 2 || (values[2] >= 0.01 && values[2] <= 1000));
  if (!good)
    refuse(option, text,
           fmt::format("{} or AZIMUTH,ELEVATION[,ZOOM] in degrees (elevation -90 to 90, zoom 0.01 "
                       "to 1000){}",
                       fmt::join(names, ", "), suggestion(text, names)));
  options.angles = CameraAngles{values[0], values[1], values.size() == 3 ? values[2] : 1};
}

std::pair<double, double> parse_range(const std::string& text, const std::string& option) {
  const std::vector<double> values = numbers(text);
  if (values.size() != 2 || !(values[0] < values[1]))
    refuse(option, text, "MIN,MAX with MIN < MAX");
  return {values[0], values[1]};
}

std::vector<std::string> parse_layers(const std::string& text, const std::string& option) {
  std::vector<std::string> layers = split(text);
  const std::vector<std::string>& known = picture_layers();
  for (const std::string& layer : layers)
    if (std::find(known.begin(), known.end(), layer) == known.end())
      refuse(option, layer,
             fmt::format("one of {}{}", fmt::join(known, ", "), suggestion(layer, known)));
  return layers;
}

std::string colour_name(const std::string& text) {
  const bool known = text == "surface" || text == "part" || text == "distance";
  return known || text.empty() || text.starts_with("map/") ? text : "map/" + text;
}

}  // namespace supple::viewer
