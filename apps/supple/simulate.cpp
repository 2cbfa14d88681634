// supple simulate: a scene or character in, a cache and exports out.
#include <cstdio>
#include <memory>
#include <optional>

#include "arguments.h"
#include "help.h"
#include "interrupt.h"
#include "live.h"
#include "program.h"
#include "progress.h"
#include "supple/core/file.h"
#include "supple/core/log.h"
#include "supple/io/cache.h"
#include "supple/io/export.h"
#include "supple/io/load.h"
#include "supple/io/report_file.h"
#include "supple/io/scene_file.h"
#include "supple/io/staging_folder.h"
#include "supple/sim/scene_fields.h"
#include "supple/sim/session.h"
#include "supple/sim/tune.h"

namespace supple::app {
namespace {

namespace fs = std::filesystem;

struct SimulateOptions {
  CommonOptions common;
  std::string input;
  std::vector<std::string> outputs;
  std::string clip, motion, body, skinning, frames, detail;
  double rate = 0, scale = 0;
  int preroll = -1, checkpoint_every = -1, budget = 0, cells = 0, levels = -1, elements = 0;
  bool split = false, quasistatic = false, resume = false, dry_run = false, discard_cache = false,
       live = false;
  ServingOptions serving;
  UpAxis up = UpAxis::y;
  std::string progress = "auto";
};

ProgressStyle style_of(const SimulateOptions& options) {
  if (options.common.quiet || options.progress == "none") return ProgressStyle::none;
  if (options.progress == "bar") return ProgressStyle::bar;
  if (options.progress == "plain") return ProgressStyle::plain;
  if (options.progress == "json") return ProgressStyle::json;
  return ProgressStyle::automatic;
}

// The scene to run: the given file, or a scene around the given character, under the command line.
Scene scene_from(const SimulateOptions& options) {
  Scene scene;
  if (extension_of(options.input) == ".json") {
    scene = read_scene(options.input);
  } else {
    scene.character.file = options.input;
    scene.name = fs::path(options.input).stem().string();
  }
  if (!options.clip.empty()) scene.character.clip = options.clip;
  if (!options.motion.empty()) scene.character.motion.file = options.motion;
  if (!options.body.empty()) scene.body.type = options.body;
  if (options.quasistatic) scene.body.dynamic = false;
  if (options.budget > 0) scene.body.budget = options.budget;
  if (options.cells > 0) scene.body.cells = options.cells;
  if (options.levels >= 0) scene.body.voxels.levels = options.levels;
  if (options.elements > 0) scene.body.tets.elements = options.elements;
  if (options.split) scene.body.voxels.split = true;
  if (!options.detail.empty()) scene.body.surface.detail = options.detail;
  for (const auto& word : skinning_words)
    if (options.skinning == word.word) scene.character.skinning = word.value;
  if (!options.frames.empty()) parse_frames(options.frames, scene.frames);
  if (options.rate > 0) scene.frames.rate = options.rate;
  if (options.scale > 0) scene.character.scale = options.scale;
  if (options.preroll >= 0) scene.frames.preroll = options.preroll;
  if (options.checkpoint_every >= 0) scene.output.checkpoint_every = options.checkpoint_every;
  if (!options.outputs.empty()) scene.output.files = options.outputs;
  return scene;
}

// The settings results depend on: no places on disk, but the content of every input.
Json settings_of(const Scene& scene, const PreparedScene& prepared) {
  Scene essential = scene;
  essential.character.file = fs::path(scene.character.file).filename().string();
  essential.character.motion.file = fs::path(scene.character.motion.file).filename().string();
  for (ColliderSettings& collider : essential.body.contact.colliders)
    collider.file = fs::path(collider.file).filename().string();
  for (BoneSettings& bone : essential.body.attach.bones)
    bone.file = fs::path(bone.file).filename().string();
  essential.body.surface.detail = fs::path(scene.body.surface.detail).filename().string();
  for (ObjectSettings& object : essential.objects) {
    object.file = fs::path(object.file).filename().string();
    object.detail = fs::path(object.detail).filename().string();
  }
  Json settings = scene_to_json(essential);
  settings.erase("output");
  for (const std::string& input : prepared.inputs)
    settings["inputs"][fs::path(input).filename().string()] =
        fmt::format("{:016x}", checksum(read_file(input)));
  return settings;
}

// A run on its way: everything that must be at hand until its report is written.
struct Run {
  Scene scene;
  PreparedScene prepared;
  Json settings;
  OutputPlan plan;
  std::unique_ptr<Session> session;
  std::optional<CacheWriter> cache;  // held to the end, so that no other run replaces it
  std::unique_ptr<LiveView> live;    // null when nobody wants to watch
};

// Where results go; a name that cannot be written is the fault of whoever gave it.
OutputPlan plan_of(const Scene& scene, const SimulateOptions& options) {
  try {
    return plan_outputs(scene.output.files, scene.name);
  } catch (const Error& error) {
    if (!options.outputs.empty() || error.kind() != ErrorKind::usage) throw;
    throw_input_error(options.input, "output.files", error.what());
  }
}

Run set_up(const SimulateOptions& options) {
  Run run;
  run.scene = scene_from(options);
  run.plan = plan_of(run.scene, options);
  run.prepared = prepare_scene(run.scene);
  for (const std::string& note : run.prepared.notes) log_warning("{}", note);
  if (!run.prepared.retargeting.pairs.empty()) {
    log_info("motion: {} joints matched, scale {:.4g}", run.prepared.retargeting.pairs.size(),
             run.prepared.retargeting.scale);
    for (const auto& [joint, source] : run.prepared.retargeting.pairs)
      log_debug("motion: {} follows {}", joint, source);
    for (const std::string& joint : run.prepared.retargeting.unmatched)
      log_debug("motion: {} has no counterpart", joint);
  }
  run.settings = settings_of(run.scene, run.prepared);
  if (needs_tuning(run.scene.body.adjust)) {
    TuneOptions tuning;
    tuning.say = [](const std::string& line) { log_info("tuning: {}", line); };
    const InterruptGuard guard;
    Progress progress(style_of(options), 0, 0);
    tuning.progressed = [&](const TuneProgress& at) {
      guard.stop_if_interrupted(options.input);
      progress.measuring(at.run, at.runs, at.frame, at.frames);
    };
    const TuneReport tuned =
        tune(run.prepared.character, run.scene, run.prepared.clip, options.input, tuning);
    log_info("tuned: stiffness {:.4g}x, gravity {:.4g}x, damping {:.4g}x, inertia {:.4g}x",
             tuned.factors.stiffness, tuned.factors.gravity, tuned.factors.damping,
             tuned.factors.inertia);
  }
  run.session = std::make_unique<Session>(run.prepared.character, run.scene, run.prepared.clip,
                                          options.input);
  return run;
}

void describe_run(const Run& run) {
  const Character& character = *run.prepared.character;
  const FrameRange& range = run.session->range();
  log_info("{}: {} vertices, {} triangles, {} joints", character.name,
           character.skin.positions.size(), character.skin.triangles.size(),
           character.skeleton.size());
  log_info("frames {} to {} at {:.6g} per second, clip '{}', body '{}'", range.first, range.last,
           range.rate, run.prepared.clip ? run.prepared.clip->name : "none",
           body_type(run.scene.body, character));
  std::string facts;
  for (const BodyFact& fact : run.session->body().facts())
    facts += fmt::format("{}{} {:.6g}{}{}", facts.empty() ? "" : ", ", fact.name, fact.value,
                         fact.unit.empty() ? "" : " ", fact.unit);
  if (!facts.empty()) log_info("{}: {}", body_type(run.scene.body, character), facts);
}

// ", N MB are free" where a file is to be written, or nothing when that is not known.
std::string free_space(const fs::path& path) {
  std::error_code code;
  fs::path place = fs::absolute(path);
  while (place.has_relative_path() && !fs::exists(place, code)) place = place.parent_path();
  const fs::space_info space = fs::space(place, code);
  return code ? ""
              : fmt::format(", {:.0f} MB are free", static_cast<double>(space.available) / 1e6);
}

// Checks everything, times a few frames and says what the whole would take.
int dry_run(Run& run) {
  constexpr int sample_frames = 3;
  describe_run(run);
  const FrameRange& range = run.session->range();
  FrameRecord record;
  double seconds = 0;
  int frames = 0;
  size_t bytes = 0;
  for (; frames < sample_frames && !run.session->done(); ++frames) {
    seconds += run.session->advance(record).seconds;
    bytes = frame_chunk(record).serialise().size();
  }
  const double total = seconds / frames * range.count();
  std::printf("dry run: nothing is written\n");
  std::printf("  cache    %s\n", run.plan.cache.string().c_str());
  for (const fs::path& path : run.plan.exports)
    std::printf("  export   %s\n", path.string().c_str());
  std::printf("  frames   %d (%d to %d)\n", range.count(), range.first, range.last);
  std::printf("  time     about %.3g s (%.3g s per frame, measured on %d)\n", total,
              total / range.count(), frames);
  std::printf("  memory   about %.0f MB\n", peak_memory_bytes() / 1e6);
  std::printf("  disk     about %.1f MB for the cache%s\n",
              static_cast<double>(bytes) * range.count() / 1e6, free_space(run.plan.cache).c_str());
  return done;
}

// Finds out before the first frame what cannot be written after the last one.
void check_outputs(const Run& run, const SimulateOptions& options) {
  std::vector<std::string> inputs = run.prepared.inputs;
  inputs.push_back(options.input);
  for (const fs::path& path : run.plan.exports) check_export(path, inputs);
  check_cache_name(run.plan.cache);
  std::error_code code;
  if (!fs::exists(run.plan.cache, code)) const StagingFolder probe(run.plan.cache.parent_path());
}

// Opens the cache, and goes to where an earlier run stopped when it is to be resumed.
void open_cache(Run& run, const SimulateOptions& options) {
  CacheInfo info =
      cache_info(*run.prepared.character, run.session->range(), run.settings, run.plan.cache);
  info.extras = run.session->body().shown_once();
  if (!options.resume || !is_cache(run.plan.cache)) {
    run.cache.emplace(CacheWriter::create(run.plan.cache, info));
    return;
  }
  run.cache.emplace(CacheWriter::resume(run.plan.cache, info));
  if (const std::optional<Chunk> state = run.cache->usable_checkpoint())
    run.session->load(*state, (run.plan.cache / "checkpoint.chunk").string());
  if (run.session->done())
    log_info("all frames are there already");
  else
    log_info("resuming at frame {}", run.session->next_frame());
}

// Simulates all frames that are missing; returns true when the last one is there.
bool simulate_frames(Run& run, const SimulateOptions& options, const InterruptGuard& guard) {
  const FrameRange& range = run.session->range();
  const fs::path report_path = run.plan.cache / "report.json";
  if (run.session->done() && report_status(report_path) == "done") return true;
  RunReport so_far;
  so_far.resumed = run.session->next_frame() != range.first;
  so_far.resumed_from = run.session->next_frame();
  const Stopwatch watch;
  const auto write_status = [&](const std::string& status) {
    so_far.seconds = watch.seconds();
    if (run.live && status != "running") run.live->finish(status);
    write_report(report_path, so_far, run.settings, run.prepared.notes, status);
  };
  Progress progress(style_of(options), run.session->next_frame() - range.first, range.count());
  RunHooks hooks;
  hooks.frame = [&](const FrameRecord& record) { run.cache->write_frame(record); };
  hooks.checkpoint = [&](const Chunk& state, int) {
    run.cache->write_checkpoint(state);
    write_status("running");
  };
  hooks.progress = [&](const FrameReport& frame) {
    so_far.frames.push_back(frame);
    progress.frame(frame);
    if (run.live) run.live->frame(frame);
  };
  hooks.interrupted = [&] { return guard.interrupted(); };
  try {
    const RunReport report = supple::run(*run.session, run.scene.output.checkpoint_every, hooks);
    write_status(report.interrupted ? "interrupted" : "done");
    return !report.interrupted;
  } catch (const Error& error) {
    write_status(std::string("failed: ") + error.what());
    throw;
  }
}

void export_all(const Run& run, const SimulateOptions& options, const InterruptGuard& guard) {
  const CacheReader cache(run.plan.cache);
  for (const fs::path& path : run.plan.exports) {
    Progress progress(style_of(options), 0, 0);
    const ExportOptions export_options{options.up, [&](int count, int total) {
                                         guard.stop_if_interrupted(path.string());
                                         progress.writing(path.filename().string(), count, total);
                                       }};
    const std::string line = export_cache(cache, path, export_options);
    if (!options.common.quiet) progress.wrote(path.string(), line);
  }
}

// Removes the cache when nobody wants it, or says that it is there.
void finish_cache(const Run& run, const SimulateOptions& options) {
  const fs::path& path = run.plan.cache;
  if (options.discard_cache && !run.plan.exports.empty()) {
    std::error_code code;
    fs::remove_all(path, code);
    if (code) throw_output_error(path.string(), "cannot remove it: " + code.message());
  } else if (!options.common.quiet) {
    Progress(style_of(options), 0, 0)
        .wrote(path.string(), fmt::format("{}: {} frames, {} vertices", path.string(),
                                          run.session->range().count(),
                                          run.prepared.character->skin.positions.size()));
  }
}

int simulate(const SimulateOptions& options) {
  apply(options.common);
  Run run = set_up(options);
  check_outputs(run, options);
  if (options.dry_run) return dry_run(run);
  describe_run(run);
  const InterruptGuard guard;
  open_cache(run, options);
  if (options.live) run.live = std::make_unique<LiveView>(run.plan.cache, options.serving);
  if (!simulate_frames(run, options, guard)) {
    log_warning("interrupted before frame {}; add --resume to go on", run.session->next_frame());
    return interrupted;
  }
  export_all(run, options, guard);
  if (run.live) run.live->wait(guard);
  finish_cache(run, options);
  return done;
}

constexpr const char* examples =
    R"(  supple simulate hero.glb                     play its clip into hero.supple
  supple simulate hero.glb --clip walk -o hero.pc2 -o hero.usda --up z
  supple simulate hero.glb --motion walk.bvh   put motion capture on it
  supple simulate hero.glb --frames 1001-1048 --fps 24
  supple simulate dragon.obj --body voxels --cells 8   drop a prop of few cells on the ground
  supple simulate duck.obj --body surface      drop an incompressible duck on the floor
  supple simulate scene.json --live            watch it in the browser as it is solved
  supple simulate scene.json --dry-run         what would it take?
  supple simulate scene.json --resume          go on where a run stopped
)";

// What to simulate.
void add_scene_options(CLI::App* command, const std::shared_ptr<SimulateOptions>& options) {
  command
      ->add_option("input", options->input,
                   "Rigged character (.glb, .gltf, .fbx), mesh (.obj, tets) or scene (.json).")
      ->required()
      ->check(not_empty())
      ->type_name("FILE");
  add_output_option(*command, options->outputs,
                    "What to write, by extension: .supple (the native cache, the default), .glb, "
                    ".pc2, .mdd, .usda, .pvd, or a folder for OBJ files. May be given several "
                    "times. A cache is always kept beside exports.");
  command->add_option("--clip", options->clip, "Clip to play; the first one by default.")
      ->type_name("NAME");
  command
      ->add_option("--motion", options->motion,
                   "Motion capture (.bvh, .glb, .fbx) to put on the character.")
      ->type_name("FILE");
  std::vector<std::string> bodies(body_words.begin(), body_words.end());
  accept_words(*command->add_option("--body", options->body, "Kind of body."), bodies);
  command->add_option("--budget", options->budget, "About how many cells flesh is cut into.")
      ->check(number_between(1, 1e8))
      ->type_name("CELLS");
  command->add_option("--cells", options->cells, "Cells along the longest side of the body.")
      ->check(number_between(1, 1000))
      ->type_name("N");
  command
      ->add_option("--levels", options->levels,
                   "How often the cells of a body of type 'voxels' are halved to see where the "
                   "matter is.")
      ->check(number_between(0, 8))
      ->type_name("L");
  command
      ->add_option("--elements", options->elements,
                   "About how many elements a body of type 'tets' has.")
      ->check(number_between(1, 1e7))
      ->type_name("N");
  command->add_flag("--split", options->split,
                    "Split the skin's triangles where they cross the cells of a body of type "
                    "'voxels', so that large ones bend; the output keeps a map to the input.");
  command
      ->add_option("--detail-mesh", options->detail,
                   "Detailed mesh that is shown and follows the simulated one of a body of type "
                   "'surface'.")
      ->type_name("FILE");
  command->add_flag("--quasistatic", options->quasistatic,
                    "Every frame in equilibrium, without inertia.");
  accept_words(
      *command->add_option("--skinning", options->skinning, "How joint motions are blended."),
      {"linear", "dual_quaternion"});
  command
      ->add_option("--frames", options->frames,
                   "Number of the first frame, or FIRST-LAST; the clip starts at FIRST.")
      ->type_name("RANGE");
  command->add_option("--fps", options->rate, "Frames per second; the clip's by default.")
      ->check(number_between(1e-3, 1e4))
      ->type_name("RATE");
  command->add_option("--scale", options->scale, "Metres per length unit of the character file.")
      ->check(positive_number())
      ->type_name("FACTOR");
}

// How to run it.
void add_run_options(CLI::App* command, const std::shared_ptr<SimulateOptions>& options) {
  command->add_option("--preroll", options->preroll, "Frames the body settles in the first pose.")
      ->check(number_between(0, 100000))
      ->type_name("N");
  command
      ->add_option("--checkpoint-every", options->checkpoint_every, "Frames between checkpoints.")
      ->check(number_between(0, 1000000))
      ->type_name("N");
  command->add_flag("--resume", options->resume,
                    "Go on where an interrupted run of the same scene stopped.");
  command->add_flag("--dry-run", options->dry_run,
                    "Check everything and estimate time, memory and disk; write nothing.");
  command->add_flag("--discard-cache", options->discard_cache,
                    "Remove the cache once the exports are written.");
  command->add_flag("--live", options->live,
                    "Show frames in the browser as they are solved; the run does not wait for it.");
  add_serving_options(*command, options->serving);
  add_up_option(*command, options->up);
  accept_words(*command->add_option(
                   "--progress", options->progress,
                   "How progress is shown: by default a bar on a terminal and a line per frame "
                   "elsewhere; JSON lines for other programs."),
               {"auto", "bar", "plain", "json", "none"});
}

}  // namespace

void add_simulate_command(CLI::App& program, int& status) {
  auto options = std::make_shared<SimulateOptions>();
  CLI::App* command =
      program.add_subcommand("simulate", "Simulate a scene, or a character alone, frame by frame.");
  command->footer(help_footer(examples));
  add_scene_options(command, options);
  add_run_options(command, options);
  add_common_options(*command, options->common);
  command->callback([options, &status] { status = simulate(*options); });
}

}  // namespace supple::app
