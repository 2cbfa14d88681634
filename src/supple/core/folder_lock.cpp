#include "supple/core/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <utility>

#include <fmt/format.h>

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

// The kernel lists all locks in /proc/locks, as "1: FLOCK ADVISORY WRITE PID MAJOR:MINOR:INODE
// ...". Trying the lock instead could make a run that starts at this moment believe there is
// another.
bool is_locked(const std::filesystem::path& folder) {
  struct stat facts {};
  if (::stat(folder.c_str(), &facts) != 0) return false;
  const std::string inode =
      fmt::format("{:02x}:{:02x}:{}", major(facts.st_dev), minor(facts.st_dev), facts.st_ino);
  std::ifstream locks("/proc/locks");
  for (std::string number, kind, mode, access, process, place; locks >> number;) {
    locks >> kind;
    if (kind == "->") locks >> kind;  // somebody waiting for a lock
    locks >> mode >> access >> process >> place;
    locks.ignore(256, '\n');
    if (kind == "FLOCK" && place == inode) return true;
  }
  return false;
}

}  // namespace supple
