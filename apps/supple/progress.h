// Progress of a run: a bar on a terminal, a plain line per frame elsewhere, JSON for farm managers.
#pragma once

#include <string>

#include "supple/core/timer.h"
#include "supple/sim/report.h"

namespace supple::app {

/// How progress is shown.
enum class ProgressStyle { automatic, bar, plain, json, none };

/// Shows how far a run of `total` frames is.
class Progress {
 public:
  /// `done` frames exist already when a run is resumed.
  Progress(ProgressStyle style, int done, int total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// A frame is finished.
  void frame(const FrameReport& report);

  /// A file is finished; `line` says more about it.
  void wrote(const std::string& file, const std::string& line);

  /// `done` of `total` steps of writing `what` are finished.
  void writing(const std::string& what, int done, int total);

  /// `done` of `total` frames of a run of a calibration are simulated, of at most `runs` runs.
  void measuring(int run, int runs, int done, int total);

 private:
  void show_bar(const std::string& label, int done, int total, const std::string& detail);
  void end_bar();

  ProgressStyle m_style;
  int m_done;
  int m_total;
  int m_simulated = 0;
  bool m_bar_open = false;
  Stopwatch m_watch;
};

}  // namespace supple::app
