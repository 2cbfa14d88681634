// Pictures and movies of what the viewer shows, made by the viewer's own page in a browser without
// a window. The page must offer window.supple (web/src/api.ts).
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "supple/io/json_field.h"
#include "viewer/chromium.h"

namespace supple::viewer {

/// Where the camera stands, in degrees around the character.
struct CameraAngles {
  double azimuth = 0;    ///< 0 looks at the front, 90 at the character's left side
  double elevation = 0;  ///< above the horizon
  double zoom = 1;       ///< 1: the character just fits
};

/// What a picture shows. What is left empty is as the page has it by itself.
struct PictureOptions {
  int width = 1280;  ///< pixels
  int height = 720;
  std::vector<int> frames;  ///< empty: the first one for a picture, all for a movie
  std::string camera;       ///< a named view: "front", "quarter" ...
  std::optional<CameraAngles> angles;
  int turntable = 0;    ///< number of pictures around the character; 0: the camera stands still
  std::string compare;  ///< "side" or "overlay": the second exhibit beside or over the first
  std::string colour;   ///< "surface", "part", "distance" or "map/NAME"
  /// Of the colour map; empty: what all frames of a series need, so that its colours stay
  /// comparable
  std::optional<std::pair<double, double>> range;
  std::optional<std::vector<std::string>> show;  ///< of picture_layers(); all others are hidden
  std::string theme;                             ///< "dark" or "light"
  std::string background;                        ///< CSS colour, or "transparent"
  bool with_interface = false;                   ///< the whole page, not the character alone
  double rate = 0;  ///< pictures per second of a movie; 0: the exhibit's frame rate
};

/// The names that PictureOptions::show takes.
const std::vector<std::string>& picture_layers();

/// What is called while pictures are made.
struct PictureHooks {
  std::function<void()> check;  ///< some twenty times a second; stops the work by throwing
  std::function<void(int done, int total)> progress;  ///< after each picture
  std::chrono::milliseconds answer_limit{120000};     ///< longest wait for one picture
};

/// Throws when pictures cannot be written to `file`: a usage error when its name does not end in
/// .png or its pattern is wrong, or when the options do not go together.
void check_pictures(const std::filesystem::path& file, const PictureOptions& options);

/// The file of picture `number`: in the place of a pattern such as %04d, else as four digits before
/// the extension (out.0001.png).
std::filesystem::path numbered_file(const std::filesystem::path& file, int number);

/// One page in one browser, ready to make pictures with the same options.
class PictureMaker {
 public:
  /// Opens the page of a running viewer::Server in a browser. Throws an input error when the
  /// exhibit cannot be shown, a usage error when options do not fit it, and an output error when
  /// the browser fails.
  PictureMaker(HeadlessBrowser& browser, const std::string& url, const PictureOptions& options,
               PictureHooks hooks);

  /// Changes what is called from now on.
  void set_hooks(PictureHooks hooks);

  /// Writes a picture, or numbered ones when several frames or a turntable are asked for (numbers
  /// are frames, or positions from 1 on). They appear under their names all at once. Returns their
  /// names.
  std::vector<std::filesystem::path> shoot(const std::filesystem::path& file);

  /// Writes a movie of all frames; with a turntable of N the camera goes round once, and frames
  /// repeat until there are at least N pictures. Frames are left out, evenly, where the format
  /// cannot hold so many per second. Returns the number of pictures.
  int film(const std::filesystem::path& file);

 private:
  struct View {
    int frame = 0;
    std::optional<CameraAngles> camera;  ///< empty: it stays where it is
    int number = 0;                      ///< in the file's name
  };

  void open_page(const std::string& url);
  void configure();
  void check_layers();
  void check_frames() const;
  Json page_options() const;
  CameraAngles start_angles();
  std::vector<int> available_frames() const;
  std::vector<View> still_views();
  std::vector<View> movie_views(int stride);
  double movie_rate();
  void settle_framing(const std::vector<View>& views);
  void settle_range(const std::vector<View>& views);
  Bytes picture(const View& view);
  void report(size_t done, size_t total) const;

  PictureOptions m_options;
  PictureHooks m_hooks;
  HeadlessBrowser& m_browser;
  Json m_exhibits;  ///< of exhibits.json
  int m_first = 0;  ///< frame
  int m_available = 0;
};

}  // namespace supple::viewer
