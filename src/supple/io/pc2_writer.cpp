#include "supple/io/pc2_writer.h"

#include "supple/core/file.h"
#include "supple/io/export_frames.h"

namespace supple {
namespace {

// Little-endian: "POINTCACHE2\0", version, points, start frame, frames per sample, samples.
Bytes pc2_header(const AnimatedSkin& skin) {
  Bytes header;
  append_text(header, std::string_view("POINTCACHE2\0", 12));
  append(header, int32_t{1});
  append(header, static_cast<int32_t>(skin.rest.size()));
  append(header, static_cast<float>(skin.first_frame));
  append(header, 1.0f);
  append(header, static_cast<int32_t>(skin.frame_count));
  return header;
}

}  // namespace

void write_pc2(const std::filesystem::path& path, const AnimatedSkin& skin,
               const ExportOptions& options) {
  check_exportable(path, skin);
  AtomicFile file(path);
  file.write(pc2_header(skin));
  for_each_frame(path, skin, options, [&](int64_t, const SkinFrame& frame) {
    file.write(position_bytes(frame.positions));
  });
  file.commit();
}

}  // namespace supple
