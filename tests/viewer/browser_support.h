// What the tests of browser and pictures share: pages as addresses, pixels of pictures, messages.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "supple/core/bytes.h"
#include "supple/core/error.h"
#include "supple/core/file.h"
#include "supple/core/subprocess.h"
#include "support/test_support.h"
#include "viewer/chromium.h"

namespace supple::test {

/// A variable of the environment with another value as long as the object exists.
class EnvironmentVariable {
 public:
  EnvironmentVariable(const char* name, const std::string& value) : m_name(name) {
    if (const char* before = std::getenv(name)) m_before = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~EnvironmentVariable() { m_before ? ::setenv(m_name, m_before->c_str(), 1) : ::unsetenv(m_name); }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
  const char* m_name;
  std::optional<std::string> m_before;
};

/// An address that holds a whole page.
inline std::string data_url(const std::string& html) {
  std::string url = "data:text/html;charset=utf-8,";
  for (const char c : html) url += fmt::format("%{:02x}", static_cast<unsigned char>(c));
  return url;
}

/// Width and height from a PNG file's header; (0, 0) when it is not one.
inline std::pair<int, int> png_size(const Bytes& png) {
  constexpr std::string_view start("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
  if (png.size() < 24 || as_text(ByteView(png).first(16)) != start) return {0, 0};
  return {static_cast<int>(byte_swapped(load_at<uint32_t>(png, 16))),
          static_cast<int>(byte_swapped(load_at<uint32_t>(png, 20)))};
}

/// The pixels of a picture as RGBA bytes, decoded by ffmpeg; nothing where that is not installed.
inline std::optional<Bytes> pixels_of(const std::filesystem::path& picture) {
  const auto ffmpeg = find_program("ffmpeg");
  if (!ffmpeg) return std::nullopt;
  return run_program({*ffmpeg, "-v", "error", "-i", picture.string(), "-f", "rawvideo", "-pix_fmt",
                      "rgba", "-"},
                     Patience{})
      .output;
}

inline std::optional<Bytes> pixels_of(const Bytes& png) {
  const TemporaryFolder folder;
  write_file(folder / "picture.png", png);
  return pixels_of(folder / "picture.png");
}

/// True where pictures can be made.
inline bool has_browser() {
  try {
    viewer::find_browser();
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace supple::test

/// Skips a test, saying so, where Chromium is not installed.
#define SUPPLE_NEEDS_BROWSER() \
  if (!supple::test::has_browser()) GTEST_SKIP() << "Chromium is not installed"
