// A nameless temporary file for text that is made in one order and needed in another. It vanishes
// with the object, even when the program is killed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

namespace supple {

class AtomicFile;

/// Text kept on disk until it is copied piece by piece into the final file.
class SpoolFile {
 public:
  /// Opens the spool on the same disk as `beside`, the file it is for; throws an output error when
  /// that is not possible.
  explicit SpoolFile(const std::filesystem::path& beside);
  ~SpoolFile();
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  /// Appends text.
  void write(std::string_view text);

  /// Number of bytes written.
  uint64_t size() const { return m_size; }

  /// Copies the bytes [begin, end) to the end of `file`.
  void copy(uint64_t begin, uint64_t end, AtomicFile& file);

 private:
  [[noreturn]] void fail(const char* action) const;

  std::string m_for;
  std::FILE* m_file = nullptr;
  uint64_t m_size = 0;
};

}  // namespace supple
