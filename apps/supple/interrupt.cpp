#include "interrupt.h"

#include <unistd.h>

#include <array>
#include <csignal>

#include "program.h"

namespace supple::app {
namespace {

constexpr std::array handled = {SIGINT, SIGTERM, SIGHUP};
std::array<struct sigaction, handled.size()> before;
volatile std::sig_atomic_t signals_seen = 0;

void on_signal(int) {
  signals_seen = signals_seen + 1;
  if (signals_seen > 1) ::_exit(ExitCode::interrupted);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  signals_seen = 0;
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (size_t i = 0; i < handled.size(); ++i) {
    ::sigaction(handled[i], nullptr, &before[i]);
    // What the caller has ignored stays ignored: nohup, and jobs in the background of scripts.
    if (before[i].sa_handler != SIG_IGN) ::sigaction(handled[i], &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  for (size_t i = 0; i < handled.size(); ++i) ::sigaction(handled[i], &before[i], nullptr);
}

bool InterruptGuard::interrupted() const { return signals_seen > 0; }

void InterruptGuard::stop_if_interrupted(const std::string& file) const {
  if (interrupted())
    throw Error(ErrorKind::interrupted, fmt::format("interrupted; {} is not written", file));
}

}  // namespace supple::app
