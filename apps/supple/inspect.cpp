// supple inspect: facts and problems of a file, in plain words or as JSON.
#include <cstdio>
#include <memory>

#include "arguments.h"
#include "help.h"
#include "program.h"
#include "supple/io/animation_reader.h"
#include "supple/io/bvh_reader.h"
#include "supple/io/cache.h"
#include "supple/io/load.h"
#include "supple/io/scene_file.h"
#include "supple/rig/inspection.h"
#include "supple/rig/scale.h"
#include "supple/sim/flesh_skin.h"

namespace supple::app {
namespace {

struct InspectOptions {
  CommonOptions common;
  std::string file;
  double scale = 1;
  bool json = false;
  std::string mesh;
};

Json problems_json(const std::vector<Problem>& problems) {
  Json list = Json::array();
  for (const Problem& problem : problems)
    list.push_back({{"code", problem.code}, {"message", problem.message}});
  return list;
}

Json clips_json(const std::vector<Clip>& clips) {
  Json list = Json::array();
  for (const Clip& clip : clips)
    list.push_back({{"name", clip.name},
                    {"start", clip.start()},
                    {"end", clip.end()},
                    {"rate", clip_rate(clip)},
                    {"channels", clip.channels.size()}});
  return list;
}

void print(const Json& json) {
  std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

// What flesh would take the character's lengths for.
WorldScale flesh_scale(const Character& character) {
  const FleshSkin skin(character);
  if (!skin.rigged || skin.mesh.positions.empty()) return {};
  return world_scale(static_cast<double>(bounding_box(skin.mesh.positions).sizes().maxCoeff()), 0);
}

Json character_json(const Character& character, const Inspection& found) {
  const Topology& t = found.topology;
  Json parts = Json::array();
  for (const Part& part : character.parts)
    parts.push_back({{"name", part.name},
                     {"material", part.material},
                     {"vertices", part.vertices.count},
                     {"triangles", part.triangles.count},
                     {"rigid", part.rigid}});
  Json shapes = Json::array();
  for (const BlendShape& shape : character.shapes) shapes.push_back(shape.name);
  Json attributes = Json::array();
  for (const VertexAttribute& attribute : character.attributes)
    attributes.push_back(attribute.name);
  return {{"kind", "character"},
          {"file", character.source},
          {"vertices", found.vertices},
          {"welded_vertices", found.points},
          {"triangles", found.triangles},
          {"size", {found.size[0], found.size[1], found.size[2]}},
          {"volume", found.volume},
          {"area", found.area},
          {"closed", t.closed()},
          {"open_edges", t.open_edges},
          {"holes", t.holes},
          {"shells", t.shells},
          {"joints", found.joints},
          {"bones", found.bones},
          {"most_influences", found.most_influences},
          {"rest_difference", found.rest_difference},
          {"metres_per_unit", flesh_scale(character).metres_per_unit},
          {"parts", parts},
          {"shapes", shapes},
          {"attributes", attributes},
          {"clips", clips_json(character.clips)},
          {"problems", problems_json(found.problems)}};
}

void print_clips(const std::vector<Clip>& clips) {
  for (const Clip& clip : clips)
    std::printf("  clip      %s: %.2f s, %.6g frames per second\n", printable(clip.name).c_str(),
                clip.end() - clip.start(), clip_rate(clip));
}

void print_character(const Character& character, const Inspection& found) {
  std::printf("%s: %s\n", character.source.c_str(),
              found.bones > 0 ? "a rigged character" : "a mesh without a rig");
  std::printf("  skin      %zu vertices (%zu after welding), %zu triangles, %zu part%s\n",
              found.vertices, found.points, found.triangles, character.parts.size(),
              character.parts.size() == 1 ? "" : "s");
  std::printf("  size      %.4g x %.4g x %.4g m, %s\n", found.size[0], found.size[1], found.size[2],
              found.topology.closed() ? fmt::format("volume {:.4g} m3", found.volume).c_str()
                                      : "surface not closed");
  std::printf("  rig       %zu bones among %zu joints, up to %zu per vertex\n", found.bones,
              found.joints, found.most_influences);
  if (is_skinned(character)) {
    const WorldScale scale = flesh_scale(character);
    std::printf("  flesh     for its weight and stiffness, %s\n",
                scale.reason.empty() ? "lengths are taken for metres" : scale.reason.c_str());
  }
  if (!character.shapes.empty()) std::printf("  shapes    %zu\n", character.shapes.size());
  for (const VertexAttribute& attribute : character.attributes)
    std::printf("  map       %s (%d per vertex)\n", printable(attribute.name).c_str(),
                attribute.components);
  print_clips(character.clips);
  if (found.problems.empty()) std::printf("No problems found.\n");
  if (!found.problems.empty()) std::printf("Worth knowing:\n");
  for (const Problem& problem : found.problems) std::printf("  - %s\n", problem.message.c_str());
}

void inspect_character(const InspectOptions& options) {
  Character character = read_character(options.file);
  scale_character(character, options.scale);
  const Inspection found = inspect(character);
  if (options.json)
    print(character_json(character, found));
  else
    print_character(character, found);
}

void inspect_motion(const InspectOptions& options) {
  const Motion motion = read_bvh(options.file);
  if (options.json)
    return print({{"kind", "motion"},
                  {"file", options.file},
                  {"joints", motion.skeleton.size()},
                  {"clips", clips_json({motion.clip})}});
  std::printf("%s: a motion\n  rig       %zu joints\n", options.file.c_str(),
              motion.skeleton.size());
  print_clips({motion.clip});
}

void inspect_cache(const InspectOptions& options) {
  const CacheReader cache(options.file);
  const CacheInfo& info = cache.info();
  const int frames = cache.frame_count();
  std::vector<std::string> damaged;
  for (int i = 0; i < frames; ++i) try {
      cache.read_frame(info.range.first + i);
    } catch (const Error& error) {
      damaged.emplace_back(error.what());
    }
  if (options.json)
    return print({{"kind", "cache"},
                  {"file", options.file},
                  {"name", info.name},
                  {"vertices", info.skin.positions.size()},
                  {"triangles", info.skin.triangles.size()},
                  {"first", info.range.first},
                  {"last", info.range.last},
                  {"rate", info.range.rate},
                  {"frames", frames},
                  {"damaged", damaged},
                  {"settings", info.settings}});
  std::printf("%s: a cache of '%s'\n", options.file.c_str(), printable(info.name).c_str());
  std::printf("  skin      %zu vertices, %zu triangles\n", info.skin.positions.size(),
              info.skin.triangles.size());
  std::printf("  frames    %d of %d (%d to %d at %.6g per second)\n", frames, info.range.count(),
              info.range.first, info.range.last, info.range.rate);
  for (const std::string& problem : damaged) std::printf("  - %s\n", problem.c_str());
}

// The first line of each frame that cannot be read.
std::vector<std::string> damaged_frames(const AnimatedSkin& skin) {
  std::vector<std::string> damaged;
  for (int i = 0; i < skin.frame_count; ++i) try {
      skin.frame(i);
    } catch (const Error& error) {
      damaged.emplace_back(error.what());
    }
  return damaged;
}

void inspect_animation(const InspectOptions& options) {
  std::vector<std::string> notes;
  const AnimatedSkin skin = read_animation(
      options.file, AnimationHints{options.mesh, std::nullopt, std::nullopt}, &notes);
  const Vec3f size = bounding_box(skin.frame(0).positions).sizes();
  const std::vector<std::string> damaged = damaged_frames(skin);
  const int last = skin.first_frame + skin.frame_count - 1;
  if (options.json)
    return print({{"kind", "animation"},
                  {"file", options.file},
                  {"name", skin.name},
                  {"vertices", skin.rest.size()},
                  {"triangles", skin.triangles.size()},
                  {"parts", skin.parts.size()},
                  {"maps", skin.map_names},
                  {"size", {size[0], size[1], size[2]}},
                  {"first", skin.first_frame},
                  {"last", last},
                  {"rate", skin.rate},
                  {"frames", skin.frame_count},
                  {"notes", notes},
                  {"damaged", damaged}});
  std::printf("%s: an animation of '%s'\n", options.file.c_str(), printable(skin.name).c_str());
  std::printf("  skin      %zu vertices, %zu triangles\n", skin.rest.size(), skin.triangles.size());
  std::printf("  size      %.4g x %.4g x %.4g m in the first frame\n", static_cast<double>(size[0]),
              static_cast<double>(size[1]), static_cast<double>(size[2]));
  std::printf("  frames    %d (%d to %d at %.6g per second)\n", skin.frame_count, skin.first_frame,
              last, skin.rate);
  for (const std::string& map : skin.map_names)
    std::printf("  map       %s\n", printable(map).c_str());
  for (const std::string& note : notes) std::printf("  - %s\n", note.c_str());
  for (const std::string& problem : damaged) std::printf("  - %s\n", problem.c_str());
}

void inspect_scene(const InspectOptions& options) {
  Scene scene = read_scene(options.file);
  const PreparedScene prepared = prepare_scene(scene);
  const Session session(prepared.character, scene, prepared.clip, options.file);
  const FrameRange& range = session.range();
  Json facts = Json::object();
  for (const BodyFact& fact : session.body().facts()) facts[fact.name] = fact.value;
  if (options.json)
    return print({{"kind", "scene"},
                  {"file", options.file},
                  {"first", range.first},
                  {"last", range.last},
                  {"rate", range.rate},
                  {"body", facts},
                  {"scene", scene_to_json(scene)}});
  const std::string& file = scene.character.file;
  std::printf(
      "%s: a scene\n  character %s\n  body      %s\n  frames    %d to %d at %.6g per second\n",
      options.file.c_str(),
      file.empty() ? ("a " + prepared.character->parts.front().name).c_str() : file.c_str(),
      std::string(body_type(scene.body, *prepared.character)).c_str(), range.first, range.last,
      range.rate);
  for (const BodyFact& fact : session.body().facts())
    std::printf("  %-9s %.6g %s\n", fact.name.c_str(), fact.value, fact.unit.c_str());
}

int inspect_file(const InspectOptions& options) {
  apply(options.common);
  const std::filesystem::path path = options.file;
  std::error_code code;
  if (!options.mesh.empty() && !is_animation(path))
    throw Error(ErrorKind::usage, "--mesh is for animation files: " + options.file + " is none");
  if (is_animation(path))
    inspect_animation(options);
  else if (std::filesystem::is_directory(path, code))
    inspect_cache(options);
  else if (extension_of(options.file) == ".json")
    inspect_scene(options);
  else if (extension_of(options.file) == ".bvh")
    inspect_motion(options);
  else
    inspect_character(options);
  return done;
}

}  // namespace

void add_inspect_command(CLI::App& program, int& status) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App* command = program.add_subcommand(
      "inspect",
      "Tell facts and problems of a character, motion, scene, cache or animation in plain words.");
  command->footer(
      help_footer("  supple inspect hero.glb             size, rig, clips, and what may go wrong\n"
                  "  supple inspect hero.supple          how far a run has come, damaged frames\n"
                  "  supple inspect walk.pc2             frames, size, rate of an animation file\n"
                  "  supple inspect scene.json --json    the scene with all defaults filled in\n"));
  command->add_option("file", options->file, "File, cache or folder of OBJ files to look at.")
      ->required()
      ->check(not_empty())
      ->type_name("FILE");
  command->add_option("--scale", options->scale, "Metres per length unit of the file.")
      ->check(positive_number())
      ->type_name("FACTOR");
  command->add_option("--mesh", options->mesh, "Mesh or cache a .pc2 or .mdd belongs to.")
      ->check(not_empty())
      ->type_name("FILE");
  command->add_flag("--json", options->json, "Print JSON for other programs.");
  add_common_options(*command, options->common);
  command->callback([options, &status] { status = inspect_file(*options); });
}

}  // namespace supple::app
