// Readers of tetrahedral meshes: any bytes are read or refused with a supple::Error. The first byte
// chooses the format; TetGen's two files are split at the first '|'.
#include <algorithm>

#include "supple/core/error.h"
#include "supple/io/tet_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const supple::ByteView bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  try {
    if (data[0] == 'm') {
      supple::parse_medit(bytes, "fuzz.mesh");
    } else if (data[0] == 'g') {
      supple::parse_gmsh(bytes, "fuzz.msh");
    } else {
      const size_t split = std::min(supple::as_text(bytes).find('|'), bytes.size());
      const size_t second = std::min(split + 1, bytes.size());
      supple::parse_tetgen(bytes.first(split), "fuzz.node", bytes.subspan(second), "fuzz.ele");
    }
  } catch (const supple::Error&) {
  }
  return 0;
}
