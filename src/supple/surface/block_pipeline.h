// Passes over the blocks of a surface in which each pass needs what the one before left at nearby
// particles. Large surfaces do not stay in the cache from pass to pass; so passes follow each other
// closely, chunk by chunk, as far as the regions allow.
#pragma once

#include <cstdint>
#include <vector>

#include "supple/core/parallel.h"
#include "supple/math/flush_denormals.h"
#include "supple/surface/surface_model.h"

namespace supple {

/// The order of passes over blocks; the model must outlive it.
class BlockPipeline {
 public:
  explicit BlockPipeline(const SurfaceModel& model);

  /// Calls every pass with every block and its number, on all threads. A pass comes to a block when
  /// the pass before is through with all particles of the regions of the block's.
  template <class... Passes>
  void run(const Passes&... passes) const {
    constexpr size_t count = sizeof...(passes);
    size_t done[count] = {};  // chunks each pass is through with
    while (done[count - 1] < m_chunks.size()) {
      size_t pass = count - 1;
      while (pass > 0 &&
             (done[pass] == m_chunks.size() || done[pass - 1] <= m_chunks[done[pass]].last_needed))
        --pass;
      const Chunk& chunk = m_chunks[done[pass]++];
      parallel_for(chunk.end - chunk.begin, 1, [&](size_t begin, size_t end) {
        const FlushDenormals flush;
        for (size_t b = chunk.begin + begin; b < chunk.begin + end; ++b) {
          size_t number = 0;
          ((number++ == pass ? static_cast<void>(passes(m_model.blocks[b], b)) : void()), ...);
        }
      });
    }
  }

 private:
  struct Chunk {
    size_t begin = 0, end = 0;  // blocks
    size_t last_needed = 0;     // the last chunk with particles of this one's regions
  };

  const SurfaceModel& m_model;
  std::vector<Chunk> m_chunks;
};

}  // namespace supple
