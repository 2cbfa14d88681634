// A sequence of files that appears all at once: frames are written to a temporary folder inside the
// target and moved to their names only when the last one is complete. Files of the target that the
// sequence does not replace stay as they are.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace supple {

/// Collects finished files for a folder; what is not committed is removed.
class StagingFolder {
 public:
  /// Makes `target` where it is missing, and the temporary folder inside it; throws an output error
  /// when that is not possible.
  explicit StagingFolder(std::filesystem::path target);
  ~StagingFolder();
  StagingFolder(const StagingFolder&) = delete;
  StagingFolder& operator=(const StagingFolder&) = delete;

  /// Where to write the file that will be called `name`.
  std::filesystem::path add(const std::string& name);

  /// Moves all files to their names in the target, in the order they were added.
  void commit();

 private:
  std::filesystem::path m_target;
  std::filesystem::path m_staging;
  std::filesystem::path m_first_created;  ///< outermost folder made for the target, if any
  std::vector<std::string> m_names;
};

}  // namespace supple
