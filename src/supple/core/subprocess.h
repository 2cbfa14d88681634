// Runs another program with pipes to it, so that encoders and browsers can do their part of the
// work. The program and everything it starts end with the object. POSIX only. Descriptors of this
// process other than the pipes asked for are closed in the program; a program that leaves its
// process group on purpose is not followed.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "supple/core/bytes.h"

namespace supple {

/// The file that would run for a program's name: as given when it has a slash, else found on PATH;
/// nothing when there is none that may be executed.
std::optional<std::string> find_program(std::string_view name);

/// How long to wait, and what to look at meanwhile.
struct Patience {
  std::chrono::milliseconds limit{60000};
  std::function<void()> check;  ///< called some twenty times a second; ends the wait by throwing
};

/// What one descriptor of a program is connected with.
enum class PipeUse {
  nothing,       ///< /dev/null
  to_program,    ///< what send() writes
  from_program,  ///< collected for received()
  last_words     ///< like from_program, but only the last 64 KiB are kept
};

/// What to run, and how.
struct ProgramStart {
  std::vector<std::string> command;  ///< the file to execute (see find_program), then arguments
  std::vector<PipeUse> channels;     ///< by descriptor, 0 on; 0 to 2 are `nothing` when left out
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< added to this process's
};

/// A running program. Members are for one thread at a time.
class Subprocess {
 public:
  /// Starts the program in a process group of its own; throws an output error naming it when that
  /// is not possible.
  explicit Subprocess(const ProgramStart& start);

  /// Kills the whole process group.
  ~Subprocess();
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;

  /// Writes all bytes to the program, collecting what it says meanwhile; false when it has closed
  /// that descriptor. Throws an output error when it does not take them in time.
  bool send(int descriptor, ByteView bytes, const Patience& patience);

  /// Closes our end of a descriptor: for the program its input ends here.
  void close(int descriptor);

  /// Waits until the program has said something on any channel; false once all have ended or the
  /// time is up.
  bool receive(const Patience& patience);

  /// What has come from a descriptor; the caller may take it out.
  Bytes& received(int descriptor) { return m_channels.at(size_t(descriptor)).received; }

  /// True once the program has closed a descriptor (or died) and all it said has been collected.
  bool ended(int descriptor) const { return m_channels.at(size_t(descriptor)).file < 0; }

  /// Waits until the program has ended, collecting what it says meanwhile, and ends whatever it has
  /// started; returns its exit status (128 + number for a signal), or nothing when the time is up.
  std::optional<int> wait(const Patience& patience);

  /// Kills the process group now.
  void kill();

  /// The id of the process.
  int id() const { return m_process; }

  /// The program's name without folders, for messages.
  const std::string& name() const { return m_name; }

 private:
  struct Pipe {
    PipeUse channel = PipeUse::nothing;
    int file = -1;  ///< our end; -1 when closed
    Bytes received = {};
  };

  void start(const ProgramStart& start);
  bool collect(int writable_descriptor, std::chrono::milliseconds wait);
  void read_into(Pipe& pipe);
  void close_all();
  [[noreturn]] void fail(std::string_view problem) const;

  std::string m_name;
  std::vector<Pipe> m_channels;
  int m_process = -1;
  std::optional<int> m_status;
};

/// What came of a program that ran to its end.
struct ProgramResult {
  int status = 0;
  Bytes output;
  std::string errors;  ///< the end of what it wrote to standard error
};

/// Runs a program to its end; throws an output error when it does not end in time.
ProgramResult run_program(const std::vector<std::string>& command, const Patience& patience);

}  // namespace supple
