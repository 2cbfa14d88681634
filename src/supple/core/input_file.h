// A file read piece by piece at any place, for files too large to hold in memory. Only regular
// files are opened: a pipe or a device could keep a reader waiting for ever.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "supple/core/bytes.h"

namespace supple {

/// A file open for reading; several threads may read at once.
class InputFile {
 public:
  /// Opens a file; throws an input error when it is missing, unreadable or no regular file.
  explicit InputFile(const std::filesystem::path& path);

  /// Bytes in memory that are read as if they were the file `name`.
  InputFile(Bytes content, std::string name);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// The name errors give.
  const std::string& name() const { return m_name; }

  /// Size in bytes when it was opened.
  uint64_t size() const { return m_size; }

  /// Fills `out` with the bytes from `offset` on; throws an input error when the file ends before.
  void read(uint64_t offset, std::span<std::byte> out) const;

  /// `count` bytes from `offset` on; throws an input error, before memory is taken, when the file
  /// was opened with fewer, and when it has been cut since.
  Bytes read(uint64_t offset, uint64_t count) const;

 private:
  [[noreturn]] void fail_cut(uint64_t offset, uint64_t count, uint64_t size) const;

  std::string m_name;
  int m_descriptor = -1;
  Bytes m_content;  ///< where there is no descriptor
  uint64_t m_size = 0;
};

}  // namespace supple
