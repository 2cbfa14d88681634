#include "viewer/pictures.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "supple/io/gltf_document.h"
#include "supple/io/staging_folder.h"
#include "viewer/movie.h"

namespace supple::viewer {
namespace {

// Without the interface the window is only a place for the page to be; drawing it in software takes
// time, so it is small, in the picture's proportions.
std::pair<int, int> window_size(const PictureOptions& options) {
  constexpr double small = 128;
  const double scale =
      options.with_interface ? 1.0 : std::min(1.0, small / std::max(options.width, options.height));
  return {std::max(1, static_cast<int>(std::lround(options.width * scale))),
          std::max(1, static_cast<int>(std::lround(options.height * scale)))};
}

[[noreturn]] void refuse(std::string_view what, std::string_view problem) {
  throw Error(ErrorKind::usage, fmt::format("{}: {}", what, problem));
}

struct Pattern {
  std::string before, after;
  int digits = 4;
};

// A file name split at its %d or %04d; nothing when it has none. `%%` stands for a percent sign.
std::optional<Pattern> pattern_of(const std::string& name) {
  Pattern pattern;
  bool found = false;
  for (size_t i = 0; i < name.size(); ++i) {
    std::string& part = found ? pattern.after : pattern.before;
    if (name[i] != '%') {
      part += name[i];
      continue;
    }
    if (i + 1 < name.size() && name[i + 1] == '%') {
      part += name[++i];
      continue;
    }
    size_t end = i + 1;
    if (end < name.size() && name[end] == '0') ++end;
    const size_t width = end;
    while (end < name.size() && name[end] >= '0' && name[end] <= '9') ++end;
    const bool good = !found && end < name.size() && name[end] == 'd' && end - width <= 1;
    if (!good) refuse(printable(name), "the number goes where one %d or %04d stands");
    pattern.digits = end > width ? name[width] - '0' : 1;
    found = true;
    i = end;
  }
  if (!found) return std::nullopt;
  return pattern;
}

// A picture's bytes from "data:image/png;base64,...", which must have the right size.
Bytes decode_picture(const Json& answer, int width, int height) {
  constexpr std::string_view start = "data:image/png;base64,";
  constexpr std::string_view header("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
  const auto bad = [](std::string_view problem) {
    throw Error(ErrorKind::output, fmt::format("the page's picture {}", problem));
  };
  if (!answer.is_string() || !answer.get_ref<const std::string&>().starts_with(start))
    bad("is not a PNG");
  const std::string_view text = answer.get_ref<const std::string&>();
  Bytes png = decode_base64(text.substr(start.size()), JsonField(answer, "the page's picture"));
  if (png.size() < 24 || as_text(ByteView(png).first(header.size())) != header) bad("is not a PNG");
  const auto there =
      std::pair(byte_swapped(load_at<uint32_t>(png, 16)), byte_swapped(load_at<uint32_t>(png, 20)));
  if (there != std::pair(static_cast<uint32_t>(width), static_cast<uint32_t>(height)))
    bad(fmt::format("has {}x{} pixels instead of {}x{}", there.first, there.second, width, height));
  return png;
}

Json camera_json(const CameraAngles& angles) {
  return {{"azimuth", angles.azimuth}, {"elevation", angles.elevation}, {"zoom", angles.zoom}};
}

// Step `i` of `count` around the character.
CameraAngles turned(CameraAngles start, int i, int count) {
  start.azimuth += 360.0 * i / count;
  return start;
}

}  // namespace

const std::vector<std::string>& picture_layers() {
  static const std::vector<std::string> layers = {"skin",      "bones",  "mesh",
                                                  "colliders", "ground", "wireframe"};
  return layers;
}

std::filesystem::path numbered_file(const std::filesystem::path& file, int number) {
  const std::string name = file.filename().string();
  std::optional<Pattern> pattern = pattern_of(name);
  if (!pattern) pattern = Pattern{file.stem().string() + ".", file.extension().string(), 4};
  const std::string digits = number < 0 ? fmt::format("-{:0{}}", -int64_t{number}, pattern->digits)
                                        : fmt::format("{:0{}}", number, pattern->digits);
  return file.parent_path() / (pattern->before + digits + pattern->after);
}

void check_pictures(const std::filesystem::path& file, const PictureOptions& options) {
  const std::string name = printable(file.string());
  if (lower_extension(file) != ".png") refuse(name, "a picture's name ends in .png");
  if (options.turntable > 0 && options.frames.size() > 1)
    refuse(name, "pictures around the character are of one frame");
  const bool several = options.turntable > 0 || options.frames.size() > 1;
  const bool numbered = pattern_of(file.filename().string()).has_value() || several;
  std::error_code code;
  if (!numbered && std::filesystem::is_directory(file, code))
    throw_output_error(file.string(), "a folder has that name");
}

PictureMaker::PictureMaker(HeadlessBrowser& browser, const std::string& url,
                           const PictureOptions& options, PictureHooks hooks)
    : m_options(options), m_browser(browser) {
  set_hooks(std::move(hooks));
  const auto [width, height] = window_size(m_options);
  m_browser.resize(width, height);
  open_page(url);
  configure();
  check_layers();
  check_frames();
}

void PictureMaker::set_hooks(PictureHooks hooks) {
  m_hooks = std::move(hooks);
  m_browser.set_patience({m_hooks.answer_limit, m_hooks.check});
}

// Loads the page and reads what there is to see.
void PictureMaker::open_page(const std::string& url) {
  m_browser.open(url);
  if (m_browser.evaluate("typeof window.supple") != "object") {
    const auto& complaints = m_browser.complaints();
    throw Error(ErrorKind::output,
                fmt::format("the viewer's page did not start{}",
                            complaints.empty() ? "" : "; it says: " + complaints.front()));
  }
  const Json state = m_browser.evaluate("supple.ready.then(() => supple.state())");
  const JsonField field(state, "the viewer's page");
  if (const auto error = field.find("error"); error && !error->value().is_null())
    throw Error(ErrorKind::input, one_line(error->text()));
  m_first = static_cast<int>(field["first"].integer(INT32_MIN, INT32_MAX));
  m_available = static_cast<int>(field["available"].integer(0, INT32_MAX));
  if (m_available == 0) throw Error(ErrorKind::input, "there are no frames to show yet");
  const Json listing = m_browser.evaluate("fetch('exhibits.json').then(answer => answer.json())");
  m_exhibits = JsonField(listing, "exhibits.json")["exhibits"].value();
}

// The page's ViewOptions for what was asked.
Json PictureMaker::page_options() const {
  Json options = {{"interface", m_options.with_interface}, {"loop", false}};
  if (!m_options.compare.empty()) options["compare"] = m_options.compare;
  if (!m_options.compare.empty() || m_options.colour == "distance") options["other"] = 1;
  if (!m_options.colour.empty()) options["colour"] = m_options.colour;
  if (m_options.range) options["range"] = {m_options.range->first, m_options.range->second};
  if (m_options.show)
    for (const std::string& layer : picture_layers())
      options[layer] =
          std::find(m_options.show->begin(), m_options.show->end(), layer) != m_options.show->end();
  if (!m_options.theme.empty()) options["theme"] = m_options.theme;
  if (!m_options.background.empty()) options["background"] = m_options.background;
  if (m_options.angles)
    options["camera"] = camera_json(*m_options.angles);
  else if (!m_options.camera.empty())
    options["camera"] = m_options.camera;
  return options;
}

void PictureMaker::configure() {
  const Json options = page_options();
  if (options.contains("other") && m_exhibits.size() < 2)
    throw Error(ErrorKind::usage, "comparing needs two files to look at");
  m_browser.evaluate(fmt::format("supple.configure({})", options.dump()), ErrorKind::usage);
}

// What was asked to be shown must be there to be seen.
void PictureMaker::check_layers() {
  if (!m_options.show) return;
  const Json overlays = m_browser.evaluate("supple.state().overlays");
  for (const std::string& layer : *m_options.show)
    if (overlays.is_object() && overlays.contains(layer) && overlays[layer] == false)
      throw Error(ErrorKind::usage, fmt::format("there is no {} to show", layer));
}

void PictureMaker::check_frames() const {
  const int64_t last = int64_t{m_first} + m_available - 1;
  for (const int frame : m_options.frames)
    if (frame < m_first || frame > last)
      throw Error(ErrorKind::usage,
                  fmt::format("there is no frame {} (frames {} to {})", frame, m_first, last));
}

// Where the camera stands now.
CameraAngles PictureMaker::start_angles() {
  if (m_options.angles) return *m_options.angles;
  const Json camera = m_browser.evaluate("supple.state().options.camera");
  const JsonField field(camera, "the page's camera");
  return {field["azimuth"].number(), field["elevation"].number(), field["zoom"].number()};
}

std::vector<int> PictureMaker::available_frames() const {
  if (!m_options.frames.empty()) return m_options.frames;
  std::vector<int> frames(static_cast<size_t>(m_available));
  std::iota(frames.begin(), frames.end(), m_first);
  return frames;
}

std::vector<PictureMaker::View> PictureMaker::still_views() {
  std::vector<View> views;
  if (m_options.turntable == 0) {
    for (const int frame : m_options.frames) views.push_back({frame, {}, frame});
    if (views.empty()) views.push_back({m_first, {}, m_first});
    return views;
  }
  const CameraAngles start = start_angles();
  const int frame = m_options.frames.empty() ? m_first : m_options.frames.front();
  for (int i = 0; i < m_options.turntable; ++i)
    views.push_back({frame, turned(start, i, m_options.turntable), i + 1});
  return views;
}

std::vector<PictureMaker::View> PictureMaker::movie_views(int stride) {
  const std::vector<int> all = available_frames();
  std::vector<int> frames;
  for (size_t i = 0; i < all.size(); i += static_cast<size_t>(stride)) frames.push_back(all[i]);
  const int frame_count = static_cast<int>(frames.size());
  const int count = std::max(frame_count, m_options.turntable);
  const CameraAngles start = m_options.turntable > 0 ? start_angles() : CameraAngles{};
  std::vector<View> views;
  for (int i = 0; i < count; ++i) {
    views.push_back({frames[static_cast<size_t>(i % frame_count)], {}, i + 1});
    if (m_options.turntable > 0) views.back().camera = turned(start, i, count);
  }
  return views;
}

double PictureMaker::movie_rate() {
  if (m_options.rate > 0) return m_options.rate;
  const JsonField exhibits(m_exhibits, "exhibits.json");
  return exhibits[size_t{0}]["frames"]["rate"].number(1e-3, 1e4);
}

// The page frames what it shows first. Pictures frame what they show: all their frames together, or
// some of them where there are many.
void PictureMaker::settle_framing(const std::vector<View>& views) {
  constexpr size_t most = 32;
  std::set<int> frames;
  const size_t stride = (views.size() + most - 1) / most;
  for (size_t i = 0; i < views.size(); i += stride) frames.insert(views[i].frame);
  m_browser.evaluate(fmt::format("supple.fit({})", Json(frames).dump()), ErrorKind::input);
}

// By itself the page fits the colour scale to each frame. A series gets one scale for all: the
// union of what its frames have.
void PictureMaker::settle_range(const std::vector<View>& views) {
  if (m_options.range || m_options.colour.empty() || views.size() < 2) return;
  std::set<int> frames;
  for (const View& view : views) frames.insert(view.frame);
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const int frame : frames) {
    const Json ends = m_browser.evaluate(
        fmt::format("supple.seek({}).then(() => {{ const shown = supple.values(); "
                    "return shown && [shown.min, shown.max]; }})",
                    frame),
        ErrorKind::input);
    if (ends.is_null()) return;  // a colouring without a scale
    const std::vector<double> numbers = JsonField(ends, "the page's colour scale").numbers(2);
    low = std::min(low, numbers[0]);
    high = std::max(high, numbers[1]);
  }
  if (!(low < high)) return;
  m_options.range = {low, high};
  const Json change = {{"range", {low, high}}};
  m_browser.evaluate(fmt::format("supple.configure({})", change.dump()), ErrorKind::usage);
}

// One picture: the camera turned, the frame on screen, then its pixels.
Bytes PictureMaker::picture(const View& view) {
  std::string script = "(async () => { ";
  if (view.camera)
    script +=
        fmt::format("await supple.configure({{camera: {}}}); ", camera_json(*view.camera).dump());
  script += fmt::format("await supple.seek({}); ", view.frame);
  if (!m_options.with_interface)
    script += fmt::format("return supple.picture({}, {}); ", m_options.width, m_options.height);
  const Json answer = m_browser.evaluate(script + "})()", ErrorKind::input);
  return m_options.with_interface ? m_browser.screenshot()
                                  : decode_picture(answer, m_options.width, m_options.height);
}

void PictureMaker::report(size_t done, size_t total) const {
  if (m_hooks.check) m_hooks.check();
  if (m_hooks.progress) m_hooks.progress(static_cast<int>(done), static_cast<int>(total));
}

std::vector<std::filesystem::path> PictureMaker::shoot(const std::filesystem::path& file) {
  check_pictures(file, m_options);
  const std::vector<View> views = still_views();
  const bool numbered = m_options.turntable > 0 || views.size() > 1 ||
                        pattern_of(file.filename().string()).has_value();
  StagingFolder staging(file.parent_path());
  settle_framing(views);
  settle_range(views);
  std::vector<std::filesystem::path> files;
  for (const View& view : views) {
    files.push_back(numbered ? numbered_file(file, view.number) : file);
    write_file(staging.add(files.back().filename().string()), picture(view));
    report(files.size(), views.size());
  }
  staging.commit();
  return files;
}

int PictureMaker::film(const std::filesystem::path& file) {
  const bool transparent = m_options.background == "transparent";
  check_movie(file, m_options.width, m_options.height, transparent);
  const double rate = movie_rate();
  const int stride = static_cast<int>(std::ceil(rate / highest_rate(file)));
  const std::vector<View> views = movie_views(stride);
  MovieOptions movie_options;
  movie_options.rate = rate / stride;
  movie_options.transparent = transparent;
  movie_options.patience.check = m_hooks.check;
  MovieWriter movie(file, movie_options);
  settle_framing(views);
  settle_range(views);
  for (size_t i = 0; i < views.size(); ++i) {
    movie.add(picture(views[i]));
    report(i + 1, views.size());
  }
  movie.finish();
  return static_cast<int>(views.size());
}

}  // namespace supple::viewer
