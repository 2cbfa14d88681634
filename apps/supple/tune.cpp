// supple tune: how a scene's dynamics would be, and the inertia that makes them as asked.
#include <cstdio>
#include <filesystem>
#include <memory>

#include "arguments.h"
#include "help.h"
#include "interrupt.h"
#include "program.h"
#include "progress.h"
#include "supple/core/file.h"
#include "supple/core/log.h"
#include "supple/io/load.h"
#include "supple/io/scene_file.h"
#include "supple/sim/tune.h"

namespace supple::app {
namespace {

namespace fs = std::filesystem;

struct TuneCommand {
  CommonOptions common;
  std::string input, output, plot;
  std::string frequency, amplitude, sag, half_life, inertia, frames;
  double tolerance = 1;
  int passes = 4;
};

void print_row(const char* name, const char* unit, double before, double after, double asked) {
  if (before > 0)
    std::printf("%-10s %12.5g %12.5g %-4s %9.4gx %9.4gx\n", name, before, after, unit,
                after / before, asked);
  else
    std::printf("%-10s %12.5g %12.5g %-4s %10s %9.4gx\n", name, before, after, unit, "-", asked);
}

void print_report(const TuneReport& report, const DialRatios& asked) {
  std::printf("%-10s %12s %12s %-4s %10s %10s\n", "", "before", "after", "", "ratio", "asked");
  print_row("frequency", "Hz", report.before.frequency, report.after.frequency, asked.frequency);
  print_row("amplitude", "m√s", report.before.amplitude, report.after.amplitude, asked.amplitude);
  print_row("sag", "m", report.before.sag, report.after.sag, asked.sag);
  print_row("half-life", "s", report.before.half_life, report.after.half_life, asked.half_life);
  if (!report.before.from_trajectory)
    std::printf(
        "the motion never rests for long enough: frequency and half-life are those of a "
        "pluck in the last pose\n");
  std::printf("stiffness %.5gx, gravity %.5gx, damping %.5gx, inertia %.5gx, in %zu runs\n",
              report.factors.stiffness, report.factors.gravity, report.factors.damping,
              report.factors.inertia, report.passes.size() + 1);
}

// Time and swing of both runs, as a table for plots.
std::string plot_text(const TuneReport& report) {
  std::string text = "time,before,after\n";
  const size_t rows = std::min(report.signal_before.size(), report.signal_after.size());
  for (size_t i = 0; i < rows; ++i)
    text += fmt::format("{:.6g},{:.9g},{:.9g}\n", report.signal_before[i].first,
                        report.signal_before[i].second, report.signal_after[i].second);
  return text;
}

double parse_inertia(const TuneCommand& command) {
  const double inertia = parse_ratio(command.inertia, "--inertia");
  if (inertia < 0)
    throw Error(ErrorKind::usage,
                fmt::format("--inertia: {} is not possible; it must be 0 or more", inertia));
  if (!command.amplitude.empty())
    throw Error(
        ErrorKind::usage,
        "--amplitude: the inertia that gives it is what is looked for; leave out --inertia");
  return inertia;
}

int tune_scene(const TuneCommand& command) {
  apply(command.common);
  Scene scene = read_scene(command.input);
  const Scene as_written = scene;
  if (!command.frames.empty()) parse_frames(command.frames, scene.frames);
  AdjustSettings& adjust = scene.body.adjust;
  const auto take = [](const std::string& text, const char* option, double& to) {
    if (!text.empty()) to = parse_ratio(text, option);
  };
  take(command.frequency, "--frequency", adjust.frequency);
  take(command.amplitude, "--amplitude", adjust.amplitude);
  take(command.sag, "--sag", adjust.sag);
  take(command.half_life, "--half-life", adjust.half_life);
  adjust.inertia.reset();
  adjust.stiffness.reset();
  adjust.weight.reset();
  adjust.damping_factor.reset();
  const DialRatios asked = ratios_of(adjust);
  const PreparedScene prepared = prepare_scene(scene);
  for (const std::string& note : prepared.notes) log_warning("{}", note);
  const InterruptGuard guard;
  TuneOptions options;
  options.tolerance = command.tolerance / 100;
  options.passes = command.passes;
  if (!command.inertia.empty()) options.inertia = parse_inertia(command);
  options.say = [](const std::string& line) { log_info("{}", line); };
  Progress progress(command.common.quiet ? ProgressStyle::none : ProgressStyle::automatic, 0, 0);
  options.progressed = [&](const TuneProgress& at) {
    guard.stop_if_interrupted(command.input);
    progress.measuring(at.run, at.runs, at.frame, at.frames);
  };
  const TuneReport report = tune(prepared.character, scene, prepared.clip, command.input, options);
  print_report(report, asked);
  if (!report.close_enough)
    log_warning("not all is within tolerance after {} passes; more may help (--passes)",
                report.passes.size());
  if (!command.output.empty()) {
    Scene tuned = as_written;
    tuned.body.adjust = scene.body.adjust;
    write_file(command.output, scene_to_json(tuned).dump(2) + "\n");
    if (!command.common.quiet) std::printf("wrote %s\n", command.output.c_str());
  }
  if (!command.plot.empty()) write_file(command.plot, plot_text(report));
  return done;
}

constexpr const char* examples =
    R"(  supple tune scene.json                       how it moves: frequency, amplitude, sag, half-life
  supple tune scene.json --frequency 0.5x -o slow.json       half as fast, all else as it was
  supple tune scene.json --frequency 0.5x --amplitude 1x --sag 0.5x --half-life 1x -o tuned.json
)";

}  // namespace

void add_tune_command(CLI::App& program, int& status) {
  auto command = std::make_shared<TuneCommand>();
  CLI::App* sub = program.add_subcommand(
      "tune", "Measure how a scene's flesh swings, and turn its dials until it does as asked.");
  sub->footer(help_footer(examples));
  sub->add_option("input", command->input, "Scene (.json) with a body that can be adjusted.")
      ->required()
      ->check(not_empty())
      ->type_name("FILE");
  const auto ratio = [&](const char* name, std::string& to, const char* help) {
    sub->add_option(name, to, help)->type_name("RATIO");
  };
  ratio("--frequency", command->frequency, "How fast it swings, such as 0.5x.");
  ratio("--amplitude", command->amplitude, "How far it swings.");
  ratio("--sag", command->sag, "How far its weight pulls it down.");
  ratio("--half-life", command->half_life, "How long a swing takes to die down to a half.");
  ratio("--inertia", command->inertia,
        "Factor of inertia to take, where no amplitude is asked for: runs once, corrects nothing.");
  sub->add_option("--frames", command->frames,
                  "Frames to measure on, such as 1-60, instead of all of the scene's.")
      ->type_name("FIRST-LAST");
  sub->add_option("-o,--output", command->output, "Scene to write, with the dials turned.")
      ->check(not_empty())
      ->type_name("FILE");
  sub->add_option("--plot", command->plot, "Table (.csv) to write: the swing before and after.")
      ->check(not_empty())
      ->type_name("FILE");
  sub->add_option("--tolerance", command->tolerance,
                  "Of the amplitude, in percent; of the others 10.")
      ->check(number_between(0.01, 50))
      ->type_name("PERCENT");
  sub->add_option("--passes", command->passes, "Runs that correct what was found, at most.")
      ->check(number_between(1, 100))
      ->type_name("N");
  add_common_options(*sub, command->common);
  sub->callback([command, &status] { status = tune_scene(*command); });
}

}  // namespace supple::app
