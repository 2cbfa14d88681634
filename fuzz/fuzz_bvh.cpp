// BVH reader: any bytes are read or refused with a supple::Error.
#include "supple/core/error.h"
#include "supple/io/bvh_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    supple::parse_bvh({reinterpret_cast<const std::byte*>(data), size}, "fuzz.bvh");
  } catch (const supple::Error&) {
  }
  return 0;
}
