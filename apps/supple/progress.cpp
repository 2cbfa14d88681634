#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace supple::app {
namespace {

constexpr int bar_width = 24;

std::string duration(double seconds) {
  const long whole = std::lround(seconds);
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

void print_json(const nlohmann::ordered_json& line) {
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;
  std::printf("%s\n", line.dump(-1, ' ', false, replace).c_str());
  std::fflush(stdout);
}

}  // namespace

Progress::Progress(ProgressStyle style, int done, int total)
    : m_style(style), m_done(done), m_total(total) {
  if (m_style == ProgressStyle::automatic)
    m_style = ::isatty(STDERR_FILENO) ? ProgressStyle::bar : ProgressStyle::plain;
}

Progress::~Progress() { end_bar(); }

void Progress::frame(const FrameReport& report) {
  ++m_done;
  ++m_simulated;
  const double rate = m_simulated / std::max(m_watch.seconds(), 1e-9);
  const double left = (m_total - m_done) / rate;
  switch (m_style) {
    case ProgressStyle::bar:
      show_bar(fmt::format("frame {}", report.frame), m_done, m_total,
               fmt::format("{:.1f} frames/s, {} left", rate, duration(left)));
      if (m_done == m_total) end_bar();
      break;
    case ProgressStyle::plain:
      std::printf("frame %d (%d of %d) %.3f s\n", report.frame, m_done, m_total, report.seconds);
      std::fflush(stdout);
      break;
    case ProgressStyle::json:
      print_json({{"event", "frame"},
                  {"frame", report.frame},
                  {"done", m_done},
                  {"total", m_total},
                  {"seconds", report.seconds},
                  {"seconds_left", left},
                  {"warnings", report.warnings}});
      break;
    case ProgressStyle::automatic:
    case ProgressStyle::none:
      break;
  }
}

void Progress::wrote(const std::string& file, const std::string& line) {
  end_bar();
  if (m_style == ProgressStyle::json) {
    print_json({{"event", "wrote"}, {"file", file}});
  } else {
    std::printf("wrote %s\n", line.c_str());
    std::fflush(stdout);
  }
}

void Progress::writing(const std::string& what, int done, int total) {
  if (m_style == ProgressStyle::bar) {
    show_bar(what, done, total, "");
    if (done == total) end_bar();
  }
}

void Progress::measuring(int run, int runs, int done, int total) {
  if (m_style == ProgressStyle::json)
    print_json(
        {{"event", "tuning"}, {"run", run}, {"runs", runs}, {"done", done}, {"total", total}});
  writing(fmt::format("run {} of at most {}", run, runs), done, total);
}

void Progress::show_bar(const std::string& label, int done, int total, const std::string& detail) {
  const int filled = total > 0 ? bar_width * done / total : bar_width;
  std::fprintf(stderr, "\r\033[K%s [%s%s] %d/%d %s", label.c_str(),
               std::string(static_cast<size_t>(filled), '#').c_str(),
               std::string(static_cast<size_t>(bar_width - filled), '.').c_str(), done, total,
               detail.c_str());
  std::fflush(stderr);
  m_bar_open = true;
}

void Progress::end_bar() {
  if (m_bar_open) std::fputc('\n', stderr);
  m_bar_open = false;
}

}  // namespace supple::app
