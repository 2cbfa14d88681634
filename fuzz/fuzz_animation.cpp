// Readers of animation files: any bytes are read or refused with a supple::Error, when they are
// opened and when a frame is read. The first byte chooses the format.
#include <algorithm>
#include <memory>

#include "supple/core/error.h"
#include "supple/io/mdd_reader.h"
#include "supple/io/obj_sequence_reader.h"
#include "supple/io/pc2_reader.h"
#include "supple/io/usda_reader.h"
#include "supple/io/vtu_reader.h"

namespace {

using namespace supple;

// The first and the last frame; a file may hold very many.
void read_frames(const FileAnimation& animation) {
  const AnimatedSkin& skin = animation.skin;
  for (const int index : {0, skin.frame_count - 1})
    if (skin.frame(index).positions.size() != skin.rest.size()) __builtin_trap();
  for (const Vec3i& triangle : skin.triangles)
    if (triangle.minCoeff() < 0 || triangle.maxCoeff() >= static_cast<int>(skin.rest.size()))
      __builtin_trap();
  for (const Part& part : skin.parts)
    if (part.vertices.first < 0 || part.vertices.count < 0 ||
        part.vertices.end() > static_cast<int>(skin.rest.size()) || part.triangles.first < 0 ||
        part.triangles.end() > static_cast<int>(skin.triangles.size()))
      __builtin_trap();
}

void read(char format, Bytes bytes) {
  if (format == 'c') {
    parse_pvd(bytes, "fuzz.pvd");
  } else if (format == 'o') {
    parse_obj_positions(bytes, "fuzz.obj");
  } else if (format == 'v') {
    const InputFile file(std::move(bytes), "fuzz.vtu");
    FileAnimation animation = vtu_surface(file);
    animation.skin.frame_count = 1;
    animation.skin.frame = [&](int) { return vtu_frame(file, animation.skin); };
    read_frames(animation);
  } else {
    const auto file = std::make_shared<const InputFile>(std::move(bytes), "fuzz");
    read_frames(format == 'p'   ? read_pc2(file, 24)
                : format == 'm' ? read_mdd(file, 24)
                                : read_usda(file));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  try {
    read(static_cast<char>(data[0]), Bytes(bytes + 1, bytes + size));
  } catch (const Error&) {
  }
  return 0;
}
