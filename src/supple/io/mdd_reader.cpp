#include "supple/io/mdd_reader.h"

#include "supple/core/error.h"

namespace supple {
namespace {

constexpr uint64_t header_size = 8;

// Turns big-endian floats round in place.
void from_big_endian(std::span<std::byte> bytes) {
  for (size_t at = 0; at + sizeof(uint32_t) <= bytes.size(); at += sizeof(uint32_t)) {
    const auto value = byte_swapped(load_at<uint32_t>(bytes, at));
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
}

}  // namespace

FileAnimation read_mdd(const std::shared_ptr<const InputFile>& file, double rate) {
  if (file->size() < header_size)
    throw_input_error(file->name(), "header",
                      fmt::format("is cut off after {} bytes", file->size()));
  const Bytes header = file->read(0, header_size);
  const auto frames = byte_swapped(load_at<int32_t>(header, 0));
  const auto points = byte_swapped(load_at<int32_t>(header, 4));
  if (frames <= 0)
    throw_input_error(file->name(), "frames", fmt::format("{} is not allowed (1 or more)", frames));
  if (points <= 0)
    throw_input_error(file->name(), "points", fmt::format("{} is not allowed (1 or more)", points));
  const uint64_t bytes_each = uint64_t{12} * static_cast<uint64_t>(points);
  const uint64_t data = header_size + uint64_t{4} * static_cast<uint64_t>(frames);
  if (data > file->size() || static_cast<uint64_t>(frames) > (file->size() - data) / bytes_each)
    throw_input_error(
        file->name(), "frames",
        fmt::format("{} frames of {} points need more than the file's {} bytes: it is cut off",
                    frames, points, file->size()));

  Bytes times = file->read(header_size, data - header_size);
  from_big_endian(times);
  FrameTimes clock_times;
  clock_times.single_precision = true;
  for (size_t at = 0; at < times.size(); at += 4)
    clock_times.seconds.push_back(static_cast<double>(load_at<float>(times, at)));
  const FrameClock clock = clock_from_times(clock_times, rate, file->name());

  FileAnimation animation;
  AnimatedSkin& skin = animation.skin;
  skin.first_frame = clock.first_frame;
  skin.rate = clock.rate;
  skin.frame_count = frames;
  skin.frame = [file, data, bytes_each](int index) {
    SkinFrame frame;
    frame.positions.resize(bytes_each / sizeof(Vec3f));
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(frame.positions));
    file->read(data + static_cast<uint64_t>(index) * bytes_each, bytes);
    from_big_endian(bytes);
    return frame;
  };
  skin.rest = skin.frame(0).positions;
  return animation;
}

}  // namespace supple
