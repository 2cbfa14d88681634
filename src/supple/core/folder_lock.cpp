#include "supple/core/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "supple/core/error.h"

namespace supple {

FolderLock::FolderLock(const std::filesystem::path& folder, std::string_view problem)
    : m_descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (m_descriptor < 0) return;
  int result = 0;
  do result = ::flock(m_descriptor, LOCK_EX | LOCK_NB);
  while (result != 0 && errno == EINTR);
  if (result == 0 || errno != EWOULDBLOCK) return;
  ::close(m_descriptor);
  throw_output_error(folder.string(), problem);
}

FolderLock::~FolderLock() {
  if (m_descriptor >= 0) ::close(m_descriptor);
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : m_descriptor(std::exchange(other.m_descriptor, -1)) {}

}  // namespace supple
