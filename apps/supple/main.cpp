// The supple program: commands are in files of their own.
#include <cstdio>
#include <exception>
#include <new>

#include "program.h"
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

void add_common_options(CLI::App& command, CommonOptions& options) {
  command
      .add_option("--threads", options.threads,
                  "Threads to use; 0 is one per core. Results do not depend on it.")
      ->check(CLI::Range(0, 1024))
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
  command->callback([&status] {
    std::printf("supple %s\nsimd %s, %d threads\n", version, simd_target_name(), thread_count());
    status = done;
  });
}

}  // namespace supple::app

namespace {

constexpr const char* footer = R"(
EXAMPLES
  supple simulate hero.glb                     play the first clip into hero.supple
  supple simulate hero.glb --clip walk -o hero.pc2 --up z
  supple simulate scene.json --resume          go on where an interrupted run stopped
  supple simulate hero.glb --motion walk.bvh   put motion capture on a character
  supple inspect hero.glb                      facts and problems of a file
  supple convert hero.supple -o baked.glb      export a cache later

EXIT CODES
  0 done   1 simulation failed   2 bad usage   3 bad input file   4 cannot write   130 interrupted)";

}  // namespace

int main(int argc, char** argv) {
  using namespace supple;
  CLI::App program(
      "Soft tissue for animated characters: a rigged character and its animation in, flesh that "
      "moves out.",
      "supple");
  program.footer(footer);
  program.require_subcommand(1);
  program.set_version_flag("--version", std::string("supple ") + version);
  program.get_formatter()->column_width(34);
  int status = app::done;
  app::add_simulate_command(program, status);
  app::add_inspect_command(program, status);
  app::add_convert_command(program, status);
  app::add_schema_command(program, status);
  app::add_completion_command(program, status);
  app::add_version_command(program, status);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help and --version
    std::fprintf(stderr, "error: %s\nTry 'supple --help'.\n", error.what());
    return app::bad_usage;
  } catch (const Error& error) {
    log_error("{}", error.what());
    return app::exit_code(error.kind());
  } catch (const std::bad_alloc&) {
    log_error("out of memory");
    return app::simulation_failed;
  } catch (const std::exception& error) {
    log_error("unexpected failure: {}", error.what());
    return app::simulation_failed;
  }
  return status;
}
