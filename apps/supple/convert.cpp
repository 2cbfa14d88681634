// supple convert: exports of a cache, made later.
#include <cstdio>
#include <memory>

#include "arguments.h"
#include "help.h"
#include "interrupt.h"
#include "program.h"
#include "progress.h"
#include "supple/io/cache.h"
#include "supple/io/export.h"

namespace supple::app {
namespace {

struct ConvertOptions {
  CommonOptions common;
  std::string cache;
  std::vector<std::string> outputs;
  UpAxis up = UpAxis::y;
};

int convert(const ConvertOptions& options) {
  apply(options.common);
  const CacheReader cache(options.cache);
  if (!options.common.quiet && cache.frame_count() < cache.info().range.count())
    std::fprintf(stderr, "note: the cache has %d of %d frames so far\n", cache.frame_count(),
                 cache.info().range.count());
  for (const std::string& output : options.outputs)
    check_export(output, {cache.source_path().string()});
  const InterruptGuard guard;
  for (const std::string& output : options.outputs) {
    Progress progress(options.common.quiet ? ProgressStyle::none : ProgressStyle::automatic, 0, 0);
    const ExportOptions export_options{options.up, [&](int count, int total) {
                                         guard.stop_if_interrupted(output);
                                         progress.writing(output, count, total);
                                       }};
    const std::string line = export_cache(cache, output, export_options);
    if (!options.common.quiet) progress.wrote(output, line);
  }
  return done;
}

}  // namespace

void add_convert_command(CLI::App& program, int& status) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App* command = program.add_subcommand("convert", "Export a cache to other formats.");
  command->footer(help_footer(
      "  supple convert hero.supple -o hero.glb              with the hero's materials\n"
      "  supple convert hero.supple -o hero.pc2 --up z       for Blender's Mesh Cache\n"
      "  supple convert hero.supple -o obj/ -o hero.usda     several at once\n"));
  command->add_option("cache", options->cache, "Cache folder (NAME.supple).")
      ->required()
      ->check(not_empty())
      ->type_name("FOLDER");
  add_output_option(*command, options->outputs,
                    "What to write, by extension: .glb, .pc2, .mdd, .usda, .pvd, or a folder for "
                    "OBJ files. May be given several times.")
      ->required();
  add_up_option(*command, options->up);
  add_common_options(*command, options->common);
  command->callback([options, &status] { status = convert(*options); });
}

}  // namespace supple::app
