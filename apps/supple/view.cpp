// supple view: caches, characters and exported files on a page in the browser, or as pictures.
#include <memory>

#include "arguments.h"
#include "help.h"
#include "interrupt.h"
#include "program.h"
#include "progress.h"
#include "serving.h"
#include "supple/core/log.h"
#include "view_pictures.h"
#include "viewer/open_exhibits.h"
#include "viewer/server.h"

namespace supple::app {
namespace {

struct ViewOptions {
  CommonOptions common;
  std::vector<std::string> inputs;
  viewer::ExhibitOptions exhibits;
  ServingOptions serving;
  PictureRequest pictures;
};

int view(const ViewOptions& options) {
  apply(options.common);
  const bool pictures = wants_pictures(options.pictures);
  const InterruptGuard guard;
  auto exhibits = viewer::open_exhibits(options.inputs, options.exhibits);
  const viewer::Server server(std::move(exhibits), server_options(options.serving));
  if (pictures) {
    Progress progress(options.common.quiet ? ProgressStyle::none : ProgressStyle::automatic, 0, 0);
    make_pictures(options.pictures, server.url(),
                  {[&](const std::string& file) { guard.stop_if_interrupted(file); },
                   [&](const std::string& file, int count, int total) {
                     progress.writing(file, count, total);
                   },
                   [&](const std::string& file, const std::string& line) {
                     if (!options.common.quiet) progress.wrote(file, line);
                   }});
    return done;
  }
  announce(server, options.serving);
  log_info("Ctrl-C ends it");
  serve(server, guard, false);
  return done;
}

constexpr const char* examples =
    R"(  supple view hero.supple                      play a cache in the browser
  supple view hero.glb                         every clip of a character
  supple view skinned.supple flesh.supple      compare two caches
  supple view hero.pc2 --mesh hero.glb         an exported file
  supple view hero.supple --shot hero.png --frame 1012 --camera quarter
  supple view hero.supple --movie hero.mp4 --size 1920x1080
)";

}  // namespace

void add_view_command(CLI::App& program, int& status) {
  auto options = std::make_shared<ViewOptions>();
  CLI::App* command = program.add_subcommand(
      "view", "Look at caches, characters and exported files in the browser, or make pictures.");
  command->footer(help_footer(examples));
  command
      ->add_option("inputs", options->inputs,
                   "Caches (NAME.supple), characters (.glb, .gltf, .fbx), scenes (.json), meshes "
                   "(.obj, tets), motions (.bvh), exported files (.pc2, .mdd, .usda, .pvd, a "
                   "folder of OBJ files).")
      ->required()
      ->check(not_empty())
      ->type_name("FILE");
  command->add_option("--clip", options->exhibits.clip, "Show this clip of a character only.")
      ->type_name("NAME");
  command
      ->add_option("--mesh", options->exhibits.mesh,
                   "File with the triangles of a .pc2 or .mdd that has no cache beside it.")
      ->type_name("FILE");
  add_serving_options(*command, options->serving);
  add_picture_options(*command, options->pictures);
  add_common_options(*command, options->common);
  command->callback([options, &status] { status = view(*options); });
}

}  // namespace supple::app
