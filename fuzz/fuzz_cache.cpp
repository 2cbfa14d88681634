// Caches: any index, static chunk and frame chunk are read or refused with a supple::Error. The
// input is two bytes of index length, the index, and a chunk that is taken as static chunk and as
// frame. Sizes and checksums are made to fit, so that the parsers behind them are reached.
#include <algorithm>
#include <cstring>

#include "supple/core/error.h"
#include "supple/io/cache.h"

namespace {

using namespace supple;

Bytes resealed(Bytes chunk) {
  if (chunk.size() < 40) return chunk;
  const auto size = static_cast<uint64_t>(chunk.size());
  std::memcpy(chunk.data() + 16, &size, sizeof size);
  const uint64_t sum = checksum(ByteView(chunk).first(chunk.size() - sizeof size));
  std::memcpy(chunk.data() + chunk.size() - sizeof sum, &sum, sizeof sum);
  return chunk;
}

// The index with the checksum of `chunk` in it; as it is when it is no JSON object.
std::string resealed_index(ByteView index, const Bytes& chunk) {
  try {
    Json json = parse_json(index, "index.json");
    if (json.is_object()) {
      json["static_checksum"] = fmt::format("{:016x}", checksum(chunk));
      return json.dump();
    }
  } catch (const Error&) {
  }
  return std::string(as_text(index));
}

template <class Read>
void read_or_refuse(const Read& read) {
  try {
    read();
  } catch (const Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const ByteView rest(reinterpret_cast<const std::byte*>(data) + 2, size - 2);
  const size_t length = std::min<size_t>(rest.size(), data[0] + 256u * data[1]);
  const ByteView raw = rest.subspan(length);
  const Bytes chunk = resealed(Bytes(raw.begin(), raw.end()));
  const std::string index = resealed_index(rest.first(length), chunk);
  read_or_refuse([&] { parse_cache_index(as_bytes(index), chunk, "index.json"); });
  read_or_refuse([&] {
    const Chunk parsed = Chunk::parse(chunk, "1.chunk");
    const ChunkArray* positions = parsed.find("positions");
    const ChunkArray* joints = parsed.find("joints");
    const CacheFrame frame = frame_from_chunk(parsed, positions ? positions->rows() : 0,
                                              joints ? joints->rows() : 0, "1.chunk");
    for (const ChunkArray& extra : frame.extras) extra.rows();
    if (Chunk::parse(parsed.serialise(), "again").arrays().size() != parsed.arrays().size())
      __builtin_trap();
  });
  return 0;
}
