#include "supple/core/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>
#include <system_error>

#include "supple/core/error.h"

namespace supple {

InputFile::InputFile(const std::filesystem::path& path) : m_name(path.string()) {
  // Opening a pipe would wait for its writer.
  m_descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  const auto refuse = [&](const std::string& problem) {
    if (m_descriptor >= 0) ::close(m_descriptor);
    throw_input_error(m_name, "", problem);
  };
  struct stat status {};
  if (m_descriptor < 0 || ::fstat(m_descriptor, &status) != 0)
    refuse("cannot open: " + std::generic_category().message(errno));
  if (S_ISDIR(status.st_mode)) refuse("is a folder, not a file");
  if (!S_ISREG(status.st_mode)) refuse("is not a regular file");
  m_size = static_cast<uint64_t>(status.st_size);
}

InputFile::InputFile(Bytes content, std::string name)
    : m_name(std::move(name)), m_content(std::move(content)), m_size(m_content.size()) {}

InputFile::~InputFile() {
  if (m_descriptor >= 0) ::close(m_descriptor);
}

void InputFile::fail_cut(uint64_t offset, uint64_t count, uint64_t size) const {
  throw_input_error(m_name, fmt::format("byte {}", offset),
                    fmt::format("the file is cut off: it has {} bytes where {} were to follow",
                                size > offset ? size - offset : 0, count));
}

void InputFile::read(uint64_t offset, std::span<std::byte> out) const {
  if (out.empty()) return;
  if (offset > m_size || out.size() > m_size - offset) fail_cut(offset, out.size(), m_size);
  if (m_descriptor < 0) {
    std::memcpy(out.data(), m_content.data() + offset, out.size());
    return;
  }
  for (size_t done = 0; done < out.size();) {
    const ssize_t count = ::pread(m_descriptor, out.data() + done, out.size() - done,
                                  static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      throw_input_error(m_name, fmt::format("byte {}", offset + done),
                        "cannot read: " + std::generic_category().message(errno));
    if (count == 0) fail_cut(offset, out.size(), offset + done);
    done += static_cast<size_t>(count);
  }
}

Bytes InputFile::read(uint64_t offset, uint64_t count) const {
  if (offset > m_size || count > m_size - offset) fail_cut(offset, count, m_size);
  Bytes bytes;
  try {
    bytes.resize(count);
  } catch (const std::bad_alloc&) {
    throw_input_error(m_name, fmt::format("byte {}", offset), "does not fit in memory");
  } catch (const std::length_error&) {
    throw_input_error(m_name, fmt::format("byte {}", offset), "does not fit in memory");
  }
  read(offset, std::span(bytes));
  return bytes;
}

}  // namespace supple
