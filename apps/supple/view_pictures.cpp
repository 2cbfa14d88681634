#include "view_pictures.h"

#include <tuple>

#include "arguments.h"
#include "supple/core/error.h"
#include "viewer/movie.h"
#include "viewer/picture_words.h"
#include "viewer/pictures.h"

namespace supple::app {
namespace {

viewer::PictureOptions options_of(const PictureRequest& request) {
  viewer::PictureOptions options;
  if (!request.size.empty())
    std::tie(options.width, options.height) = viewer::parse_size(request.size, "--size");
  if (!request.frames.empty()) options.frames = viewer::parse_frame_list(request.frames, "--frame");
  if (!request.camera.empty()) viewer::parse_camera(request.camera, "--camera", options);
  if (!request.range.empty()) options.range = viewer::parse_range(request.range, "--range");
  if (!request.show.empty()) options.show = viewer::parse_layers(request.show, "--show");
  options.turntable = request.turntable;
  options.compare = request.compare;
  options.colour = viewer::colour_name(request.colour);
  options.theme = request.theme;
  options.background = request.background;
  options.with_interface = request.interface;
  return options;
}

// The first option given that only pictures have use for, or empty.
std::string picture_option_given(const PictureRequest& request) {
  if (!request.frames.empty()) return "--frame";
  if (!request.camera.empty()) return "--camera";
  if (!request.size.empty()) return "--size";
  if (!request.compare.empty()) return "--compare";
  if (!request.colour.empty()) return "--colour";
  if (!request.range.empty()) return "--range";
  if (!request.show.empty()) return "--show";
  if (!request.theme.empty()) return "--theme";
  if (!request.background.empty()) return "--background";
  if (request.turntable > 0) return "--turntable";
  return request.interface ? "--interface" : "";
}

viewer::PictureHooks hooks_for(const std::string& file, const PictureCallbacks& callbacks) {
  viewer::PictureHooks hooks;
  if (callbacks.check) hooks.check = [&callbacks, file] { callbacks.check(file); };
  if (callbacks.writing)
    hooks.progress = [&callbacks, file](int done, int total) {
      callbacks.writing(file, done, total);
    };
  return hooks;
}

// What the pictures are of.
void add_view_options(CLI::App& command, PictureRequest& request) {
  command
      .add_option("--frame", request.frames,
                  "Frames to show: N, FIRST-LAST or a list of these; the first one for --shot, all "
                  "for --movie.")
      ->type_name("LIST");
  command
      .add_option("--camera", request.camera,
                  "front, back, left, right, top, quarter, or AZIMUTH,ELEVATION[,ZOOM]: degrees, "
                  "0,0 is in front, zoom 1 just fits.")
      ->type_name("VIEW");
  command
      .add_option("--turntable", request.turntable,
                  "N pictures around the character; with --movie the camera goes round once.")
      ->check(number_between(1, 10000))
      ->type_name("N");
  accept_words(*command.add_option("--compare", request.compare,
                                   "Show the second file beside the first, or over it."),
               {"side", "overlay"});
  command
      .add_option("--colour,--color", request.colour,
                  "surface, part, distance (of two files), or the name of a map the file holds.")
      ->type_name("NAME");
  command.add_option("--range", request.range, "Values at the ends of the colour scale.")
      ->type_name("MIN,MAX");
  command
      .add_option(
          "--show", request.show,
          "What to show, and nothing else: skin, bones, mesh, colliders, ground, wireframe, "
          "with commas between.")
      ->type_name("LIST");
}

// What the pictures look like.
void add_look_options(CLI::App& command, PictureRequest& request) {
  command.add_option("--size", request.size, "Pixels, 16 to 8192 each; 1280x720 by default.")
      ->type_name("WxH");
  accept_words(*command.add_option("--theme", request.theme, "Colours of the page."),
               {"dark", "light"});
  command
      .add_option("--background", request.background,
                  "Colour as CSS has it ('#fff', white), or transparent.")
      ->type_name("COLOUR");
  command.add_flag("--interface", request.interface, "Show the page's panels too.");
}

}  // namespace

void add_picture_options(CLI::App& command, PictureRequest& request) {
  const std::string usual_group = command.option_defaults()->get_group();
  command.option_defaults()->group("Pictures");
  command
      .add_option(
          "--shot", request.shot,
          "Write a picture (.png) instead of opening the page; several get numbers, at %04d "
          "where the name has it. Needs Chromium.")
      ->check(not_empty())
      ->type_name("FILE");
  command
      .add_option("--movie", request.movie,
                  "Write a movie (.mp4, .webm, .gif). Needs Chromium and ffmpeg.")
      ->check(not_empty())
      ->type_name("FILE");
  add_view_options(command, request);
  add_look_options(command, request);
  command.option_defaults()->group(usual_group);
}

bool wants_pictures(const PictureRequest& request) {
  const viewer::PictureOptions options = options_of(request);
  if (request.shot.empty() && request.movie.empty()) {
    const std::string given = picture_option_given(request);
    if (!given.empty())
      throw Error(ErrorKind::usage, given + ": is for pictures; --shot or --movie is missing");
    return false;
  }
  if (!request.shot.empty()) viewer::check_pictures(request.shot, options);
  if (!request.movie.empty())
    viewer::check_movie(request.movie, options.width, options.height,
                        options.background == "transparent");
  viewer::find_browser();
  return true;
}

void make_pictures(const PictureRequest& request, const std::string& url,
                   const PictureCallbacks& callbacks) {
  const std::string& first = request.shot.empty() ? request.movie : request.shot;
  const viewer::PictureHooks hooks = hooks_for(first, callbacks);
  viewer::BrowserOptions browser_options;
  browser_options.patience.check = hooks.check;
  viewer::HeadlessBrowser browser(browser_options);
  viewer::PictureMaker maker(browser, url, options_of(request), hooks);
  if (!request.shot.empty()) {
    const auto files = maker.shoot(request.shot);
    const std::string more = files.size() == 1 ? ""
                                               : fmt::format(" to {} ({} pictures)",
                                                             files.back().string(), files.size());
    if (callbacks.wrote) callbacks.wrote(request.shot, files.front().string() + more);
  }
  if (!request.movie.empty()) {
    maker.set_hooks(hooks_for(request.movie, callbacks));
    const int count = maker.film(request.movie);
    if (callbacks.wrote)
      callbacks.wrote(request.movie, fmt::format("{}: {} pictures", request.movie, count));
  }
}

}  // namespace supple::app
