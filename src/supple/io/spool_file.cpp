#include "supple/io/spool_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>

#include "supple/core/error.h"
#include "supple/core/file.h"

namespace supple {

SpoolFile::SpoolFile(const std::filesystem::path& beside) : m_for(beside.string()) {
  static std::atomic<unsigned> counter{0};
  std::filesystem::path name = beside;
  name += fmt::format(".spool.{}.{}.tmp~", ::getpid(), counter++);
  m_file = std::fopen(name.c_str(), "wb+");
  if (!m_file) fail("open");
  // Without a name the file is freed as soon as it is closed, however that happens.
  ::unlink(name.c_str());
}

SpoolFile::~SpoolFile() { std::fclose(m_file); }

void SpoolFile::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), m_file) != text.size()) fail("write");
  m_size += text.size();
}

void SpoolFile::copy(uint64_t begin, uint64_t end, AtomicFile& file) {
  if (::fseeko(m_file, static_cast<off_t>(begin), SEEK_SET) != 0) fail("seek");
  std::array<char, 1 << 16> buffer;
  for (uint64_t at = begin; at < end;) {
    const size_t wanted = static_cast<size_t>(std::min<uint64_t>(buffer.size(), end - at));
    if (std::fread(buffer.data(), 1, wanted, m_file) != wanted) fail("read back");
    file.write(std::string_view(buffer.data(), wanted));
    at += wanted;
  }
}

void SpoolFile::fail(const char* action) const {
  const int error = errno;
  throw_output_error(m_for, fmt::format("{} of the temporary file failed: {}", action,
                                        std::generic_category().message(error)));
}

}  // namespace supple
