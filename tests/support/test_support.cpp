#include "support/test_support.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "supple/core/error.h"

namespace supple::test {

std::optional<std::filesystem::path> assets() {
  const char* chosen = std::getenv("SUPPLE_ASSETS");
  const std::filesystem::path folder =
      chosen ? chosen : source_folder() / ".." / "shared" / "assets";
  if (!std::filesystem::is_directory(folder)) return std::nullopt;
  return std::filesystem::canonical(folder);
}

std::filesystem::path source_folder() { return SUPPLE_SOURCE_DIR; }

int soak_factor() {
  const char* factor = std::getenv("SUPPLE_SOAK");
  return factor ? std::max(1, std::atoi(factor)) : 1;
}

TemporaryFolder::TemporaryFolder(FolderPlace place) {
  const bool memory = place == FolderPlace::memory && ::access("/dev/shm", W_OK) == 0;
  const std::filesystem::path parent =
      memory ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path();
  std::string name = (parent / "supple_test_XXXXXX").string();
  if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make a temporary folder");
  m_path = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(m_path, ignored);
}

std::string problem_of(const std::function<void()>& action, ErrorKind kind) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

namespace {

// How many cases to try of a file of `size` bytes. A soak gives every format the same, 200 a round,
// but no more than a gigabyte in all: large files stand beside small ones of the same format.
size_t case_count(int usual, size_t size) {
  const auto count = static_cast<size_t>(usual);
  if (soak_factor() == 1) return count;
  const size_t affordable = 1'000'000'000 / std::max<size_t>(1, size);
  return std::max(count, std::min(size_t{200} * soak_factor(), affordable));
}

void expect_read_or_input_error(const Bytes& bytes, const std::function<void(const Bytes&)>& read,
                                const std::string& what) {
  try {
    read(bytes);
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.kind(), ErrorKind::input) << what << ": " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << what << ": " << message;
    EXPECT_NE(message.find(':'), std::string::npos) << what << ": names no file: " << message;
    EXPECT_LT(message.size(), 400u) << what << ": " << message;
  } catch (const std::exception& other) {
    ADD_FAILURE() << what << ": " << other.what();
  }
}

}  // namespace

void expect_damage_is_refused(const Bytes& good, const std::function<void(const Bytes&)>& read,
                              int cuts, int flips, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(random);
  };
  const size_t cut_count = case_count(cuts, good.size());
  for (size_t i = 0; i < std::min(cut_count, good.size()); ++i) {
    const size_t length = cut_count >= good.size() ? i : below(good.size());
    expect_read_or_input_error(Bytes(good.begin(), good.begin() + static_cast<ptrdiff_t>(length)),
                               read, "cut at " + std::to_string(length));
    if (::testing::Test::HasFatalFailure()) return;
  }
  const size_t flip_count = case_count(flips, good.size());
  for (size_t i = 0; i < flip_count && !good.empty(); ++i) {
    Bytes damaged = good;
    const size_t edits = 1 + below(4);
    const bool run = below(8) == 0;
    std::string what = "flip " + std::to_string(i) + " (seed " + std::to_string(seed) + ")";
    for (size_t e = 0; e < edits; ++e) {
      const size_t at = below(damaged.size());
      const size_t length = run ? std::min<size_t>(1 + below(32), damaged.size() - at) : 1;
      for (size_t k = 0; k < length; ++k) damaged[at + k] = static_cast<std::byte>(below(256));
    }
    expect_read_or_input_error(damaged, read, what);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace supple::test
