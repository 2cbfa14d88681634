// Pictures and movies of a page that draws its own options: what arrives in the files is what was
// asked for, and every failure leaves nothing behind.
#include "viewer/pictures.h"

#include <gtest/gtest.h>

#include <cmath>

#include "browser_support.h"
#include "supple/core/error.h"
#include "supple/core/file.h"
#include "support/test_support.h"
#include "viewer/movie.h"

namespace supple::viewer {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::data_url;
using test::problem_of;
using test::TemporaryFolder;

// A page with frames 11 to 16. A picture is one colour: red is the frame, green the azimuth / 2,
// blue 255 when the skin alone is shown, else 0. `extra` changes the page.
std::string fake_page(const std::string& extra = "") {
  return data_url(R"(<body style="margin: 0"><script>
    const options = {skin: true, ground: true, bones: false, mesh: false, colliders: false,
                     wireframe: false, camera: {azimuth: 30, elevation: 10, zoom: 1}};
    let frame = 11;
    const colour = () => {
      const alone = options.skin && !options.ground && !options.bones && !options.mesh;
      return `rgb(${frame}, ${Math.round(options.camera.azimuth / 2)}, ${alone ? 255 : 0})`;
    };
    window.fetch = async name => ({json: async () => ({exhibits:
      [{title: name, frames: {first: 11, last: 20, rate: 12.5}}, {title: "other"}]})});
    window.supple = {
      ready: Promise.resolve(),
      state: () => ({first: 11, last: 20, available: 6, error: null, options,
                     overlays: {bones: true, mesh: false, colliders: false}}),
      configure: async changes => {
        if (changes.colour === 'map/none') throw new Error("no map is called 'none'");
        window.seen = Object.assign(window.seen || {}, changes);
        Object.assign(options, changes);
      },
      seek: async number => {
        frame = number;
        document.body.style.background = colour();
      },
      fit: async frames => { window.fitted = frames; },
      picture: async (width, height) => {
        const canvas = document.createElement('canvas');
        [canvas.width, canvas.height] = [width, height];
        const context = canvas.getContext('2d');
        if (options.background !== 'transparent') {
          context.fillStyle = colour();
          context.fillRect(0, 0, width, height);
        }
        return canvas.toDataURL();
      }};
    )" + extra + "</script>");
}

PictureOptions small_options() {
  PictureOptions options;
  options.width = 40;
  options.height = 30;
  return options;
}

// Red, green, blue and alpha of a picture's first pixel.
std::vector<int> colour_of(const fs::path& file) {
  const auto pixels = test::pixels_of(file);
  if (!pixels || pixels->size() < 4) return {};
  std::vector<int> colour;
  for (size_t i = 0; i < 4; ++i) colour.push_back(std::to_integer<int>((*pixels)[i]));
  return colour;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// Facts of a movie by ffprobe, which counts the pictures by decoding all.
Json movie_facts(const fs::path& file) {
  const ProgramResult result =
      run_program({find_program("ffprobe").value(), "-v", "error", "-count_frames", "-show_entries",
                   "stream=codec_name,width,height,pix_fmt,r_frame_rate,nb_read_frames", "-of",
                   "json", file.string()},
                  Patience{});
  return Json::parse(as_text(result.output)).at("streams").at(0);
}

#define SUPPLE_NEEDS_FFMPEG()                              \
  if (!find_program("ffmpeg") || !find_program("ffprobe")) \
  GTEST_SKIP() << "ffmpeg is not "                         \
                  "installed"

TEST(Pictures, NumbersFiles) {
  EXPECT_EQ(numbered_file("a/out.png", 7), "a/out.0007.png");
  EXPECT_EQ(numbered_file("out.png", 12345), "out.12345.png");
  EXPECT_EQ(numbered_file("out.png", -3), "out.-0003.png");
  EXPECT_EQ(numbered_file("out_%04d.png", 7), "out_0007.png");
  EXPECT_EQ(numbered_file("%d.png", 7), "7.png");
  EXPECT_EQ(numbered_file("100%%_%2d.png", 7), "100%_07.png");
  EXPECT_EQ(numbered_file("%04d/out.png", 7), "%04d/out.0007.png") << "folders are as they are";
  for (const char* bad : {"%s.png", "%d_%d.png", "%.png", "%00004d.png", "%99d.png", "%n.png"})
    EXPECT_NE(problem_of([&] { numbered_file(bad, 1); }, ErrorKind::usage).find("%04d"),
              std::string::npos);
}

TEST(Pictures, ChecksNamesBeforeAnythingStarts) {
  const TemporaryFolder folder;
  PictureOptions options;
  EXPECT_EQ(problem_of([&] { check_pictures("out.jpg", options); }, ErrorKind::usage),
            "out.jpg: a picture's name ends in .png");
  fs::create_directory(folder / "taken.png");
  problem_of([&] { check_pictures(folder / "taken.png", options); });
  options.turntable = 3;
  check_pictures(folder / "taken.png", options);
  options.frames = {1, 2};
  EXPECT_EQ(problem_of([&] { check_pictures("out.png", options); }, ErrorKind::usage),
            "out.png: pictures around the character are of one frame");
  EXPECT_EQ(problem_of([&] { check_movie("out.avi", 64, 64, false); }, ErrorKind::usage),
            "out.avi: a movie's name ends in .mp4, .webm or .gif");
  EXPECT_EQ(problem_of([&] { check_movie("out.mp4", 64, 65, false); }, ErrorKind::usage),
            "out.mp4: an .mp4 needs an even width and height, not 64x65");
  problem_of([&] { check_movie("out.mp4", 64, 64, true); }, ErrorKind::usage);
  const test::EnvironmentVariable path("PATH", "/nonexistent");
  EXPECT_EQ(problem_of([&] { check_movie("out.mp4", 64, 64, false); }),
            "movies need ffmpeg, which is not installed (apt install ffmpeg)");
  EXPECT_EQ(problem_of([&] { MovieWriter("out.mp4", {}); }),
            "movies need ffmpeg, which is not installed (apt install ffmpeg)");
}

TEST(Pictures, WritesOnePicture) {
  SUPPLE_NEEDS_BROWSER();
  HeadlessBrowser browser({});
  const TemporaryFolder folder;
  PictureOptions options = small_options();
  options.frames = {14};
  options.angles = CameraAngles{200, 20, 1.5};
  options.show = {{"skin"}};
  options.colour = "map/stretch";
  options.range = {{-0.5, 2}};
  options.compare = "side";
  options.theme = "light";
  int calls = 0;
  PictureHooks hooks;
  hooks.progress = [&](int done, int total) {
    ++calls;
    EXPECT_EQ(std::pair(done, total), std::pair(1, 1));
  };
  PictureMaker maker(browser, fake_page(), options, hooks);
  EXPECT_EQ(maker.shoot(folder / "sub/out.png"), std::vector<fs::path>{folder / "sub/out.png"});
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(test::png_size(read_file(folder / "sub/out.png")), (std::pair{40, 30}));
  if (const auto colour = colour_of(folder / "sub/out.png"); !colour.empty()) {
    EXPECT_EQ(colour, (std::vector{14, 100, 255, 255}));
  }
  EXPECT_EQ(names_in(folder / "sub"), std::vector<std::string>{"out.png"});
  EXPECT_EQ(browser.evaluate("seen"),
            Json::parse(R"({"interface": false, "loop": false, "compare": "side", "other": 1,
              "colour": "map/stretch", "range": [-0.5, 2.0], "skin": true, "bones": false,
              "mesh": false, "colliders": false, "ground": false, "wireframe": false,
              "theme": "light", "camera": {"azimuth": 200.0, "elevation": 20.0, "zoom": 1.5}})"));
}

TEST(Pictures, WritesSeveralAtOnce) {
  SUPPLE_NEEDS_BROWSER();
  HeadlessBrowser browser({});
  const TemporaryFolder folder;
  PictureOptions options = small_options();
  options.turntable = 4;
  options.background = "#000";
  {
    // The camera starts where the page has it: azimuth 30.
    PictureMaker maker(browser, fake_page(), options, {});
    EXPECT_EQ(maker.shoot(folder / "turn.png").size(), 4u);
    EXPECT_EQ(names_in(folder.path()),
              (std::vector<std::string>{"turn.0001.png", "turn.0002.png", "turn.0003.png",
                                        "turn.0004.png"}));
    for (int i = 0; i < 4; ++i)
      if (const auto colour = colour_of(numbered_file(folder / "turn.png", i + 1));
          !colour.empty()) {
        EXPECT_EQ(colour, (std::vector{11, 15 + 45 * i, 0, 255}));
      }
  }
  options.turntable = 0;
  options.frames = {12, 16};
  options.background = "transparent";
  PictureMaker maker(browser, fake_page(), options, {});
  EXPECT_EQ(maker.shoot(folder / "f%d.png"),
            (std::vector<fs::path>{folder / "f12.png", folder / "f16.png"}));
  if (const auto colour = colour_of(folder / "f16.png"); !colour.empty()) {
    EXPECT_EQ(colour[3], 0);
  }
}

TEST(Pictures, FramesWhatTheyShow) {
  SUPPLE_NEEDS_BROWSER();
  HeadlessBrowser browser({});
  const TemporaryFolder folder;
  PictureOptions options = small_options();
  options.frames = {15, 12};
  PictureMaker maker(browser, fake_page(), options, {});
  maker.shoot(folder / "out.png");
  EXPECT_EQ(browser.evaluate("window.fitted"), Json({12, 15}));
}

TEST(Pictures, ShowsTheInterface) {
  SUPPLE_NEEDS_BROWSER();
  HeadlessBrowser browser({});
  const TemporaryFolder folder;
  PictureOptions options = small_options();
  options.with_interface = true;
  options.width = 300;
  PictureMaker maker(browser, fake_page("supple.picture = () => { throw new Error('not asked') };"),
                     options, {});
  maker.shoot(folder / "page.png");
  EXPECT_EQ(test::png_size(read_file(folder / "page.png")), (std::pair{300, 30}));
  if (const auto colour = colour_of(folder / "page.png"); !colour.empty()) {
    EXPECT_EQ(colour, (std::vector{11, 15, 0, 255}));
  }
}

TEST(Pictures, SaysWhatDoesNotFit) {
  SUPPLE_NEEDS_BROWSER();
  HeadlessBrowser browser({});
  const auto problem = [&](const std::function<void(PictureOptions&)>& change, ErrorKind kind,
                           const std::string& extra = "") {
    PictureOptions options = small_options();
    change(options);
    return problem_of([&] { PictureMaker maker(browser, fake_page(extra), options, {}); }, kind);
  };
  EXPECT_EQ(problem([](auto& o) { o.colour = "map/none"; }, ErrorKind::usage),
            "no map is called 'none'");
  EXPECT_EQ(problem(
                [](auto& o) {
                  o.frames = {16, 17};
                },
                ErrorKind::usage),
            "there is no frame 17 (frames 11 to 16)");
  EXPECT_EQ(problem(
                [](auto& o) {
                  o.show = {{"skin", "mesh"}};
                },
                ErrorKind::usage),
            "there is no mesh to show");
  EXPECT_EQ(problem([](auto& o) { o.compare = "side"; }, ErrorKind::usage,
                    "fetch = async () => ({json: async () => ({exhibits: [{}]})});"),
            "comparing needs two files to look at");
  EXPECT_EQ(problem([](auto&) {}, ErrorKind::input,
                    "supple.state = () => ({error: 'a.supple: info.json: is damaged'});"),
            "a.supple: info.json: is damaged");
  EXPECT_EQ(
      problem([](auto&) {}, ErrorKind::output, "delete window.supple; throw new Error('oh');"),
      "the viewer's page did not start; it says: oh");
}

// Each way a page can fail while pictures are made: nothing may be left, not even a folder.
TEST(Pictures, LeavesNothingWhenAPictureFails) {
  SUPPLE_NEEDS_BROWSER();
  HeadlessBrowser browser({});
  const auto problem = [&](const std::string& extra, ErrorKind kind = ErrorKind::output) {
    const TemporaryFolder folder;
    PictureOptions options = small_options();
    options.frames = {11, 12, 13};
    PictureHooks hooks;
    hooks.answer_limit = 1500ms;
    PictureMaker maker(browser, fake_page(extra), options, hooks);
    const std::string message = problem_of([&] { maker.shoot(folder / "new/out.png"); }, kind);
    EXPECT_TRUE(names_in(folder.path()).empty()) << extra;
    return message;
  };
  EXPECT_EQ(problem("const seek = supple.seek; supple.seek = async n => { if (n === 13) throw new "
                    "Error('frame 13: cannot be read'); await seek(n); };",
                    ErrorKind::input),
            "frame 13: cannot be read");
  EXPECT_NE(problem("supple.seek = () => new Promise(() => {});").find("does not answer for 1.5 s"),
            std::string::npos);
  EXPECT_EQ(problem("supple.picture = async () => 'data:image/jpeg;base64,AAAA';"),
            "the page's picture is not a PNG");
  EXPECT_EQ(problem("const p = supple.picture; supple.picture = (w, h) => p(w + 1, h);"),
            "the page's picture has 41x30 pixels instead of 40x30");
  problem("supple.picture = async () => 'data:image/png;base64,A*?A';", ErrorKind::input);
}

TEST(Pictures, StopsWhenToldTo) {
  SUPPLE_NEEDS_BROWSER();
  HeadlessBrowser browser({});
  SUPPLE_NEEDS_FFMPEG();
  const TemporaryFolder folder;
  write_file(folder / "out.mp4", std::string_view("the old movie"));
  PictureHooks hooks;
  bool stop = false;
  hooks.check = [&] {
    if (stop) throw Error(ErrorKind::interrupted, "interrupted");
  };
  hooks.progress = [&](int done, int) { stop = done == 3; };
  PictureMaker maker(browser, fake_page(), small_options(), hooks);
  EXPECT_EQ(problem_of([&] { maker.film(folder / "out.mp4"); }, ErrorKind::interrupted),
            "interrupted");
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"out.mp4"});
  EXPECT_EQ(as_text(read_file(folder / "out.mp4")), "the old movie");
}

