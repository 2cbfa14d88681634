// Ctrl-C and SIGTERM: the first asks the run to stop after the frame at hand, the second ends it.
#pragma once

namespace supple::app {

/// While it exists, SIGINT and SIGTERM set a flag instead of ending the program.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// True once a signal has arrived.
  bool interrupted() const;
};

}  // namespace supple::app
