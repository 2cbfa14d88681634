// A folder held by one process at a time, so that two runs cannot mix their files in it. The lock
// is advisory, lies on the folder itself (no file is left behind) and ends with the process,
// however it ends. File systems without locks are treated as unlocked.
#pragma once

#include <filesystem>
#include <string_view>

namespace supple {

/// Holds a folder until it is destroyed.
class FolderLock {
 public:
  /// Locks an existing folder; throws an output error with `problem` when another process holds it.
  FolderLock(const std::filesystem::path& folder, std::string_view problem);
  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) = delete;

 private:
  int m_descriptor = -1;
};

/// True while this or another process holds a folder; looks without touching the lock.
bool is_locked(const std::filesystem::path& folder);

}  // namespace supple
