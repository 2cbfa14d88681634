// Scene files: any bytes are read or refused with a supple::Error, and what is read is written back
// as a scene that reads the same.
#include <cstdlib>

#include "supple/core/error.h"
#include "supple/io/scene_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  supple::Json written;
  try {
    written = scene_to_json(
        supple::parse_scene({reinterpret_cast<const std::byte*>(data), size}, "fuzz.json"));
  } catch (const supple::Error&) {
    return 0;
  }
  const std::string text = written.dump();
  if (scene_to_json(supple::parse_scene(supple::as_bytes(text), "again.json")) != written)
    std::abort();
  return 0;
}
