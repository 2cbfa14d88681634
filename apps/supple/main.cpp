// The supple program: commands are in files of their own.
#include <cstdio>
#include <exception>
#include <new>

#include "arguments.h"
#include "help.h"
#include "program.h"
#include "streams.h"
#include "supple/core/log.h"
#include "supple/core/parallel.h"
#include "supple/core/version.h"
#include "supple/math/simd.h"

namespace supple::app {

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::simulation:
      return simulation_failed;
    case ErrorKind::usage:
      return bad_usage;
    case ErrorKind::input:
      return bad_input;
    case ErrorKind::output:
      return cannot_write;
    case ErrorKind::interrupted:
      return interrupted;
  }
  return simulation_failed;
}

std::string extension_of(const std::string& file) {
  return CLI::detail::to_lower(std::filesystem::path(file).extension().string());
}

CLI::Option* add_output_option(CLI::App& command, std::vector<std::string>& outputs,
                               const std::string& help) {
  return command.add_option("-o,--output", outputs, help)
      ->type_name("FILE")
      ->check(not_empty())
      ->allow_extra_args(false);
}

void add_up_option(CLI::App& command, UpAxis& up) {
  CLI::Option* option = command.add_option_function<std::string>(
      "--up", [&up](const std::string& word) { up = word == "z" ? UpAxis::z : UpAxis::y; },
      "Axis that points up in exports (z for Blender); .glb is always y.");
  accept_words(*option, {"y", "z"});
}

void add_common_options(CLI::App& command, CommonOptions& options) {
  command
      .add_option("--threads", options.threads,
                  "Threads to use; 0 is one per core. Results do not depend on it.")
      ->check(number_between(0, 1024))
      ->type_name("N");
  command.add_flag("-q,--quiet", options.quiet, "Say nothing but errors.");
  command.add_flag("-v,--verbose", options.verbose, "Say more.");
}

void apply(const CommonOptions& options) {
  set_thread_count(options.threads);
  set_log_level(options.quiet         ? LogLevel::errors
                : options.verbose > 0 ? LogLevel::debug
                                      : LogLevel::info);
}

void add_version_command(CLI::App& program, int& status) {
  CLI::App* command =
      program.add_subcommand("version", "Print the version and what the program runs on.");
  command->footer(help_footer("  supple version\n"));
  command->callback([&status] {
    std::printf("supple %s\nsimd %s, %d threads\n", version, simd_target_name(), thread_count());
    status = done;
  });
}

}  // namespace supple::app

namespace {

using namespace supple;

constexpr const char* examples =
    R"(  supple simulate hero.glb                     play its clip into hero.supple
  supple simulate hero.glb --clip walk -o hero.pc2 --up z
  supple simulate scene.json --resume          go on where a run stopped
  supple simulate hero.glb --motion walk.bvh   put motion capture on it
  supple view hero.supple                      look at it in the browser
  supple inspect hero.glb                      facts and problems of a file
  supple convert hero.supple -o baked.glb      export a cache later
  supple rig body.obj --skeleton walk.bvh -o hero.glb
)";

void add_commands(CLI::App& program, int& status) {
  app::add_simulate_command(program, status);
  app::add_inspect_command(program, status);
  app::add_convert_command(program, status);
  app::add_rig_command(program, status);
  app::add_tune_command(program, status);
  app::add_example_command(program, status);
  app::add_view_command(program, status);
  app::add_schema_command(program, status);
  app::add_completion_command(program, status);
  app::add_version_command(program, status);
}

// Does what the command line says; returns the exit code.
int run_program(int argc, char** argv) {
  CLI::App program(
      "Soft tissue for animated characters: a rigged character and its animation in, flesh that "
      "moves out.",
      "supple");
  app::set_help_layout(program);
  program.footer(app::help_footer(examples));
  program.require_subcommand(1);
  program.set_version_flag("--version", std::string("supple ") + version);
  int status = app::done;
  add_commands(program, status);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help and --version
    log_error("{} (see '{}')", app::usage_problem(program, error), app::help_command(program));
    return app::bad_usage;
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  app::prepare_streams();
  int status = app::simulation_failed;
  try {
    status = run_program(argc, argv);
  } catch (const Error& error) {
    log_error("{}", error.what());
    status = app::exit_code(error.kind());
  } catch (const std::bad_alloc&) {
    log_error("out of memory");
  } catch (const std::exception& error) {
    log_error("unexpected failure: {}", error.what());
  }
  if (!app::finish_output() && status == app::done) status = app::cannot_write;
  return status;
}
