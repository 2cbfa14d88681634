// The native cache, NAME.supple/: an index, one static chunk and one checksummed chunk per frame.
// Resume, viewing and every export read from it. The format is documented in docs/cache.md.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "supple/core/chunk.h"
#include "supple/core/folder_lock.h"
#include "supple/io/animated_skin.h"
#include "supple/io/json_field.h"
#include "supple/rig/character.h"
#include "supple/sim/session.h"

namespace supple {

/// What the index and the static chunk of a cache hold.
struct CacheInfo {
  std::string name;
  std::string source;       ///< character file, relative to the cache's folder; empty for none
  uint64_t source_sum = 0;  ///< checksum of that file's bytes
  Json settings;            ///< the scene, all defaults filled in
  FrameRange range;
  TriangleMesh skin;   ///< rest shape in the input file's vertex order
  SplitMap split_map;  ///< where the skin comes from; empty when it is the input file's own
  std::vector<Part> parts;
  std::vector<VertexAttribute> attributes;
  std::vector<Joint> joints;       ///< names and parents of the skeleton
  std::vector<ChunkArray> extras;  ///< constant part of what the body shows: "mesh/", "collider/"
};

/// Everything a cache of this run starts with.
CacheInfo cache_info(const Character& character, const FrameRange& range, Json settings,
                     const std::filesystem::path& cache_folder);

/// One frame read back.
struct CacheFrame {
  int frame = 0;
  double time = 0;
  std::vector<Vec3f> positions;
  std::vector<Affine> joints;
  std::vector<ChunkArray> extras;
};

/// Writes a cache frame by frame; what is there is always whole, whenever the program is killed.
class CacheWriter {
 public:
  /// Starts a new cache, replacing a cache of that name (or what a killed run left of one); throws
  /// an output error when something that is not a cache has that name, or another run writes it.
  static CacheWriter create(const std::filesystem::path& folder, const CacheInfo& info);

  /// Continues an existing cache made by the same scene from the same character; throws an input
  /// error that names the first setting that differs, and an output error when another run writes
  /// it.
  static CacheWriter resume(const std::filesystem::path& folder, const CacheInfo& info);

  /// Adds or replaces one frame.
  void write_frame(const FrameRecord& record) const;

  /// Replaces the checkpoint: the state after `last_frame`.
  void write_checkpoint(const Chunk& state) const;

  /// The checkpoint, when there is one and all frames up to it are whole.
  std::optional<Chunk> usable_checkpoint() const;

  /// The cache's folder.
  const std::filesystem::path& folder() const { return m_folder; }

 private:
  CacheWriter(std::filesystem::path folder, FrameRange range, FolderLock lock)
      : m_folder(std::move(folder)), m_range(range), m_lock(std::move(lock)) {}

  std::filesystem::path m_folder;
  FrameRange m_range;
  FolderLock m_lock;  ///< one run per cache
};

/// Reads a cache, finished or still growing.
class CacheReader {
 public:
  /// Opens a cache; throws an input error when its index is missing or damaged.
  explicit CacheReader(std::filesystem::path folder);

  /// Index and static chunk.
  const CacheInfo& info() const { return m_info; }

  /// Number of whole frames from the first one on; frames are looked at afresh on every call, the
  /// first `known` of them taken to be there.
  int frame_count(int known = 0) const;

  /// Reads a frame; throws an input error when it is missing or damaged.
  CacheFrame read_frame(int frame) const;

  /// The chunk of a frame as it is stored; throws like read_frame().
  Bytes read_frame_bytes(int frame) const;

  /// Names of the per-vertex maps of a frame, without "map/".
  std::vector<std::string> map_names(const CacheFrame& frame) const;

  /// The cache as exports see it; the reader must outlive the result.
  AnimatedSkin animated_skin() const;

  /// The character file, as an absolute path; empty for a solid that has none.
  std::filesystem::path source_path() const;

  /// The cache's folder.
  const std::filesystem::path& folder() const { return m_folder; }

 private:
  CacheFrame parse_frame(ByteView bytes, int frame) const;

  std::filesystem::path m_folder;
  CacheInfo m_info;
};

/// Throws an output error when a new cache cannot have that name because something else has it.
void check_cache_name(const std::filesystem::path& folder);

/// True while a run of this or another program writes that cache.
bool is_being_written(const std::filesystem::path& folder);

/// True when `folder` holds the index of a cache.
bool is_cache(const std::filesystem::path& folder);

/// The constant part of a cache: rest shape, triangles, attributes and constant overlays.
Chunk static_chunk(const CacheInfo& info);

/// The arrays of one frame as the cache stores them.
Chunk frame_chunk(const FrameRecord& record);

/// A frame from its chunk; `vertices` and `joints` are the counts it must have.
CacheFrame frame_from_chunk(const Chunk& chunk, size_t vertices, size_t joints,
                            std::string_view file);

/// The static part of a cache from its two files' bytes.
CacheInfo parse_cache_index(ByteView index, ByteView static_chunk, const std::string& file);

}  // namespace supple
