#include "supple/io/mdd_writer.h"

#include "supple/core/file.h"
#include "supple/io/export_frames.h"

namespace supple {
namespace {

// Big-endian: frames, points, then the time of every frame in seconds.
Bytes mdd_header(const AnimatedSkin& skin) {
  Bytes header;
  append_big_endian(header, static_cast<int32_t>(skin.frame_count));
  append_big_endian(header, static_cast<int32_t>(skin.rest.size()));
  for (int index = 0; index < skin.frame_count; ++index)
    append_big_endian(
        header, static_cast<float>(seconds_of_frame(skin, int64_t{skin.first_frame} + index)));
  return header;
}

}  // namespace

void write_mdd(const std::filesystem::path& path, const AnimatedSkin& skin,
               const ExportOptions& options) {
  check_exportable(path, skin);
  AtomicFile file(path);
  file.write(mdd_header(skin));
  Bytes bytes;
  for_each_frame(path, skin, options, [&](int64_t, const SkinFrame& frame) {
    bytes.clear();
    bytes.reserve(frame.positions.size() * sizeof(Vec3f));
    for (const Vec3f& p : frame.positions)
      for (int k = 0; k < 3; ++k) append_big_endian(bytes, p[k]);
    file.write(bytes);
  });
  file.commit();
}

}  // namespace supple
