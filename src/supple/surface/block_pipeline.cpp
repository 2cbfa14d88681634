#include "supple/surface/block_pipeline.h"

#include <algorithm>

namespace supple {
namespace {

constexpr size_t chunk_particles = 24 * 1024;  // whose records stay in the cache

}  // namespace

BlockPipeline::BlockPipeline(const SurfaceModel& model) : m_model(model) {
  for (size_t b = 0; b < model.blocks.size();) {
    Chunk chunk{b, b, 0};
    const uint32_t first = model.blocks[b].begin;
    for (; b < model.blocks.size() && model.blocks[b].begin - first < chunk_particles; ++b)
      chunk.end = b + 1;
    m_chunks.push_back(chunk);
  }
  // Slots after the last one of every chunk.
  std::vector<uint32_t> ends;
  for (const Chunk& chunk : m_chunks)
    ends.push_back(model.blocks[chunk.end - 1].end + model.blocks[chunk.end - 1].last_path);
  for (Chunk& chunk : m_chunks) {
    const uint32_t begin = model.regions.offsets[model.blocks[chunk.begin].begin],
                   end = model.regions.offsets[model.blocks[chunk.end - 1].end];
    uint32_t last = 0;
    for (uint32_t e = begin; e < end; ++e)
      last = std::max(last, RegionTable::last(model.regions.intervals[e]));
    chunk.last_needed =
        static_cast<size_t>(std::lower_bound(ends.begin(), ends.end(), last) - ends.begin());
  }
}

}  // namespace supple