TEST(Pictures, MakesMovies) {
  SUPPLE_NEEDS_BROWSER();
  HeadlessBrowser browser({});
  SUPPLE_NEEDS_FFMPEG();
  const TemporaryFolder folder;
  PictureMaker maker(browser, fake_page(), small_options(), {});
  for (const char* name : {"out.mp4", "out.webm", "out.gif"}) {
    EXPECT_EQ(maker.film(folder / name), 6);
    const Json facts = movie_facts(folder / name);
    EXPECT_EQ(facts.at("width"), 40) << name;
    EXPECT_EQ(facts.at("height"), 30) << name;
    EXPECT_EQ(facts.at("nb_read_frames"), "6") << name;
    EXPECT_EQ(facts.at("r_frame_rate"), "25/2") << name;
  }
  EXPECT_EQ(movie_facts(folder / "out.mp4").at("codec_name"), "h264");
  EXPECT_EQ(movie_facts(folder / "out.mp4").at("pix_fmt"), "yuv420p");
  EXPECT_EQ(movie_facts(folder / "out.webm").at("codec_name"), "vp9");
  const std::string mp4(as_text(read_file(folder / "out.mp4")));
  EXPECT_LT(mp4.find("moov"), mp4.find("mdat")) << "players can start before the end has arrived";
  EXPECT_EQ(names_in(folder.path()), (std::vector<std::string>{"out.gif", "out.mp4", "out.webm"}));
  maker.film(folder / "again.mp4");
  EXPECT_TRUE(read_file(folder / "again.mp4") == read_file(folder / "out.mp4"));

  // Players slow a .gif of 120 pictures per second down: every third frame is enough.
  PictureOptions options = small_options();
  options.rate = 120;
  EXPECT_EQ(PictureMaker(browser, fake_page(), options, {}).film(folder / "fast.gif"), 2);
}

