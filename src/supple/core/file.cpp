#include "supple/core/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cctype>
#include <cerrno>
#include <memory>
#include <new>
#include <stdexcept>
#include <system_error>

#include "supple/core/error.h"

namespace supple {
namespace {

std::string system_message(int error) { return std::generic_category().message(error); }

// Makes a rename durable: the folder's entry must reach the disk too. Some file systems cannot
// sync folders; that is no reason to fail.
void sync_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

// Where a link leads to, so that the link stays and its target is replaced.
std::filesystem::path behind_link(std::filesystem::path path) {
  std::error_code code;
  if (!std::filesystem::is_symlink(path, code)) return path;
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, code);
  return code ? path : target;
}

std::filesystem::path temporary_name(const std::filesystem::path& path) {
  static std::atomic<unsigned> counter{0};
  std::filesystem::path name = path;
  name += fmt::format(".{}.{}.tmp~", ::getpid(), counter++);
  return name;
}

}  // namespace

Bytes read_file(const std::filesystem::path& path) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code))
    throw_input_error(path.string(), "", "is a folder, not a file");
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file) throw_input_error(path.string(), "", "cannot open: " + system_message(errno));
  Bytes content;
  try {
    const auto expected = std::filesystem::file_size(path, code);
    if (!code) content.reserve(expected + 1);
    std::byte buffer[1 << 16];
    for (size_t count; (count = std::fread(buffer, 1, sizeof buffer, file.get())) > 0;)
      content.insert(content.end(), buffer, buffer + count);
  } catch (const std::bad_alloc&) {
    throw_input_error(path.string(), "", "does not fit in memory");
  } catch (const std::length_error&) {
    throw_input_error(path.string(), "", "does not fit in memory");
  }
  if (std::ferror(file.get()))
    throw_input_error(path.string(), "", "cannot read: " + system_message(errno));
  return content;
}

void write_file(const std::filesystem::path& path, ByteView content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

void write_file(const std::filesystem::path& path, std::string_view content) {
  write_file(path, as_bytes(content));
}

AtomicFile::AtomicFile(std::filesystem::path path)
    : m_path(behind_link(std::move(path))), m_temporary(temporary_name(m_path)) {
  std::error_code code;
  const std::filesystem::file_status there = std::filesystem::status(m_path, code);
  if (std::filesystem::is_directory(there))
    throw_output_error(m_path.string(), "a folder has that name");
  // A rename would put a plain file in the place of a device or a pipe.
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there))
    throw_output_error(m_path.string(), "is not a regular file");
  m_file = std::fopen(m_temporary.c_str(), "wb");
  if (!m_file) fail("open");
}

AtomicFile::~AtomicFile() {
  if (!m_file) return;
  std::fclose(m_file);
  ::unlink(m_temporary.c_str());
}

void AtomicFile::write(ByteView bytes) {
  if (bytes.empty()) return;
  if (std::fwrite(bytes.data(), 1, bytes.size(), m_file) != bytes.size()) fail("write");
}

void AtomicFile::write_at(size_t offset, ByteView bytes) {
  if (std::fseek(m_file, static_cast<long>(offset), SEEK_SET) != 0) fail("seek");
  write(bytes);
  if (std::fseek(m_file, 0, SEEK_END) != 0) fail("seek");
}

void AtomicFile::commit() {
  if (std::fflush(m_file) != 0) fail("flush");
  if (::fsync(::fileno(m_file)) != 0 && errno != EINVAL && errno != ENOTSUP) fail("sync");
  const int closed = std::fclose(m_file);
  m_file = nullptr;
  if (closed != 0) fail("close");
  if (std::rename(m_temporary.c_str(), m_path.c_str()) != 0) fail("rename");
  sync_folder(m_path.parent_path());
}

void AtomicFile::fail(const char* action) const {
  const std::string reason = system_message(errno);
  if (!m_file) ::unlink(m_temporary.c_str());
  throw_output_error(m_path.string(), fmt::format("{} failed: {}", action, reason));
}

std::string lower_extension(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension;
}

void make_folder(const std::filesystem::path& path) {
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (code) throw_output_error(path.string(), code.message());
}

bool is_temporary_file(const std::filesystem::path& path) {
  return path.filename().string().ends_with(".tmp~");
}

}  // namespace supple
