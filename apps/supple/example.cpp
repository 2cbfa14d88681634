// supple example: the project's own characters and solids, each with a scene that is ready to run.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "actors/cast.h"
#include "actors/elephant.h"
#include "actors/props.h"
#include "actors/self_propelled.h"
#include "actors/toy_scenes.h"
#include "actors/toys.h"
#include "actors/wrestler.h"
#include "arguments.h"
#include "help.h"
#include "program.h"
#include "scenes/scenes.h"
#include "supple/core/file.h"
#include "supple/io/character_writer.h"

namespace supple::app {
namespace {

namespace fs = std::filesystem;

struct ExampleOptions {
  CommonOptions common;
  std::string name;
  std::string folder;
  int vertices = 0;
  bool list = false;
};

// Where the file says which example wrote it.
constexpr const char* mark = "supple_example";

// Everyone with bones: who follows clips, then who moves by motors.
std::vector<actors::CastMember> all_members() {
  std::vector<actors::CastMember> members = actors::cast();
  const std::vector<actors::CastMember>& others = actors::self_propelled();
  members.insert(members.end(), others.begin(), others.end());
  members.push_back(actors::wrestler());
  members.push_back(actors::elephant());
  return members;
}

int list_examples() {
  for (const actors::CastMember& member : all_members())
    std::printf("%-10s %s\n", member.name.c_str(), member.line.c_str());
  for (const actors::Prop& prop : actors::props())
    std::printf("%-10s %s\n", prop.name.c_str(), prop.line.c_str());
  for (const actors::ToyScene& scene : actors::toy_scenes())
    std::printf("%-10s %s\n", scene.name.c_str(), scene.line.c_str());
  for (const scenes::ExampleScene& scene : scenes::all())
    std::printf("%-10s %s\n", scene.name.c_str(), scene.line.c_str());
  return done;
}

actors::CastMember find_member(const std::string& name) {
  std::vector<std::string> names;
  for (const actors::CastMember& member : all_members()) {
    if (member.name == name) return member;
    names.push_back(member.name);
  }
  for (const actors::Prop& prop : actors::props()) names.push_back(prop.name);
  for (const actors::ToyScene& scene : actors::toy_scenes()) names.push_back(scene.name);
  for (const scenes::ExampleScene& scene : scenes::all()) names.push_back(scene.name);
  throw Error(ErrorKind::usage,
              fmt::format("there is no example '{}'{} (see 'supple example --list')",
                          printable(name), suggestion(name, names)));
}

std::string scene_text(const actors::CastMember& member, const actors::ActorScene& scene) {
  // A clip that starts again ends a frame before it does; slow ones show their end as well.
  const bool whole = scene.rate < 24;
  const int frames = static_cast<int>(std::lround(scene.seconds * scene.rate)) + (whole ? 1 : 0);
  // A few thousand cells show what flesh does; a quarter of the time of the default.
  Json text = {{"name", scene.name},
               {"body", {{"type", "lattice"}, {"budget", 10000}}},
               {"character", {{"file", member.name + ".glb"}, {"clip", scene.clip}}},
               {"frames", {{"first", 1}, {"last", frames}, {"rate", scene.rate}}},
               {"output", {{"files", {scene.name + ".supple"}}}}};
  text["body"].update(Json::parse(scene.body));
  text["character"].update(Json::parse(scene.character));
  return text.dump(2) + "\n";
}

bool is_example_model(const fs::path& path, const std::string& name) {
  try {
    const Json asset = read_gltf_document(path).root.at("asset");
    return asset.contains("extras") && asset["extras"].contains(mark) &&
           asset["extras"][mark] == name;
  } catch (const std::exception&) {
    return false;
  }
}

bool is_example_scene(const fs::path& path, const std::string& text) {
  try {
    const Bytes found = read_file(path);
    return std::equal(found.begin(), found.end(), as_bytes(text).begin(), as_bytes(text).end());
  } catch (const Error&) {
    return false;
  }
}

bool begins_with(const fs::path& path, const std::string& line) {
  try {
    const Bytes found = read_file(path);
    return found.size() >= line.size() &&
           std::equal(as_bytes(line).begin(), as_bytes(line).end(), found.begin());
  } catch (const Error&) {
    return false;
  }
}

void refuse_foreign(const fs::path& path, bool is_ours) {
  std::error_code code;
  if (fs::symlink_status(path, code).type() != fs::file_type::not_found && !is_ours)
    throw_output_error(path.string(),
                       "there is a file that no example wrote, or that was changed since; move it "
                       "away or name another folder");
}

void write_model(const fs::path& path, const Character& character) {
  GltfDocument document = gltf_from_character(character);
  document.root["asset"]["extras"][mark] = character.name;
  write_file(path, serialise_glb(document, path.string()));
}

int write_scene(const ExampleOptions& options, const scenes::ExampleScene& scene) {
  const fs::path folder = options.folder.empty() ? scene.name : options.folder;
  const fs::path file = folder / (scene.name + ".json");
  if (options.vertices > 0)
    throw Error(ErrorKind::usage,
                fmt::format("--vertices: '{}' is a scene without a character; edit 'edge' and "
                            "'cells' in it instead",
                            scene.name));
  refuse_foreign(file, is_example_scene(file, scene.text));
  make_folder(folder);
  write_file(file, scene.text);
  if (options.common.quiet) return done;
  std::printf("wrote %s: %s\n", file.c_str(), scene.line.c_str());
  std::printf("next:  supple simulate %s\n       supple view %s\n", file.c_str(),
              (folder / (scene.name + ".supple")).c_str());
  return done;
}

std::string prop_scene_text(const actors::Prop& prop, const actors::PropScene& scene) {
  constexpr int rate = 24;
  const Json text = {{"name", scene.name},
                     {"character", {{"file", prop.name + prop.extension}}},
                     {"body", Json::parse(scene.body)},
                     {"frames",
                      {{"first", 1},
                       {"last", static_cast<int>(std::lround(scene.seconds * rate))},
                       {"rate", rate}}},
                     {"output", {{"files", {scene.name + ".supple"}}}}};
  return text.dump(2) + "\n";
}

int write_prop(const ExampleOptions& options, const actors::Prop& prop) {
  const fs::path folder = options.folder.empty() ? prop.name : options.folder;
  const fs::path model = folder / (prop.name + prop.extension);
  const Character character = prop.make(options.vertices > 0 ? options.vertices : prop.vertices);
  const bool is_obj = prop.extension == ".obj";
  const std::string first_line = fmt::format("# {} {}\n", mark, prop.name);
  const std::string text = first_line + (is_obj ? obj_from_character(character) : std::string());
  refuse_foreign(model,
                 is_obj ? begins_with(model, first_line) : is_example_model(model, prop.name));
  for (const actors::PropScene& scene : prop.scenes)
    refuse_foreign(folder / (scene.name + ".json"),
                   is_example_scene(folder / (scene.name + ".json"), prop_scene_text(prop, scene)));
  make_folder(folder);
  if (is_obj)
    write_file(model, text);
  else
    write_model(model, character);
  for (const actors::PropScene& scene : prop.scenes)
    write_file(folder / (scene.name + ".json"), prop_scene_text(prop, scene));
  if (options.common.quiet) return done;
  std::printf("wrote %s: %zu vertices\n", model.c_str(), character.skin.positions.size());
  for (const actors::PropScene& scene : prop.scenes)
    std::printf("wrote %s: %s\n", (folder / (scene.name + ".json")).c_str(), scene.line.c_str());
  std::printf("next:  supple simulate %s\n       supple view %s\n",
              (folder / (prop.scenes.front().name + ".json")).c_str(),
              (folder / (prop.scenes.front().name + ".supple")).c_str());
  return done;
}

// A scene of several toys: their models and the scene, all in one folder.
int write_toys(const ExampleOptions& options, const actors::ToyScene& scene) {
  const fs::path folder = options.folder.empty() ? scene.name : options.folder;
  const fs::path file = folder / (scene.name + ".json");
  if (options.vertices > 0 && scene.models.size() != 1)
    throw Error(ErrorKind::usage,
                fmt::format("--vertices: '{}' is not a scene of one model", scene.name));
  const auto model_of = [&](const actors::ToyModel& model) {
    return folder / (model.toy + ".glb");
  };
  refuse_foreign(file, is_example_scene(file, scene.text));
  for (const actors::ToyModel& model : scene.models)
    refuse_foreign(model_of(model), is_example_model(model_of(model), model.toy));
  make_folder(folder);
  for (const actors::ToyModel& model : scene.models) {
    const actors::Toy& toy = *actors::find_toy(model.toy);
    const int wanted = model.vertices > 0 ? model.vertices : toy.vertices;
    const Character character = toy.make(options.vertices > 0 ? options.vertices : wanted);
    write_model(model_of(model), character);
    if (!options.common.quiet)
      std::printf("wrote %s: %zu vertices\n", model_of(model).c_str(),
                  character.skin.positions.size());
  }
  write_file(file, scene.text);
  if (options.common.quiet) return done;
  std::printf("wrote %s: %s\n", file.c_str(), scene.line.c_str());
  std::printf("next:  supple simulate %s\n       supple view %s\n", file.c_str(),
              (folder / (scene.name + ".supple")).c_str());
  return done;
}

int write_example(const ExampleOptions& options) {
  for (const actors::ToyScene& scene : actors::toy_scenes())
    if (scene.name == options.name) return write_toys(options, scene);
  for (const scenes::ExampleScene& scene : scenes::all())
    if (scene.name == options.name) return write_scene(options, scene);
  for (const actors::Prop& prop : actors::props())
    if (prop.name == options.name) return write_prop(options, prop);
  const actors::CastMember member = find_member(options.name);
  if (options.vertices > 0 && options.vertices < member.fewest)
    throw Error(ErrorKind::usage, fmt::format("--vertices: {} is too few for '{}', which needs {}",
                                              options.vertices, member.name, member.fewest));
  const fs::path folder = options.folder.empty() ? member.name : options.folder;
  const fs::path model = folder / (member.name + ".glb");
  const auto file_of = [&](const actors::ActorScene& scene) {
    return folder / (scene.name + ".json");
  };
  refuse_foreign(model, is_example_model(model, member.name));
  for (const actors::ActorScene& scene : member.scenes)
    refuse_foreign(file_of(scene), is_example_scene(file_of(scene), scene_text(member, scene)));
  make_folder(folder);
  const Character character =
      member.make(options.vertices > 0 ? options.vertices : member.vertices);
  write_model(model, character);
  for (const actors::ActorScene& scene : member.scenes)
    write_file(file_of(scene), scene_text(member, scene));
  if (options.common.quiet) return done;
  std::string clips;
  for (const Clip& clip : character.clips) clips += (clips.empty() ? "" : ", ") + clip.name;
  std::printf("wrote %s: %zu vertices, %zu joints, clips: %s\n", model.c_str(),
              character.skin.positions.size(), character.skeleton.size(), clips.c_str());
  for (const actors::ActorScene& scene : member.scenes)
    std::printf("wrote %s: %s (clip '%s')\n", file_of(scene).c_str(), scene.line.c_str(),
                scene.clip.c_str());
  std::printf("next:  supple simulate %s\n       supple view %s\n",
              file_of(member.scenes.front()).c_str(), model.c_str());
  return done;
}

int example(const ExampleOptions& options) {
  apply(options.common);
  if (options.list) return list_examples();
  if (options.name.empty())
    throw Error(ErrorKind::usage, "which example? 'supple example --list' shows them all");
  return write_example(options);
}

}  // namespace

void add_example_command(CLI::App& program, int& status) {
  auto options = std::make_shared<ExampleOptions>();
  CLI::App* command = program.add_subcommand(
      "example", "Write an example of our own: a scene ready to run, with its character.");
  command->footer(
      help_footer("  supple example --list                     who there is\n"
                  "  supple example pomelo                     into the folder pomelo\n"
                  "  supple example pomelo here --vertices 9000\n"));
  command->add_option("name", options->name, "Which example.")->check(not_empty());
  command
      ->add_option("folder", options->folder, "Where to write it; the example's name if not given.")
      ->check(not_empty())
      ->type_name("DIR");
  command->add_option("--vertices", options->vertices, "About how many vertices the skin gets.")
      ->check(number_between(100, 1000000))
      ->type_name("N");
  command->add_flag("--list", options->list, "List all examples, one line each.");
  add_common_options(*command, options->common);
  command->callback([options, &status] { status = example(*options); });
}

}  // namespace supple::app
