// glTF reader: any bytes, .glb or .gltf, are read or refused with a supple::Error. Draco data is
// decoded in a process of its own and is not what this looks at.
#include "supple/core/error.h"
#include "supple/io/gltf_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    supple::character_from_gltf(supple::parse_gltf_document(
        {reinterpret_cast<const std::byte*>(data), size}, "fuzz.glb", {}));
  } catch (const supple::Error&) {
  }
  return 0;
}
