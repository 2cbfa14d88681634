// The options of supple view that make pictures and movies instead of opening a browser.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>

namespace supple::app {

/// Pictures as asked for on the command line.
struct PictureRequest {
  std::string shot;   ///< file, or empty
  std::string movie;  ///< file, or empty
  std::string frames, camera, size, compare, colour, range, show, theme, background;
  int turntable = 0;
  bool interface = false;
};

/// What is told while pictures are made; each may be empty.
struct PictureCallbacks {
  std::function<void(const std::string& file)> check;  ///< stops the work by throwing
  std::function<void(const std::string& file, int done, int total)> writing;
  std::function<void(const std::string& file, const std::string& line)> wrote;
};

/// Adds --shot, --movie and what belongs to them to a command.
void add_picture_options(CLI::App& command, PictureRequest& request);

/// True when a picture or a movie is asked for; throws a usage error when the request makes no
/// sense (before anything is loaded), and an output error when ffmpeg or a browser is missing.
bool wants_pictures(const PictureRequest& request);

/// Makes the pictures and the movie of what the viewer's server shows at `url`; throws
/// supple::Error when that fails, and then leaves no half-written files.
void make_pictures(const PictureRequest& request, const std::string& url,
                   const PictureCallbacks& callbacks);

}  // namespace supple::app
