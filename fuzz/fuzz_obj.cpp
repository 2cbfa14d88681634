// OBJ reader: any bytes are read or refused with a supple::Error.
#include "supple/core/error.h"
#include "supple/io/obj_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    supple::parse_obj({reinterpret_cast<const std::byte*>(data), size}, "fuzz.obj");
  } catch (const supple::Error&) {
  }
  return 0;
}
