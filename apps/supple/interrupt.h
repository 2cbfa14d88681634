// Ctrl-C, SIGTERM and the end of the terminal: the first signal asks the run to stop after the
// frame at hand, the second ends it.
#pragma once

#include <string>

namespace supple::app {

/// While it exists, SIGINT, SIGTERM and SIGHUP set a flag instead of ending the program.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// True once a signal has arrived.
  bool interrupted() const;

  /// Throws an error of that kind once a signal has arrived while `file` is being written.
  void stop_if_interrupted(const std::string& file) const;
};

}  // namespace supple::app
