#include "supple/io/staging_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include "supple/core/error.h"
#include "supple/core/file.h"

namespace supple {
namespace {

// The outermost folder on the way to `target` that does not exist yet; empty when all do.
std::filesystem::path first_missing(const std::filesystem::path& target) {
  std::error_code code;
  std::filesystem::path missing;
  for (std::filesystem::path p = target; !p.empty() && !std::filesystem::exists(p, code);
       p = p.parent_path())
    missing = p;
  return missing;
}

// Removes `target` and its parents up to `outermost` as long as they are empty.
void remove_empty_folders(std::filesystem::path target, const std::filesystem::path& outermost) {
  while (::rmdir(target.c_str()) == 0 && target != outermost) target = target.parent_path();
}

void sync_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

StagingFolder::StagingFolder(std::filesystem::path target)
    : m_target(target.empty() ? std::filesystem::path(".") : std::move(target)),
      m_first_created(first_missing(m_target)) {
  static std::atomic<unsigned> counter{0};
  make_folder(m_target);
  m_staging = m_target / fmt::format(".frames.{}.{}.tmp~", ::getpid(), counter++);
  std::error_code code;
  if (!std::filesystem::create_directory(m_staging, code)) {
    if (!m_first_created.empty()) remove_empty_folders(m_target, m_first_created);
    throw_output_error(m_target.string(), code ? code.message() : "the temporary folder exists");
  }
}

StagingFolder::~StagingFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(m_staging, ignored);
  if (!m_first_created.empty()) remove_empty_folders(m_target, m_first_created);
}

std::filesystem::path StagingFolder::add(const std::string& name) {
  m_names.push_back(name);
  return m_staging / name;
}

void StagingFolder::commit() {
  for (const std::string& name : m_names) {
    const std::filesystem::path final_name = m_target / name;
    std::error_code code;
    std::filesystem::rename(m_staging / name, final_name, code);
    if (code) throw_output_error(final_name.string(), code.message());
  }
  m_names.clear();
  sync_folder(m_target);
}

}  // namespace supple
