// Reading whole files, and writing them so that a crash leaves the old file or the new, never half.
#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "supple/core/bytes.h"

namespace supple {

/// The whole content of a file; throws an input error when it cannot be read.
Bytes read_file(const std::filesystem::path& path);

/// Replaces `path` by `content` at once: temporary file beside it, fsync, rename, fsync of the
/// folder.
void write_file(const std::filesystem::path& path, ByteView content);

/// Replaces `path` by `content` at once, as above.
void write_file(const std::filesystem::path& path, std::string_view content);

/// A file written piece by piece that appears under its name only on commit(); dropped otherwise.
class AtomicFile {
 public:
  /// Opens the temporary file beside `path`; throws an output error when that is not possible.
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Appends bytes; throws an output error when the disk refuses.
  void write(ByteView bytes);

  /// Appends text.
  void write(std::string_view text) { write(as_bytes(text)); }

  /// Overwrites bytes at an earlier offset and returns to the end (for counts known only later).
  void write_at(size_t offset, ByteView bytes);

  /// Makes the file durable and gives it its name.
  void commit();

 private:
  [[noreturn]] void fail(const char* action) const;

  std::filesystem::path m_path;
  std::filesystem::path m_temporary;
  std::FILE* m_file = nullptr;
};

/// The extension of a path in lower case, with its dot (".glb"); empty when there is none.
std::string lower_extension(const std::filesystem::path& path);

/// Creates a folder and its parents; throws an output error when that is not possible.
void make_folder(const std::filesystem::path& path);

/// True for the temporary files AtomicFile leaves behind when a program is killed.
bool is_temporary_file(const std::filesystem::path& path);

}  // namespace supple
