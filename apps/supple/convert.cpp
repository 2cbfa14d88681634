// supple convert: exports of a cache, made later.
#include <cstdio>
#include <map>
#include <memory>

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
  for (const std::string& output : options.outputs) {
    Progress progress(options.common.quiet ? ProgressStyle::none : ProgressStyle::automatic, 0, 0);
    const ExportOptions export_options{
        options.up, [&](int count, int total) { progress.writing(output, count, total); }};
    const std::string line = export_cache(cache, output, export_options);
    if (!options.common.quiet) std::printf("wrote %s\n", line.c_str());
  }
  return done;
}

}  // namespace

void add_convert_command(CLI::App& program, int& status) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App* command = program.add_subcommand("convert", "Export a cache to other formats.");
  command->add_option("cache", options->cache, "Cache folder (NAME.supple).")
      ->required()
      ->type_name("FOLDER");
  command
      ->add_option(
          "-o,--output", options->outputs,
          "What to write, by extension: .glb, .pc2, .mdd, .usda, .pvd, or a folder for OBJ files.")
      ->required()
      ->type_name("FILE")
      ->allow_extra_args(false);
  const std::map<std::string, UpAxis> axes = {{"y", UpAxis::y}, {"z", UpAxis::z}};
  command
      ->add_option("--up", options->up,
                   "Axis that points up in exports (z for Blender); .glb is always y.")
      ->transform(CLI::CheckedTransformer(axes, CLI::ignore_case).description("{y,z}"))
      ->type_name("AXIS");
  add_common_options(*command, options->common);
  command->callback([options, &status] { status = convert(*options); });
}

}  // namespace supple::app
