// Folder locks: held by one at a time, seen without being touched.
#include "supple/core/folder_lock.h"

#include <gtest/gtest.h>

#include "supple/core/error.h"
#include "support/test_support.h"

namespace supple {
using test::TemporaryFolder;
namespace {

TEST(FolderLock, IsSeenWhileItIsHeld) {
  const TemporaryFolder folder;
  EXPECT_FALSE(is_locked(folder.path()));
  {
    const FolderLock lock(folder.path(), "taken");
    EXPECT_TRUE(is_locked(folder.path()));
    EXPECT_TRUE(is_locked(folder.path()));  // looking changes nothing
  }
  EXPECT_FALSE(is_locked(folder.path()));
}

TEST(FolderLock, IsHeldByOneAtATime) {
  const TemporaryFolder folder;
  const FolderLock lock(folder.path(), "taken");
  try {
    const FolderLock second(folder.path(), "taken");
    FAIL() << "two hold the same folder";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::output);
    EXPECT_NE(std::string(error.what()).find("taken"), std::string::npos);
  }
}

TEST(FolderLock, OfAnotherFolderIsNotMistaken) {
  const TemporaryFolder a, b;
  const FolderLock lock(a.path(), "taken");
  EXPECT_FALSE(is_locked(b.path()));
  EXPECT_FALSE(is_locked(b.path() / "missing"));
}

}  // namespace
}  // namespace supple
