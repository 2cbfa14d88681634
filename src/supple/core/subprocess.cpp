#include "supple/core/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "supple/core/error.h"

namespace supple {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds check_interval{50};
constexpr size_t last_words_size = size_t{64} << 10;

std::string system_message(int error) { return std::generic_category().message(error); }

bool may_be_executed(const std::string& path) {
  std::error_code code;
  return std::filesystem::is_regular_file(path, code) && ::access(path.c_str(), X_OK) == 0;
}

// A descriptor that is closed when the scope ends. The program's ends lie at 64 and above, so that
// giving them their numbers in the program never overwrites one that is still needed.
class OwnedFile {
 public:
  explicit OwnedFile(int file) : m_file(file) {}
  OwnedFile(OwnedFile&& other) noexcept : m_file(std::exchange(other.m_file, -1)) {}
  OwnedFile& operator=(OwnedFile&&) = delete;
  ~OwnedFile() {
    if (m_file >= 0) ::close(m_file);
  }
  OwnedFile raised() const { return OwnedFile(::fcntl(m_file, F_DUPFD_CLOEXEC, 64)); }
  int get() const { return m_file; }
  int release() { return std::exchange(m_file, -1); }

 private:
  int m_file;
};

// posix_spawn's two tables, freed with the object.
struct SpawnTables {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;

  SpawnTables() {
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
  }
  ~SpawnTables() {
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnTables(const SpawnTables&) = delete;
  SpawnTables& operator=(const SpawnTables&) = delete;

  // A group of its own (the terminal's Ctrl-C is ours to handle), signals as a fresh program has
  // them.
  void set_attributes() {
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
  }
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  list.reserve(texts.size() + 1);
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> all;
  all.reserve(added.size());
  for (const auto& [name, value] : added) all.push_back(fmt::format("{}={}", name, value));
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    const bool replaced = std::any_of(added.begin(), added.end(), [&](const auto& pair) {
      return text.substr(0, text.find('=')) == pair.first;
    });
    if (!replaced) all.emplace_back(text);
  }
  return all;
}

}  // namespace

std::optional<std::string> find_program(std::string_view name) {
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string_view::npos) {
    std::string path(name);
    return may_be_executed(path) ? std::optional(path) : std::nullopt;
  }
  const char* variable = std::getenv("PATH");
  std::string_view folders = variable ? variable : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    const size_t end = std::min(folders.find(':'), folders.size());
    const std::string folder(end == 0 ? "." : folders.substr(0, end));
    const std::string path = folder + "/" + std::string(name);
    if (may_be_executed(path)) return path;
    if (end == folders.size()) return std::nullopt;
    folders.remove_prefix(end + 1);
  }
}

Subprocess::Subprocess(const ProgramStart& given) {
  if (given.command.empty()) throw Error(ErrorKind::output, "no program to run is given");
  m_name = std::filesystem::path(given.command.front()).filename().string();
  for (const PipeUse channel : given.channels) m_channels.push_back({channel});
  if (m_channels.size() < 3) m_channels.resize(3);
  try {
    start(given);
  } catch (...) {
    close_all();
    throw;
  }
}

Subprocess::~Subprocess() {
  kill();
  close_all();
}

void Subprocess::start(const ProgramStart& start) {
  SpawnTables tables;
  tables.set_attributes();
  std::vector<OwnedFile> theirs;
  for (size_t i = 0; i < m_channels.size(); ++i) {
    Pipe& pipe = m_channels[i];
    int ends[2] = {-1, -1};
    if (pipe.channel == PipeUse::nothing) {
      ends[1] = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    } else if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
      // Sockets, as writing to one whose reader is gone need not raise SIGPIPE.
      pipe.file = ends[0];
      ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
      ::shutdown(ends[0], pipe.channel == PipeUse::to_program ? SHUT_RD : SHUT_WR);
    }
    const OwnedFile low(ends[1]);
    if (low.get() < 0) fail(system_message(errno));
    theirs.push_back(low.raised());
    if (theirs.back().get() < 0) fail(system_message(errno));
    ::posix_spawn_file_actions_adddup2(&tables.files, theirs.back().get(), static_cast<int>(i));
  }
  ::posix_spawn_file_actions_addclosefrom_np(&tables.files, static_cast<int>(m_channels.size()));
  std::vector<std::string> command = start.command;
  std::vector<std::string> environment = environment_with(start.environment);
  const int problem =
      ::posix_spawn(&m_process, command.front().c_str(), &tables.files, &tables.attributes,
                    pointers(command).data(), pointers(environment).data());
  if (problem != 0) {
    m_process = -1;
    fail(system_message(problem));
  }
}

void Subprocess::fail(std::string_view problem) const {
  throw Error(ErrorKind::output, fmt::format("{}: {}", m_name, problem));
}

void Subprocess::close_all() {
  for (size_t i = 0; i < m_channels.size(); ++i) close(static_cast<int>(i));
}

