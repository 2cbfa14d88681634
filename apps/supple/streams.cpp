#include "streams.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

#include "supple/core/log.h"

namespace supple::app {
namespace {

bool reader_is_gone() {
  pollfd output = {STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0;
}

}  // namespace

void prepare_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF) {
      // The lowest free descriptor is this stream's: those before it are open by now.
      if (::open("/dev/null", stream == STDIN_FILENO ? O_RDONLY : O_WRONLY) < 0) return;
    }
  std::signal(SIGPIPE, SIG_IGN);
}

bool finish_output() {
  errno = 0;
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  const int reason = errno;
  if (!failed || reader_is_gone()) return true;
  log_error("cannot write standard output: {}",
            reason != 0 ? std::generic_category().message(reason) : "text is lost");
  return false;
}

}  // namespace supple::app
