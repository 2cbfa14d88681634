#include "interrupt.h"

#include <unistd.h>

#include <csignal>

#include "program.h"

namespace supple::app {
namespace {

volatile std::sig_atomic_t signals_seen = 0;

void on_signal(int) {
  signals_seen = signals_seen + 1;
  if (signals_seen > 1) ::_exit(ExitCode::interrupted);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  signals_seen = 0;
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool InterruptGuard::interrupted() const { return signals_seen > 0; }

}  // namespace supple::app