// The page fits its colour scale to the frame; a series must have one for all of its frames.
TEST(Pictures, KeepsOneColourScaleOverASeries) {
  SUPPLE_NEEDS_BROWSER();
  HeadlessBrowser browser({});
  const TemporaryFolder folder;
  PictureOptions options = small_options();
  options.frames = {13, 12, 15};
  options.colour = "distance";
  const std::string page = fake_page(
      "supple.values = () => ({min: -frame, max: (frame - 13) ** 2, values: new "
      "Float32Array(9)});");
  PictureMaker maker(browser, page, options, {});
  maker.shoot(folder / "out.png");
  EXPECT_EQ(browser.evaluate("seen.range"), Json({-15.0, 4.0}));

  // A scale that was asked for stays, and a single picture needs none.
  options.range = {{0, 1}};
  PictureMaker(browser, page, options, {}).shoot(folder / "out.png");
  EXPECT_EQ(browser.evaluate("seen.range"), Json({0.0, 1.0}));
  options.range.reset();
  options.frames = {13};
  PictureMaker(browser, page, options, {}).shoot(folder / "out.png");
  EXPECT_EQ(browser.evaluate("'range' in seen"), false);
}

// With a turntable longer than the run, frames start over while the camera goes round once. The
// colours of a .gif are exact.
TEST(Pictures, TurnsTheCameraOverTheMovie) {
  SUPPLE_NEEDS_BROWSER();
  HeadlessBrowser browser({});
  SUPPLE_NEEDS_FFMPEG();
  const TemporaryFolder folder;
  PictureOptions options = small_options();
  options.turntable = 9;
  options.rate = 10;
  options.angles = CameraAngles{0, 0, 1};
  PictureMaker maker(browser, fake_page(), options, {});
  EXPECT_EQ(maker.film(folder / "turn.gif"), 9);
  const Bytes pixels = test::pixels_of(folder / "turn.gif").value();
  constexpr size_t picture_bytes = 40 * 30 * 4;
  ASSERT_EQ(pixels.size(), 9 * picture_bytes);
  for (size_t i = 0; i < 9; ++i) {
    const auto channel = [&](size_t k) {
      return std::to_integer<int>(pixels[i * picture_bytes + k]);
    };
    EXPECT_EQ(channel(0), 11 + static_cast<int>(i % 6));
    EXPECT_EQ(channel(1), static_cast<int>(i) * 20);
  }
}

TEST(Pictures, TellsWhyFfmpegFails) {
  SUPPLE_NEEDS_FFMPEG();
  const TemporaryFolder folder;
  {
    MovieWriter movie(folder / "out.mp4", {});
    const std::string problem = problem_of([&] {
      for (int i = 0; i < 100; ++i) movie.add(as_bytes("this is no picture at all"));
      movie.finish();
    });
    EXPECT_NE(problem.find("out.mp4: ffmpeg failed"), std::string::npos) << problem;
  }
  EXPECT_TRUE(names_in(folder.path()).empty());
  EXPECT_NE(problem_of([] { MovieWriter("/proc/nothing/out.mp4", {}); }).find("/proc/nothing"),
            std::string::npos);
}

}  // namespace
}  // namespace supple::viewer
