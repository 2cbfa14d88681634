// The vertex loops of skinning, compiled for every instruction set. Vertices come in chunks of
// fixed size; within a chunk every vertex has the same number of influences, padded with weights of
// zero, so that the loops need no offsets.
#pragma once

#include <cstddef>
#include <cstdint>

namespace supple {

/// Vertices per chunk; a multiple of every register width.
inline constexpr size_t skinning_chunk = 64;

/// Where the influences of one chunk start, and how many each of its vertices has.
struct SkinningChunk {
  size_t first = 0;
  size_t per_vertex = 0;
};

/// What is blended per vertex, by the floats of one palette record.
enum class SkinningKernel {
  matrix,                ///< 16: three rows of a 3x4 matrix, padding
  dual_quaternion,       ///< 8: real x y z w, dual x y z w
  stretched_quaternion,  ///< 16: real, dual, stretch xx xy xz yy, yz zz and padding
};

/// One pass over a skin. Indices (16-bit where they fit, else 32-bit) pick palette records.
struct SkinningJob {
  const float* palette = nullptr;
  const SkinningChunk* chunks = nullptr;
  const uint16_t* short_indices = nullptr;
  const uint32_t* long_indices = nullptr;
  const float* weights = nullptr;
  const float* rest = nullptr;  ///< x y z per vertex
  float* out = nullptr;         ///< may be `rest`
  size_t vertices = 0;
};

/// Skins the vertices of chunks [begin, end).
void skin_chunks(SkinningKernel kernel, const SkinningJob& job, size_t begin, size_t end);

}  // namespace supple
