// Movies from pictures, through ffmpeg as a separate program.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "supple/core/bytes.h"
#include "supple/core/subprocess.h"
#include "supple/io/staging_folder.h"

namespace supple::viewer {

/// How a movie is made.
struct MovieOptions {
  double rate = 24;          ///< pictures per second
  bool transparent = false;  ///< pictures have an alpha channel that matters
  Patience patience{std::chrono::seconds(600), {}};
};

/// Throws a usage error when `file` is not named .mp4, .webm or .gif or its format cannot hold such
/// pictures, and an output error that says what to install when ffmpeg is missing.
void check_movie(const std::filesystem::path& file, int width, int height, bool transparent);

/// The most pictures per second a movie of that name can have: players show a .gif of more than 50
/// slowly.
double highest_rate(const std::filesystem::path& file);

/// A movie on its way: H.264 in .mp4, VP9 in .webm, a palette of 256 colours in .gif. It appears
/// under its name when finish() returns; until then a file of that name stays as it is.
class MovieWriter {
 public:
  /// Starts ffmpeg; throws as check_movie() does, and an output error when the folder cannot be
  /// written.
  MovieWriter(const std::filesystem::path& file, const MovieOptions& options);

  /// Appends a picture (a PNG file's content); all have the same size.
  void add(ByteView png);

  /// Completes the movie and gives it its name.
  void finish();

 private:
  std::vector<std::string> first_command() const;
  void add_colours(const std::filesystem::path& palette);
  void end_encoder();
  [[noreturn]] void fail();

  std::filesystem::path m_file;
  MovieOptions m_options;
  std::string m_format;  ///< extension with its dot
  std::string m_ffmpeg;
  StagingFolder m_staging;
  std::filesystem::path m_movie;  ///< in the staging folder
  std::optional<Subprocess> m_encoder;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> m_pictures;  ///< kept for the second pass of .gif
};

}  // namespace supple::viewer
