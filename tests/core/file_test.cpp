// Crash-safe files: the old content or the new, never half, and nothing left lying about.
#include "supple/core/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "supple/core/error.h"
#include "support/test_support.h"

namespace supple {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

std::string content_of(const fs::path& path) { return std::string(as_text(read_file(path))); }

size_t entries(const fs::path& folder) {
  return static_cast<size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

// Runs `action`, which must end in an output error that names `path`.
void expect_output_error(const fs::path& path, const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << path << " was written";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::output) << error.what();
    EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos) << error.what();
  }
}

// No file of this process can grow past `bytes` while this exists: as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : m_handler(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &m_before);
    rlimit limit = m_before;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &m_before);
    std::signal(SIGXFSZ, m_handler);
  }

 private:
  rlimit m_before{};
  void (*m_handler)(int);
};

TEST(File, RoundTripsAnyBytes) {
  const TemporaryFolder folder;
  std::mt19937 random(1);
  for (const size_t size : {0, 1, 4095, 65536, 65537, 300000}) {
    Bytes content(size);
    for (std::byte& b : content) b = static_cast<std::byte>(random());
    write_file(folder / "f.bin", ByteView(content));
    EXPECT_EQ(read_file(folder / "f.bin"), content);
  }
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(File, OldContentStaysUntilCommit) {
  const TemporaryFolder folder;
  write_file(folder / "f", "old");
  {
    AtomicFile file(folder / "f");
    file.write("new, half written");
    EXPECT_EQ(content_of(folder / "f"), "old");
  }
  EXPECT_EQ(content_of(folder / "f"), "old");
  EXPECT_EQ(entries(folder.path()), 1u);
  AtomicFile file(folder / "f");
  file.write("new");
  file.commit();
  EXPECT_EQ(content_of(folder / "f"), "new");
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(File, ExceptionWhileWritingDropsTheNewFile) {
  const TemporaryFolder folder;
  const auto half = [&] {
    AtomicFile file(folder / "f");
    file.write("half");
    throw std::runtime_error("stop");
  };
  EXPECT_THROW(half(), std::runtime_error);
  EXPECT_EQ(entries(folder.path()), 0u);
}

TEST(File, WriteAtReplacesEarlierBytesAndGoesOnAtTheEnd) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "f");
  file.write("count: ????, ");
  file.write("values");
  file.write_at(7, as_bytes("1234"));
  file.write(" end");
  file.commit();
  EXPECT_EQ(content_of(folder / "f"), "count: 1234, values end");
}

TEST(File, TwoWritersOfOneFileDoNotMix) {
  const TemporaryFolder folder;
  AtomicFile a(folder / "f"), b(folder / "f");
  a.write("first");
  b.write("second");
  b.commit();
  EXPECT_EQ(content_of(folder / "f"), "second");
  a.commit();
  EXPECT_EQ(content_of(folder / "f"), "first");
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(File, PlacesThatCannotBeWrittenAreNamed) {
  const TemporaryFolder folder;
  write_file(folder / "file", "x");
  fs::create_directory(folder / "taken");
  for (const char* name : {"missing/f", "file/f", "taken"})
    expect_output_error(folder / name, [&] { write_file(folder / name, "content"); });
  const fs::path unnameable = folder / std::string(300, 'n');
  expect_output_error(unnameable, [&] { write_file(unnameable, "content"); });
  EXPECT_EQ(entries(folder.path()), 2u);
  EXPECT_EQ(entries(folder / "taken"), 0u);
}

// While it exists, root (for whom every folder is writable) is an ordinary user.
struct OrdinaryUser {
  static constexpr unsigned nobody = 65534;
  const bool was_root = ::geteuid() == 0 && ::seteuid(nobody) == 0;
  ~OrdinaryUser() {
    if (was_root && ::seteuid(0) != 0) std::abort();
  }
};

TEST(File, UnwritableFolderIsNamed) {
  const TemporaryFolder folder;
  write_file(folder / "f", "old");
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(folder.path().c_str(), OrdinaryUser::nobody, OrdinaryUser::nobody), 0);
  }
  const OrdinaryUser user;
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  expect_output_error(folder / "f", [&] { write_file(folder / "f", "new"); });
  EXPECT_EQ(content_of(folder / "f"), "old");
  fs::permissions(folder.path(), fs::perms::owner_all);
}

TEST(File, FullDiskKeepsTheOldFile) {
  const TemporaryFolder folder;
  write_file(folder / "f", "old");
  for (const size_t size : {1025, 5000, 1000000}) {  // fails in flush, in write, in the first block
    const std::string content(size, 'n');
    expect_output_error(folder / "f", [&] {
      const FullDisk disk(1024);
      write_file(folder / "f", content);
    });
    EXPECT_EQ(content_of(folder / "f"), "old");
    EXPECT_EQ(entries(folder.path()), 1u);
  }
}

TEST(File, DevicesAndPipesAreNotReplaced) {
  const TemporaryFolder folder;
  const fs::path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_output_error(pipe, [&] { write_file(pipe, "content"); });
  EXPECT_TRUE(fs::is_fifo(pipe));
  if (fs::is_character_file("/dev/full")) {
    expect_output_error("/dev/full", [&] { write_file("/dev/full", "content"); });
    EXPECT_TRUE(fs::is_character_file("/dev/full"));
  }
}

TEST(File, LinksAreFollowed) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "elsewhere");
  write_file(folder / "elsewhere/f", "old");
  fs::create_symlink("elsewhere/f", folder / "link");
  write_file(folder / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(content_of(folder / "elsewhere/f"), "new");
}

TEST(File, ReadingNamesTheFile) {
  const TemporaryFolder folder;
  for (const char* name : {"missing", "."}) {
    try {
      read_file(folder / name);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      EXPECT_TRUE(std::string(error.what()).starts_with((folder / name).string())) << error.what();
    }
  }
}

TEST(File, FilesThatDoNotFitInMemoryAreRefused) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers end the program on a failed allocation";
#endif
  const TemporaryFolder folder;
  std::ofstream(folder / "huge").put('x');
  if (::truncate((folder / "huge").c_str(), off_t{8} << 40) != 0)
    GTEST_SKIP() << "the file system has no files of 8 TiB";
  EXPECT_THROW(read_file(folder / "huge"), Error);
}

TEST(File, MakesFoldersAndSaysWhyNot) {
  const TemporaryFolder folder;
  make_folder(folder / "a/b/c");
  make_folder(folder / "a/b/c");
  EXPECT_TRUE(fs::is_directory(folder / "a/b/c"));
  write_file(folder / "file", "x");
  expect_output_error(folder / "file", [&] { make_folder(folder / "file"); });
  expect_output_error(folder / "file/sub", [&] { make_folder(folder / "file/sub"); });
}

TEST(File, KnowsItsOwnTemporaries) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "f");
  for (const auto& entry : fs::directory_iterator(folder.path()))
    EXPECT_TRUE(is_temporary_file(entry.path())) << entry.path();
  EXPECT_FALSE(is_temporary_file("frame.chunk"));
  EXPECT_FALSE(is_temporary_file("notes.tmp~.txt"));
}

}  // namespace
}  // namespace supple
