// What the commands of the program share.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "supple/core/error.h"
#include "supple/io/animated_skin.h"

namespace supple::app {

/// Exit codes, as documented in the program's help.
enum ExitCode {
  done = 0,
  simulation_failed = 1,
  bad_usage = 2,
  bad_input = 3,
  cannot_write = 4,
  interrupted = 130
};

/// The exit code for a failure of that kind.
int exit_code(ErrorKind kind);

/// Options every command takes.
struct CommonOptions {
  int threads = 0;
  bool quiet = false;
  int verbose = 0;
};

/// The extension of a file name in lower case, ".glb".
std::string extension_of(const std::string& file);

/// Adds -o (`outputs`, with its help) to a command.
CLI::Option* add_output_option(CLI::App& command, std::vector<std::string>& outputs,
                               const std::string& help);

/// Adds --up (`up`, y or z) to a command.
void add_up_option(CLI::App& command, UpAxis& up);

/// Adds --threads, -q and -v to a command.
void add_common_options(CLI::App& command, CommonOptions& options);

/// Puts --threads, -q and -v into effect.
void apply(const CommonOptions& options);

/// Adds a command; each returns through `status` the exit code it ends with.
void add_simulate_command(CLI::App& program, int& status);
void add_inspect_command(CLI::App& program, int& status);
void add_convert_command(CLI::App& program, int& status);
void add_example_command(CLI::App& program, int& status);
void add_rig_command(CLI::App& program, int& status);
void add_tune_command(CLI::App& program, int& status);
void add_view_command(CLI::App& program, int& status);
void add_schema_command(CLI::App& program, int& status);
void add_completion_command(CLI::App& program, int& status);
void add_version_command(CLI::App& program, int& status);

}  // namespace supple::app
