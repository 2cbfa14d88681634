// supple rig: a skeleton and skin weights for a mesh that has none.
#include <cstdio>
#include <memory>

#include "arguments.h"
#include "help.h"
#include "program.h"
#include "supple/core/timer.h"
#include "supple/io/bvh_reader.h"
#include "supple/io/character_writer.h"
#include "supple/io/export.h"
#include "supple/io/load.h"
#include "supple/rig/rig_mesh.h"
#include "supple/rig/scale.h"

namespace supple::app {
namespace {

struct RigCommandOptions {
  CommonOptions common;
  std::string mesh;
  std::string skeleton;
  std::string clip;
  std::vector<std::string> outputs;
  double scale = 1;
  UpAxis up = UpAxis::y;
  RigOptions rig;
};

// Turns a mesh whose third axis points up: (x, y, z) becomes (x, z, -y).
void stand_up(Character& character) {
  const auto turn = [](Vec3f& p) { p = Vec3f(p[0], p[2], -p[1]); };
  for (Vec3f& position : character.skin.positions) turn(position);
  for (BlendShape& shape : character.shapes)
    for (Vec3f& offset : shape.offsets) turn(offset);
}

SkeletonSource read_skeleton(const std::string& file, const std::string& clip) {
  SkeletonSource source;
  source.file = file;
  if (extension_of(file) == ".bvh") {
    Motion motion = read_bvh(file);
    if (!clip.empty() && clip != motion.clip.name)
      throw_input_error(file, "clips",
                        fmt::format("there is no clip '{}'; its only one is '{}'", printable(clip),
                                    printable(motion.clip.name)));
    source.skeleton = std::move(motion.skeleton);
    source.clips.push_back(std::move(motion.clip));
    return source;
  }
  if (!clip.empty()) source.clips.push_back(read_motion(file, clip).clip);
  Character character = read_character(file);
  if (clip.empty()) source.clips = std::move(character.clips);
  source.skeleton = std::move(character.skeleton);
  source.skin = std::move(character.skin);
  return source;
}

std::string output_of(const RigCommandOptions& options) {
  if (options.outputs.size() != 1)
    throw Error(ErrorKind::usage, "one file to write is needed: -o rigged.glb");
  const std::string& output = options.outputs.front();
  if (extension_of(output) != ".glb")
    throw Error(ErrorKind::usage,
                fmt::format("cannot write {}: a rigged character is written as .glb", output));
  check_export(output, {options.mesh, options.skeleton});
  return output;
}

// What became of the skeleton, in one line.
std::string fit_text(const RigCommandOptions& options, const SkeletonFit& fit) {
  if (options.rig.fit == FitKind::none) return "left as it is";
  if (fit.fitted_before) return "fits the mesh as it is";
  std::string text = fmt::format("scaled by {:.4g}, moved by {:.3g} {:.3g} {:.3g} m", fit.scale,
                                 fit.shift[0], fit.shift[1], fit.shift[2]);
  if (fit.turn != 0) text += fmt::format(", turned by {:.0f} degrees", fit.turn);
  if (fit.largest_bend > 0)
    text += fmt::format(", joints bent by up to {:.0f} degrees", fit.largest_bend);
  return text;
}

void print_report(const RigCommandOptions& options, const Character& character,
                  const RigReport& report, double seconds, const std::string& output) {
  std::printf("  mesh      %zu vertices, %zu triangles, assumed to stand along %s, facing %s\n",
              character.skin.positions.size(), character.skin.triangles.size(),
              options.up == UpAxis::z ? "+Z" : "+Y", options.up == UpAxis::z ? "-Y" : "+Z");
  std::printf("  skeleton  %s; %.0f %% of its bones inside\n",
              fit_text(options, report.fit).c_str(), 100 * report.fit.inside);
  std::printf("  weights   %zu of %zu joints carry the skin, in cells of %.3g m, %.1f s\n",
              report.bones, report.joints, report.cell_size, seconds);
  if (report.loose_vertices > 0)
    std::printf("  note      %zu vertices touch no bone's flesh and follow the nearest part\n",
                report.loose_vertices);
  if (report.fit.inside < 0.5)
    std::printf(
        "  note      most of the skeleton lies outside the mesh: check pose, scale and --up\n");
  for (const Clip& clip : character.clips)
    std::printf("  clip      %s: %.2f s\n", printable(clip.name).c_str(),
                clip.end() - clip.start());
  std::printf("%s: rigged\n", output.c_str());
}

int rig(const RigCommandOptions& options) {
  apply(options.common);
  const std::string output = output_of(options);
  Character character = read_character(options.mesh);
  if (options.up == UpAxis::z) stand_up(character);
  scale_character(character, options.scale);
  SkeletonSource source = read_skeleton(options.skeleton, options.clip);
  const Stopwatch watch;
  const RigReport report = rig_mesh(character, std::move(source), options.rig);
  const double seconds = watch.seconds();
  write_character(output, character);
  if (!options.common.quiet) print_report(options, character, report, seconds, output);
  return done;
}

void add_fit_options(CLI::App& command, RigCommandOptions& options) {
  CLI::Option* fit = command.add_option_function<std::string>(
      "--fit",
      [&options](const std::string& word) {
        options.rig.fit = word == "on"     ? FitKind::pose
                          : word == "size" ? FitKind::size
                                           : FitKind::none;
      },
      "Whether a skeleton of another size and pose is fitted to the mesh: its size and pose (on), "
      "its size only, or not at all.");
  accept_words(*fit, {"on", "size", "off"});
  CLI::Option* up = command.add_option_function<std::string>(
      "--up",
      [&options](const std::string& word) { options.up = word == "z" ? UpAxis::z : UpAxis::y; },
      "Axis that points up in the mesh's file; the result has y up.");
  accept_words(*up, {"y", "z"});
  command.add_option("--scale", options.scale, "Metres per length unit of the mesh.")
      ->check(positive_number())
      ->type_name("FACTOR");
}

void add_weight_options(CLI::App& command, AutoWeightOptions& options) {
  command.add_option("--influences", options.influences, "Most bones a vertex follows.")
      ->check(number_between(1, 8))
      ->type_name("N");
  command
      .add_option("--smoothness", options.smoothness,
                  "Width of the change from bone to bone; 1 is usual.")
      ->check(number_between(0.1, 10))
      ->type_name("FACTOR");
  command
      .add_option("--resolution", options.resolution,
                  "Cells along the longest side of the mesh; 0 picks them by its volume.")
      ->check(number_between(0, 512))
      ->type_name("N");
  command
      .add_option("--leave-out", options.left_out,
                  "A joint that carries no skin. May be given several times.")
      ->check(not_empty())
      ->type_name("NAME")
      ->allow_extra_args(false);
}

}  // namespace

void add_rig_command(CLI::App& program, int& status) {
  auto options = std::make_shared<RigCommandOptions>();
  CLI::App* command = program.add_subcommand(
      "rig", "Give a mesh a skeleton, skin weights and motion: a rigged character.");
  command->footer(help_footer(
      "  supple rig body.obj --skeleton walk.bvh -o body.glb         from motion capture\n"
      "  supple rig body.obj --skeleton hero.glb -o body.glb         with another's rig\n"
      "  supple rig hero.glb --skeleton hero.glb -o anew.glb         with new weights\n"));
  command->add_option("mesh", options->mesh, "Mesh: .obj, .glb, .gltf, .fbx, .mesh, .msh, .node.")
      ->required()
      ->check(not_empty())
      ->type_name("FILE");
  command
      ->add_option("--skeleton", options->skeleton,
                   "Skeleton and its clips: .bvh, .glb, .gltf or .fbx.")
      ->required()
      ->check(not_empty())
      ->type_name("FILE");
  add_output_option(*command, options->outputs, "The rigged character to write, a .glb.")
      ->required();
  command->add_option("--clip", options->clip, "Keep only this clip of the skeleton's file.")
      ->check(not_empty())
      ->type_name("NAME");
  add_fit_options(*command, *options);
  add_weight_options(*command, options->rig.weights);
  add_common_options(*command, options->common);
  command->callback([options, &status] { status = rig(*options); });
}

}  // namespace supple::app
