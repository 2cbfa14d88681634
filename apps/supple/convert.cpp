// supple convert: exports of a cache, made later, and of animation files.
#include <cstdio>
#include <memory>

#include "arguments.h"
#include "help.h"
#include "interrupt.h"
#include "program.h"
#include "progress.h"
#include "supple/core/error.h"
#include "supple/io/animation_reader.h"
#include "supple/io/cache.h"
#include "supple/io/export.h"

namespace supple::app {
namespace {

struct ConvertOptions {
  CommonOptions common;
  std::string input;
  std::vector<std::string> outputs;
  UpAxis up = UpAxis::y;
  std::string mesh;
  std::string from_up;  // empty: the program finds out
  std::optional<double> rate;
};

using Export = std::function<std::string(const std::string& output, const ExportOptions&)>;

void write_outputs(const ConvertOptions& options, const Export& write) {
  const InterruptGuard guard;
  for (const std::string& output : options.outputs) {
    Progress progress(options.common.quiet ? ProgressStyle::none : ProgressStyle::automatic, 0, 0);
    const ExportOptions export_options{options.up, [&](int count, int total) {
                                         guard.stop_if_interrupted(output);
                                         progress.writing(output, count, total);
                                       }};
    const std::string line = write(output, export_options);
    if (!options.common.quiet) progress.wrote(output, line);
  }
}

void convert_cache(const ConvertOptions& options) {
  const CacheReader cache(options.input);
  if (!options.mesh.empty() || !options.from_up.empty() || options.rate)
    throw Error(ErrorKind::usage,
                fmt::format("--mesh, --from-up and --fps are for animation files: the cache {} "
                            "knows these itself",
                            options.input));
  if (!options.common.quiet && cache.frame_count() < cache.info().range.count())
    std::fprintf(stderr, "note: the cache has %d of %d frames so far\n", cache.frame_count(),
                 cache.info().range.count());
  for (const std::string& output : options.outputs)
    check_export(output, {cache.source_path().string()});
  write_outputs(options, [&](const std::string& output, const ExportOptions& export_options) {
    return export_cache(cache, output, export_options);
  });
}

// The files of an animation that exports must not replace.
std::vector<std::string> inputs_of(const ConvertOptions& options) {
  std::vector<std::string> inputs = {options.input};
  const std::filesystem::path path = options.input;
  // FOLDER/NAME.obj stands for numbered files of the folder.
  if (extension_of(options.input) == ".obj")
    inputs.push_back(path.has_parent_path() ? path.parent_path().string() : ".");
  if (!options.mesh.empty()) inputs.push_back(options.mesh);
  return inputs;
}

void convert_animation(const ConvertOptions& options) {
  AnimationHints hints;
  hints.mesh = options.mesh;
  hints.rate = options.rate;
  if (!options.from_up.empty()) hints.up = options.from_up == "z" ? UpAxis::z : UpAxis::y;
  for (const std::string& output : options.outputs) check_export(output, inputs_of(options));
  std::vector<std::string> notes;
  const AnimatedSkin skin = read_animation(options.input, hints, &notes);
  for (const std::string& output : options.outputs)
    if (skin.triangles.empty() && needs_triangles(output))
      throw Error(ErrorKind::input,
                  fmt::format("{}: triangles: it has none, and {} needs them: name the mesh with "
                              "--mesh FILE",
                              options.input, output));
  if (!options.common.quiet)
    for (const std::string& note : notes)
      std::fprintf(stderr, "note: %s: %s\n", options.input.c_str(), note.c_str());
  write_outputs(options, [&](const std::string& output, const ExportOptions& export_options) {
    return export_skin(skin, output, export_options);
  });
}

int convert(const ConvertOptions& options) {
  apply(options.common);
  if (is_animation(options.input))
    convert_animation(options);
  else
    convert_cache(options);
  return done;
}

}  // namespace

void add_convert_command(CLI::App& program, int& status) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App* command = program.add_subcommand(
      "convert", "Export a cache, or convert an animation file, to other formats.");
  command->footer(help_footer(
      "  supple convert hero.supple -o hero.glb              with the hero's materials\n"
      "  supple convert hero.supple -o hero.pc2 --up z       for Blender's Mesh Cache\n"
      "  supple convert hero.supple -o obj/ -o hero.usda     several at once\n"
      "  supple convert walk.pc2 --mesh hero.glb -o walk.usda   a point cache\n"));
  command
      ->add_option("input", options->input,
                   "Cache (NAME.supple), or animation: .pc2, .mdd, .usda, .pvd, or a folder of "
                   "numbered OBJ files.")
      ->required()
      ->check(not_empty())
      ->type_name("INPUT");
  add_output_option(*command, options->outputs,
                    "What to write, by extension: .glb, .pc2, .mdd, .usda, .pvd, or a folder for "
                    "OBJ files. May be given several times.")
      ->required();
  add_up_option(*command, options->up);
  command
      ->add_option("--mesh", options->mesh,
                   "Mesh or cache a .pc2 or .mdd gets its triangles from; the cache of its name "
                   "beside it by default.")
      ->check(not_empty())
      ->type_name("FILE");
  accept_words(*command->add_option("--from-up", options->from_up,
                                    "Axis that is up in an animation file; found out by default."),
               {"y", "z"});
  command
      ->add_option("--fps", options->rate,
                   "Frames per second of an animation file; what the file or the cache beside it "
                   "says by default, or 24.")
      ->check(number_between(1e-3, 1e4))
      ->type_name("RATE");
  add_common_options(*command, options->common);
  command->callback([options, &status] { status = convert(*options); });
}

}  // namespace supple::app
