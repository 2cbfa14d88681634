#include "supple/io/pc2_reader.h"

#include <cmath>
#include <limits>

#include "supple/core/error.h"

namespace supple {
namespace {

constexpr uint64_t header_size = 32;

struct Pc2Header {
  int32_t version, points;
  float start, sampling;
  int32_t samples;
};

Pc2Header read_header(const InputFile& file) {
  constexpr std::string_view magic("POINTCACHE2\0", 12);
  const Bytes bytes = file.read(0, std::min(file.size(), header_size));
  if (!as_text(bytes).starts_with(magic))
    throw_input_error(file.name(), "byte 0", "is not a PC2 file (it starts with POINTCACHE2)");
  if (bytes.size() < header_size)
    throw_input_error(file.name(), "header",
                      fmt::format("is cut off after {} bytes", bytes.size()));
  const Pc2Header h{load_at<int32_t>(bytes, 12), load_at<int32_t>(bytes, 16),
                    load_at<float>(bytes, 20), load_at<float>(bytes, 24),
                    load_at<int32_t>(bytes, 28)};
  const auto check = [&](bool right, const char* field, const auto& value, const char* allowed) {
    if (!right)
      throw_input_error(file.name(), field, fmt::format("{} is not allowed ({})", value, allowed));
  };
  check(h.version == 1, "version", h.version, "only 1 is known");
  check(h.points > 0, "points", h.points, "1 or more");
  check(h.samples > 0, "samples", h.samples, "1 or more");
  check(h.sampling >= 1e-3f && h.sampling <= 1e3f, "sampling", h.sampling, "0.001 to 1000");
  check(std::abs(h.start) <= 1e9f, "start frame", h.start, "-1e9 to 1e9");
  const uint64_t bytes_each = uint64_t{12} * static_cast<uint64_t>(h.points);
  if (static_cast<uint64_t>(h.samples) > (file.size() - header_size) / bytes_each)
    throw_input_error(
        file.name(), "samples",
        fmt::format("{} samples of {} points need more than the file's {} bytes: it is cut off",
                    h.samples, h.points, file.size()));
  return h;
}

}  // namespace

FileAnimation read_pc2(const std::shared_ptr<const InputFile>& file, double rate) {
  const Pc2Header header = read_header(*file);
  FileAnimation animation;
  AnimatedSkin& skin = animation.skin;
  // Sample i belongs to frame start + sampling i.
  const double first = std::round(static_cast<double>(header.start / header.sampling));
  constexpr double largest = std::numeric_limits<int32_t>::max();
  if (std::abs(first) + header.samples > largest)
    throw_input_error(file->name(), "start frame",
                      fmt::format("frame numbers would pass {:.0f}", largest));
  skin.first_frame = static_cast<int>(first);
  skin.rate = rate / static_cast<double>(header.sampling);
  skin.frame_count = header.samples;
  skin.frame = [file, points = static_cast<size_t>(header.points)](int index) {
    SkinFrame frame;
    frame.positions.resize(points);
    file->read(header_size + static_cast<uint64_t>(index) * points * sizeof(Vec3f),
               std::as_writable_bytes(std::span(frame.positions)));
    return frame;
  };
  skin.rest = skin.frame(0).positions;
  return animation;
}

}  // namespace supple
