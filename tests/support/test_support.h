// What the tests share: folders, assets, and damaged input.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <random>
#include <string>

#include "supple/core/bytes.h"
#include "supple/core/error.h"

namespace supple::test {

/// The folder of real characters (SUPPLE_ASSETS, or ../shared/assets beside the source), if
/// present.
std::optional<std::filesystem::path> assets();

/// The source tree.
std::filesystem::path source_folder();

/// How many times longer things may take than in the build that ships: sanitizers are slow.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int slowness = 10;
#else
constexpr int slowness = 1;
#endif

/// How many times more random cases to run: 1 in `make test`, more in `make soak` (SUPPLE_SOAK).
int soak_factor();

/// Where temporary folders lie.
enum class FolderPlace {
  disk,   ///< the system's folder for temporary files
  memory  ///< in memory where the system has such a place, for tests that write thousands of files
};

/// A folder that exists as long as the object does.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(FolderPlace place = FolderPlace::disk);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// The folder.
  const std::filesystem::path& path() const { return m_path; }

  /// A file in the folder.
  std::filesystem::path operator/(const std::string& name) const { return m_path / name; }

 private:
  std::filesystem::path m_path;
};

/// The message of the error of that kind `action` must end with.
std::string problem_of(const std::function<void()>& action, ErrorKind kind = ErrorKind::output);

/// Feeds damaged versions of `good` to `read`: cuts at many places, random byte flips, and runs of
/// random bytes. Each must either be read or end in an input Error of one line that names a file;
/// any other exception, and any crash or hang, fails the test. In a soak `cuts` and `flips` are at
/// least 200 * soak_factor(), fewer of large files; with a cut for every byte every cut is tried.
void expect_damage_is_refused(const Bytes& good, const std::function<void(const Bytes&)>& read,
                              int cuts = 200, int flips = 200, unsigned seed = 1);

}  // namespace supple::test

/// Skips a test, saying so, where the folder of real characters is absent.
#define SUPPLE_NEEDS_ASSETS() \
  if (!supple::test::assets()) GTEST_SKIP() << "the folder of real characters is absent"