void Subprocess::close(int descriptor) {
  Pipe& pipe = m_channels.at(static_cast<size_t>(descriptor));
  if (pipe.file >= 0) ::close(std::exchange(pipe.file, -1));
}

// Takes what is there at the moment.
void Subprocess::read_into(Pipe& pipe) {
  constexpr size_t step = size_t{256} << 10;
  const size_t before = pipe.received.size();
  pipe.received.resize(before + step);
  const ssize_t count = ::read(pipe.file, pipe.received.data() + before, step);
  const bool nothing_yet = count < 0 && (errno == EAGAIN || errno == EINTR);
  pipe.received.resize(before + static_cast<size_t>(std::max<ssize_t>(count, 0)));
  if (count <= 0 && !nothing_yet) ::close(std::exchange(pipe.file, -1));
  if (pipe.channel == PipeUse::last_words && pipe.received.size() > last_words_size)
    pipe.received.erase(pipe.received.begin(),
                        pipe.received.end() - static_cast<std::ptrdiff_t>(last_words_size));
}

// Waits until the program says something, or takes something on the given descriptor (-1: none),
// and collects what it says; true when there was either.
bool Subprocess::collect(int writable_descriptor, milliseconds wait) {
  std::vector<pollfd> waiting;
  std::vector<Pipe*> pipes;
  for (size_t i = 0; i < m_channels.size(); ++i) {
    Pipe& pipe = m_channels[i];
    const bool writes = pipe.channel == PipeUse::to_program;
    if (pipe.file < 0 || (writes && static_cast<int>(i) != writable_descriptor)) continue;
    waiting.push_back({pipe.file, static_cast<short>(writes ? POLLOUT : POLLIN), 0});
    pipes.push_back(&pipe);
  }
  const auto count = static_cast<int>(std::clamp<int64_t>(wait.count(), 0, 1000));
  if (::poll(waiting.data(), waiting.size(), count) <= 0) return false;
  for (size_t i = 0; i < waiting.size(); ++i)
    if (waiting[i].revents != 0 && pipes[i]->channel != PipeUse::to_program) read_into(*pipes[i]);
  return true;
}

bool Subprocess::send(int descriptor, ByteView bytes, const Patience& patience) {
  Pipe& pipe = m_channels.at(static_cast<size_t>(descriptor));
  const auto deadline = Clock::now() + patience.limit;
  while (!bytes.empty()) {
    if (patience.check) patience.check();
    if (pipe.file < 0) return false;
    const ssize_t count = ::send(pipe.file, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count > 0) {
      bytes = bytes.subspan(static_cast<size_t>(count));
      continue;
    }
    if (errno != EAGAIN && errno != EINTR) {
      close(descriptor);
      return false;
    }
    if (Clock::now() >= deadline)
      fail(fmt::format("takes no more input for {:.3g} s", patience.limit.count() / 1e3));
    collect(descriptor, check_interval);
  }
  return true;
}

bool Subprocess::receive(const Patience& patience) {
  const auto deadline = Clock::now() + patience.limit;
  while (true) {
    if (patience.check) patience.check();
    const bool speaks = std::any_of(m_channels.begin(), m_channels.end(), [](const Pipe& pipe) {
      return pipe.file >= 0 && pipe.channel != PipeUse::to_program;
    });
    if (!speaks) return false;
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    if (collect(-1, std::min(left, check_interval))) return true;
  }
}

std::optional<int> Subprocess::wait(const Patience& patience) {
  const auto deadline = Clock::now() + patience.limit;
  while (!m_status) {
    siginfo_t ending = {};
    // The process stays a zombie until its group is killed, so that the group's number is its own.
    const int result =
        ::waitid(P_PID, static_cast<id_t>(m_process), &ending, WEXITED | WNOHANG | WNOWAIT);
    if (result == 0 && ending.si_pid == m_process) {
      kill();
      break;
    }
    if (result != 0 && errno != EINTR) fail("its end cannot be waited for");
    if (patience.check) patience.check();
    if (Clock::now() >= deadline) return std::nullopt;
    collect(-1, milliseconds(2));
  }
  // What was said last may still lie in the pipes. Who left the group may go on talking: not for
  // longer than this.
  const auto enough = Clock::now() + std::chrono::seconds(1);
  while (Clock::now() < enough && collect(-1, milliseconds(0))) {
  }
  return m_status;
}

void Subprocess::kill() {
  if (m_process < 0 || m_status) return;
  ::kill(-m_process, SIGKILL);
  int status = 0;
  while (::waitpid(m_process, &status, 0) < 0 && errno == EINTR) {
  }
  m_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

ProgramResult run_program(const std::vector<std::string>& command, const Patience& patience) {
  Subprocess program({command, {PipeUse::nothing, PipeUse::from_program, PipeUse::last_words}});
  const std::optional<int> status = program.wait(patience);
  if (!status)
    throw Error(ErrorKind::output, fmt::format("{}: does not end within {:.3g} s", program.name(),
                                               patience.limit.count() / 1e3));
  return {*status, std::move(program.received(1)), std::string(as_text(program.received(2)))};
}

}  // namespace supple
