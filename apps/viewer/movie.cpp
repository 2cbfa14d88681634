#include "viewer/movie.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "viewer/chromium.h"

namespace supple::viewer {
namespace {

constexpr const char* pictures_name = "pictures.tmp~";
constexpr const char* palette_name = "palette.tmp~.png";

std::string find_ffmpeg() {
  if (const auto path = find_program("ffmpeg")) return *path;
  throw Error(ErrorKind::output, "movies need ffmpeg, which is not installed (apt install ffmpeg)");
}

std::string system_message() { return std::generic_category().message(errno); }

// The file's bytes reach the disk before its name does.
void sync_file(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw_output_error(file.string(), system_message());
  ::fsync(descriptor);
  ::close(descriptor);
}

// ffmpeg's arguments up to the input: PNG files one after the other. Nothing of the result depends
// on the date or the version of ffmpeg's container writers.
std::vector<std::string> input_arguments(const std::string& ffmpeg, const std::string& input,
                                         double rate) {
  return {ffmpeg,  "-hide_banner", "-nostdin",   "-loglevel",
          "error", "-y",           "-f",         "image2pipe",
          "-c:v",  "png",          "-framerate", fmt::format("{:.10g}", rate),
          "-i",    input};
}

void append_all(std::vector<std::string>& list, const std::vector<std::string>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

// The colours of the screen, told to players as well as used for the conversion.
const std::vector<std::string> screen_colours = {"-vf",
                                                 "scale=out_color_matrix=bt709:out_range=tv",
                                                 "-colorspace",
                                                 "bt709",
                                                 "-color_primaries",
                                                 "bt709",
                                                 "-color_trc",
                                                 "bt709",
                                                 "-color_range",
                                                 "tv"};

}  // namespace

void check_movie(const std::filesystem::path& file, int width, int height, bool transparent) {
  const std::string format = lower_extension(file);
  const auto refuse = [&](std::string_view problem) {
    throw Error(ErrorKind::usage, fmt::format("{}: {}", printable(file.string()), problem));
  };
  if (format != ".mp4" && format != ".webm" && format != ".gif")
    refuse("a movie's name ends in .mp4, .webm or .gif");
  if (format == ".mp4" && (width % 2 != 0 || height % 2 != 0))
    refuse(fmt::format("an .mp4 needs an even width and height, not {}x{}", width, height));
  if (format == ".mp4" && transparent) refuse("an .mp4 cannot be transparent; a .webm or .gif can");
  std::error_code code;
  if (std::filesystem::is_directory(file, code))
    throw_output_error(file.string(), "a folder has that name");
  find_ffmpeg();
}

double highest_rate(const std::filesystem::path& file) {
  return lower_extension(file) == ".gif" ? 50 : 1e4;
}

MovieWriter::MovieWriter(const std::filesystem::path& file, const MovieOptions& options)
    : m_file(file),
      m_options(options),
      m_format(lower_extension(file)),
      m_ffmpeg(find_ffmpeg()),
      m_staging(file.parent_path()),
      m_movie(m_staging.add(file.filename().string())),
      m_pictures(nullptr, &std::fclose) {
  if (m_format == ".gif") {
    const std::filesystem::path pictures = m_movie.parent_path() / pictures_name;
    m_pictures.reset(std::fopen(pictures.c_str(), "wb"));
    if (!m_pictures) throw_output_error(pictures.string(), system_message());
  }
  m_encoder.emplace(
      ProgramStart{first_command(), {PipeUse::to_program, PipeUse::nothing, PipeUse::last_words}});
}

// Makes the movie, or for .gif the palette of all its pictures.
std::vector<std::string> MovieWriter::first_command() const {
  std::vector<std::string> command = input_arguments(m_ffmpeg, "pipe:0", m_options.rate);
  if (m_format == ".gif") {
    append_all(command,
               {"-vf", "palettegen=reserve_transparent=1", "-frames:v", "1", "-f", "image2",
                "-update", "1", (m_movie.parent_path() / palette_name).string()});
    return command;
  }
  append_all(command, screen_colours);
  append_all(command, {"-map_metadata", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact"});
  if (m_format == ".mp4")
    append_all(command, {"-c:v", "libx264", "-preset", "medium", "-crf", "18", "-pix_fmt",
                         "yuv420p", "-movflags", "+faststart", "-f", "mp4"});
  else
    append_all(command, {"-c:v", "libvpx-vp9", "-crf", "24", "-b:v", "0", "-deadline", "good",
                         "-cpu-used", "4", "-row-mt", "1", "-pix_fmt",
                         m_options.transparent ? "yuva420p" : "yuv420p", "-f", "webm"});
  command.push_back(m_movie.string());
  return command;
}

void MovieWriter::add(ByteView png) {
  if (m_pictures && std::fwrite(png.data(), 1, png.size(), m_pictures.get()) != png.size())
    throw_output_error(m_file.string(), system_message());
  if (!m_encoder->send(0, png, m_options.patience)) fail();
}

void MovieWriter::finish() {
  end_encoder();
  if (m_pictures) {
    if (std::fflush(m_pictures.get()) != 0) throw_output_error(m_file.string(), system_message());
    add_colours(m_movie.parent_path() / palette_name);
  }
  sync_file(m_movie);
  m_staging.commit();
}

// The second pass of .gif: the kept pictures in the colours of the palette.
void MovieWriter::add_colours(const std::filesystem::path& palette) {
  const std::string pictures = (m_movie.parent_path() / pictures_name).string();
  std::vector<std::string> command = input_arguments(m_ffmpeg, pictures, m_options.rate);
  append_all(command, {"-i", palette.string(), "-filter_complex",
                       "[0:v][1:v]paletteuse=dither=sierra2_4a:diff_mode=rectangle", "-loop", "0",
                       "-f", "gif", m_movie.string()});
  m_encoder.emplace(
      ProgramStart{command, {PipeUse::nothing, PipeUse::nothing, PipeUse::last_words}});
  end_encoder();
}

void MovieWriter::end_encoder() {
  m_encoder->close(0);
  const std::optional<int> status = m_encoder->wait(m_options.patience);
  if (!status)
    throw_output_error(m_file.string(), fmt::format("ffmpeg does not end within {:.3g} s",
                                                    m_options.patience.limit.count() / 1e3));
  if (*status != 0) fail();
}

// ffmpeg has given up: says why, in its last words.
void MovieWriter::fail() {
  const std::optional<int> status = m_encoder->wait({std::chrono::seconds(2), {}});
  std::string_view words = as_text(m_encoder->received(2));
  while (!words.empty() && (words.back() == '\n' || words.back() == ' ')) words.remove_suffix(1);
  throw_output_error(m_file.string(),
                     fmt::format("ffmpeg failed (status {}): {}", status ? *status : -1,
                                 words.empty() ? "it does not say why"
                                               : one_line(words.substr(words.rfind('\n') + 1))));
}

}  // namespace supple::viewer
