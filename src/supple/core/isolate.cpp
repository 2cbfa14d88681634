#include "supple/core/isolate.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>

#include "supple/core/error.h"
#include "supple/core/thread_team.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define SUPPLE_UNDER_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SUPPLE_UNDER_SANITIZER 1
#endif

namespace supple {
namespace {

// What the child sends: one header, then `size` bytes. Anything shorter means that it died.
enum class Reply : uint32_t { bytes, error, exception, out_of_memory };

struct ReplyHeader {
  Reply reply = Reply::bytes;
  ErrorKind kind = ErrorKind::input;
  uint64_t size = 0;
};

struct Child {
  pid_t process = -1;
  int pipe = -1;
};

using Clock = std::chrono::steady_clock;

[[noreturn]] void throw_cannot_start(const char* what) {
  throw Error(ErrorKind::simulation,
              fmt::format("cannot start a child process: {}: {}", what, std::strerror(errno)));
}

// The child, from fork to _exit --------------------------------------------------------------

// Bytes of address space this process has mapped now, or nothing where /proc is not there.
std::optional<uint64_t> mapped_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (!file) return std::nullopt;
  unsigned long long pages = 0;
  const bool read = std::fscanf(file, "%llu", &pages) == 1;
  std::fclose(file);
  if (!read) return std::nullopt;
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

// The limit counts from what is mapped already: a parent with a GPU driver maps terabytes.
void limit_memory(uint64_t allowed) {
  if (!isolation_limits_memory()) return;
  const std::optional<uint64_t> mapped = mapped_bytes();
  if (!mapped || allowed > RLIM_INFINITY - *mapped) return;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(*mapped + allowed, limit.rlim_max);
  ::setrlimit(RLIMIT_AS, &limit);
}

// Signals as a fresh program has them, except that an interrupt from the terminal is the parent's
// to handle.
void reset_signals() {
  for (int number = 1; number < NSIG; ++number) std::signal(number, SIG_DFL);
  std::signal(SIGINT, SIG_IGN);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void silence_streams() {
  const int null = ::open("/dev/null", O_RDWR);
  if (null < 0) return;
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, stream);
}

void forbid_core_dumps() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

bool write_all(int file, const void* data, size_t size) {
  const auto* next = static_cast<const std::byte*>(data);
  while (size > 0) {
    const ssize_t written = ::write(file, next, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    next += written;
    size -= static_cast<size_t>(written);
  }
  return true;
}

bool send(int pipe, Reply reply, ErrorKind kind, ByteView content) {
  const ReplyHeader header{reply, kind, content.size()};
  return write_all(pipe, &header, sizeof(header)) &&
         write_all(pipe, content.data(), content.size());
}

bool work_and_reply(const std::function<Bytes()>& work, int pipe) {
  try {
    return send(pipe, Reply::bytes, ErrorKind::input, work());
  } catch (const Error& error) {
    return send(pipe, Reply::error, error.kind(), as_bytes(error.what()));
  } catch (const std::bad_alloc&) {
    return send(pipe, Reply::out_of_memory, ErrorKind::input, {});
  } catch (const std::exception& exception) {
    return send(pipe, Reply::exception, ErrorKind::input, as_bytes(exception.what()));
  } catch (...) {
    return send(pipe, Reply::exception, ErrorKind::input, {});
  }
}

[[noreturn]] void run_child(const std::function<Bytes()>& work, const IsolationLimits& limits,
                            int pipe, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(EXIT_FAILURE);
  reset_signals();
  silence_streams();
  forbid_core_dumps();
  limit_memory(limits.memory_bytes);
  ::_exit(work_and_reply(work, pipe) ? EXIT_SUCCESS : EXIT_FAILURE);
}

// The parent ---------------------------------------------------------------------------------

// One child is started at a time: otherwise a second child would inherit the writing end of the
// first one's pipe and keep it open, and the first one's death would go unnoticed.
Child start_child(const std::function<Bytes()>& work, const IsolationLimits& limits) {
  static std::mutex starting;
  int ends[2];
  pid_t process;
  {
    const std::scoped_lock lock(starting);
    if (::pipe2(ends, O_CLOEXEC) != 0) throw_cannot_start("pipe");
    const pid_t parent = ::getpid();
    prepare_team();
    process = ::fork();
    if (process < 0) {
      const int reason = errno;
      ::close(ends[0]);
      ::close(ends[1]);
      errno = reason;
      throw_cannot_start("fork");
    }
    if (process == 0) {
      ::close(ends[0]);
      run_child(work, limits, ends[1], parent);
    }
    ::close(ends[1]);
  }
  return {process, ends[0]};
}

// Everything the child sends until it closes the pipe or the header's count is reached; false when
// the time is up first.
bool receive(int pipe, Clock::time_point deadline, Bytes& received) {
  constexpr size_t step = size_t{1} << 18;
  size_t used = 0;
  bool in_time = true;
  while (true) {
    if (used >= sizeof(ReplyHeader) &&
        used - sizeof(ReplyHeader) >= load_at<ReplyHeader>(received, 0).size)
      break;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) {
      in_time = false;
      break;
    }
    pollfd waiting{pipe, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::min<int64_t>(left.count(), 1000)));
    if (ready <= 0) continue;
    if (received.size() < used + step) received.resize(std::max(used + step, received.size() * 2));
    const ssize_t count = ::read(pipe, received.data() + used, received.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    used += static_cast<size_t>(count);
  }
  received.resize(used);
  return in_time;
}

// Waits for the child to end, kills it when `deadline` passes first, and returns its status as
// waitpid() has it.
int reap(pid_t process, Clock::time_point deadline) {
  int status = 0;
  while (true) {
    const bool late = Clock::now() >= deadline;
    if (late) ::kill(process, SIGKILL);
    const pid_t ended = ::waitpid(process, &status, late ? 0 : WNOHANG);
    if (ended == process) return status;
    if (ended < 0 && errno != EINTR) return 0;
    if (ended == 0) ::usleep(200);
  }
}

bool is_complete(const Bytes& received) {
  return received.size() >= sizeof(ReplyHeader) &&
         received.size() - sizeof(ReplyHeader) == load_at<ReplyHeader>(received, 0).size;
}

IsolationResult read_reply(Bytes received) {
  const auto header = load_at<ReplyHeader>(received, 0);
  received.erase(received.begin(), received.begin() + sizeof(ReplyHeader));
  switch (header.reply) {
    case Reply::bytes:
      return {IsolationEnding::finished, std::move(received), {}};
    case Reply::error:
      throw Error(std::clamp(header.kind, ErrorKind::simulation, ErrorKind::interrupted),
                  std::string(as_text(received)));
    case Reply::out_of_memory:
      return {IsolationEnding::out_of_memory, {}, "needs more memory than is allowed"};
    case Reply::exception:
      break;
  }
  return {IsolationEnding::failed, {}, fmt::format("failed: {}", printable(as_text(received)))};
}

std::string describe_death(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("its reader crashed (signal {}, {})", WTERMSIG(status),
                       ::sigabbrev_np(WTERMSIG(status)) ? ::sigabbrev_np(WTERMSIG(status)) : "?");
  return "its reader ended without an answer";
}

}  // namespace

bool isolation_limits_memory() {
#ifdef SUPPLE_UNDER_SANITIZER
  return false;
#else
  return true;
#endif
}

IsolationResult try_isolated(const std::function<Bytes()>& work, const IsolationLimits& limits) {
  const double seconds = std::clamp(limits.seconds, 0.001, 1e6);
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(seconds));
  const Child child = start_child(work, limits);
  Bytes received;
  bool in_time = false;
  try {
    in_time = receive(child.pipe, deadline, received);
  } catch (const std::bad_alloc&) {
    ::close(child.pipe);
    reap(child.process, Clock::now());
    return {IsolationEnding::out_of_memory, {}, "its content does not fit in memory"};
  }
  ::close(child.pipe);
  const bool complete = is_complete(received);
  const int status = reap(child.process, complete ? Clock::now() : deadline);
  if (complete) return read_reply(std::move(received));
  if (!in_time)
    return {IsolationEnding::timed_out,
            {},
            fmt::format("took longer than the {} s allowed", limits.seconds)};
  return {IsolationEnding::crashed, {}, describe_death(status)};
}

Bytes run_isolated(const std::function<Bytes()>& work, const IsolationLimits& limits,
                   std::string_view file) {
  IsolationResult result = try_isolated(work, limits);
  if (result.ending != IsolationEnding::finished)
    throw_input_error(file, "", fmt::format("cannot be read: {}", result.problem));
  return std::move(result.bytes);
}

}  // namespace supple
