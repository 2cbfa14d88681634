// What a run tells about itself: per frame and as a whole.
#pragma once

#include <string>
#include <vector>

#include "supple/core/timer.h"

namespace supple {

/// How one frame went.
struct FrameReport {
  int frame = 0;
  StageTimes stages;
  double seconds = 0;  ///< wall-clock time of the whole frame
  int iterations = 0;
  double residual = 0;
  double time_step = 0;  ///< of bodies that choose it themselves, s
  double volume = 0;     ///< enclosed by the skin, in cubic metres
  std::vector<std::string> warnings;
};

/// How a run went.
struct RunReport {
  std::vector<FrameReport> frames;
  double seconds = 0;        ///< wall-clock time of the run, without loading
  bool interrupted = false;  ///< stopped by the user before the last frame
  int resumed_from = 0;      ///< first frame simulated by this run, when it continued another
  bool resumed = false;
};

/// Facts about the machine a run was made on.
struct MachineFacts {
  std::string processor;
  int cores = 0;
  int threads = 0;
  std::string simd;
  double memory_gib = 0;
};

/// Facts about this machine.
MachineFacts machine_facts();

/// Largest amount of memory this process has used so far, in bytes.
double peak_memory_bytes();

}  // namespace supple
