#include "supple/io/load.h"

#include <fstream>

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "supple/io/bvh_reader.h"
#include "supple/io/cache.h"
#include "supple/io/fbx_reader.h"
#include "supple/io/gltf_reader.h"
#include "supple/io/obj_reader.h"
#include "supple/io/tet_reader.h"
#include "supple/mesh/tet_mesh.h"
#include "supple/rig/scale.h"
#include "supple/sim/objects.h"
#include "supple/sim/session.h"
#include "supple/sim/shape.h"
#include "supple/sim/voxel_split.h"

namespace supple {
namespace {

// Says why a file of unknown extension cannot be read: it may not even exist.
[[noreturn]] void refuse_format(const std::filesystem::path& path, const char* what,
                                const char* known) {
  std::error_code code;
  if (is_cache(path))
    throw_input_error(path.string(), "", "is a cache: export it with 'supple convert'");
  if (!std::filesystem::is_regular_file(path, code)) read_file(path);  // says what it is
  throw_input_error(path.string(), "",
                    path.has_extension()
                        ? fmt::format("'{}' is not the extension of {} ({})",
                                      printable(path.extension().string()), what, known)
                        : fmt::format("has no extension; {} has one of {}", what, known));
}

// Text and other formats are often given the name of a .glb: say so instead of blaming its JSON.
void refuse_other_content(const std::filesystem::path& path) {
  char head[64];
  std::ifstream file(path, std::ios::binary);
  if (!file.read(head, sizeof head) && file.gcount() == 0 && !file.eof()) return;
  const std::string_view text(head, static_cast<size_t>(file.gcount()));
  if (text.empty()) throw_input_error(path.string(), "", "is empty");
  const size_t start = text.find_first_not_of(" \t\r\n");
  if (!text.starts_with("glTF") && (start == text.npos || text[start] != '{'))
    throw_input_error(path.string(), "", "is not a glTF file");
}

Character character_from_tets(const std::filesystem::path& path) {
  const TetMesh tets = read_tets(path);
  Character character;
  character.name = path.stem().string();
  character.source = path.string();
  character.skin = boundary_surface(tets);
  Part part;
  part.name = character.name;
  part.vertices = {0, static_cast<int32_t>(character.skin.positions.size())};
  part.triangles = {0, static_cast<int32_t>(character.skin.triangles.size())};
  character.parts.push_back(part);
  character.notes.emplace_back("the skin is the boundary of the tetrahedra");
  bind_rigidly(character);
  return character;
}

// A scene's objects, put in place; the files read are added to `inputs`.
Character objects_of(Scene& scene, const std::string& name, std::vector<std::string>& inputs) {
  std::vector<ObjectModel> models;
  for (size_t i = 0; i < scene.objects.size(); ++i) {
    const ObjectSettings& object = scene.objects[i];
    const std::string here = fmt::format("objects[{}]", i);
    const bool has_shape = object.shape.type != ShapeType::none;
    if (has_shape == !object.file.empty())
      throw_input_error(name, here + ".file",
                        has_shape ? "there is a shape too: name only one of them"
                                  : "is missing: name a mesh or a shape");
    ObjectModel model;
    model.shown =
        has_shape ? character_from_shape(object.shape, name) : read_character(object.file);
    if (!has_shape) inputs.push_back(object.file);
    if (!object.detail.empty()) {
      model.coarse = model.shown.skin;
      model.shown = read_character(object.detail);
      inputs.push_back(object.detail);
    }
    models.push_back(std::move(model));
  }
  return pack_objects(scene, models, name);
}

// A detailed mesh in place of the simulated one.
Character detailed(Scene& scene, Character simulated, std::vector<std::string>& inputs) {
  const std::string& file = scene.body.surface.detail;
  if (is_skinned(simulated))
    throw_input_error(file, "", "a detailed mesh is for bodies without bones");
  Character shown = read_character(file);
  inputs.push_back(file);
  scene.placed = {{-1, std::move(simulated.skin), 0,
                   static_cast<int32_t>(shown.skin.positions.size()), 0,
                   static_cast<int32_t>(shown.skin.triangles.size())}};
  for (Vec3f& p : scene.placed[0].mesh.positions) p *= static_cast<float>(scene.character.scale);
  return shown;
}

// The character a scene is about: a file, a solid that is made, or many objects.
Character character_of(Scene& scene, std::vector<std::string>& inputs) {
  const CharacterSettings& settings = scene.character;
  const std::string name = scene.name.empty() ? "scene" : scene.name;
  if (!scene.objects.empty()) {
    if (!settings.file.empty() || settings.shape.type != ShapeType::none)
      throw_input_error(name, "objects", "there is a character too: name only one of them");
    if (scene.body.type == "automatic") scene.body.type = "surface";
    if (scene.body.type != "surface")
      throw_input_error(name, "objects", "are for bodies of type 'surface'");
    return objects_of(scene, name, inputs);
  }
  if (settings.shape.type == ShapeType::none) return read_character(settings.file);
  if (!settings.file.empty())
    throw_input_error(
        name, "character.shape",
        fmt::format("there is a file too, {}: name only one of them", printable(settings.file)));
  Character character = character_from_shape(settings.shape, name);
  if (!scene.name.empty()) character.name = scene.name;
  return character;
}

// The clip of that name, the first one for an empty name, or null when there is none at all.
const Clip* choose_clip(const Character& character, const std::string& name) {
  if (name.empty()) return character.clips.empty() ? nullptr : &character.clips.front();
  if (const Clip* clip = character.clip(name)) return clip;
  std::vector<std::string> names;
  for (const Clip& clip : character.clips) names.push_back(clip.name);
  std::string problem = fmt::format("there is no clip '{}'", printable(name));
  problem += names.empty() ? "; it has no clips at all" : suggestion(name, names);
  if (!names.empty() && nearest_word(name, names).empty()) {
    problem += "; it has ";
    for (size_t i = 0; i < names.size() && i < 8; ++i)
      problem += (i ? ", " : "") + printable(names[i]);
    if (names.size() > 8) problem += fmt::format(" and {} more", names.size() - 8);
  }
  throw_input_error(character.source, "clips", problem);
}

}  // namespace

Character read_character(const std::filesystem::path& path) {
  const std::string extension = lower_extension(path);
  if (extension == ".glb") refuse_other_content(path);
  if (extension == ".glb" || extension == ".gltf") return read_gltf(path);
  if (extension == ".fbx") return read_fbx(path);
  if (extension == ".obj") return read_obj(path);
  if (extension == ".mesh" || extension == ".msh" || extension == ".node" || extension == ".ele")
    return character_from_tets(path);
  if (extension == ".bvh")
    throw_input_error(path.string(), "",
                      "is a motion, not a character: put it on one with --motion");
  refuse_format(path, "a character", ".glb, .gltf, .fbx, .obj, .mesh, .msh, .node");
}

Motion read_motion(const std::filesystem::path& path, const std::string& clip) {
  const std::string extension = lower_extension(path);
  if (extension == ".bvh") return read_bvh(path);
  if (extension != ".glb" && extension != ".gltf" && extension != ".fbx")
    refuse_format(path, "a motion", ".bvh, .glb, .gltf, .fbx");
  const Character source = read_character(path);
  const Clip* chosen = choose_clip(source, clip);
  if (!chosen)
    throw_input_error(path.string(), "animations", "there is no animation to take a motion from");
  return Motion{source.skeleton, *chosen};
}

PreparedScene prepare_scene(Scene& scene) {
  PreparedScene prepared;
  for (ColliderSettings& collider : scene.body.contact.colliders) {
    if (collider.file.empty()) continue;
    collider.mesh = std::make_shared<TriangleMesh>(read_character(collider.file).skin);
    prepared.inputs.push_back(collider.file);
  }
  for (BoneSettings& bone : scene.body.attach.bones) {
    if (bone.file.empty()) continue;
    TriangleMesh mesh = read_character(bone.file).skin;
    for (Vec3f& p : mesh.positions) p *= static_cast<float>(scene.character.scale);
    bone.mesh = std::make_shared<TriangleMesh>(std::move(mesh));
    prepared.inputs.push_back(bone.file);
  }
  if (TetSettings& tets = scene.body.tets; !tets.file.empty()) {
    tets.mesh = std::make_shared<TetMesh>(read_tets(tets.file));
    prepared.inputs.push_back(tets.file);
  }
  auto character = std::make_shared<Character>(character_of(scene, prepared.inputs));
  if (!scene.character.file.empty()) prepared.inputs.push_back(scene.character.file);
  if (!scene.body.surface.detail.empty() && scene.objects.empty() &&
      body_type(scene.body, *character) == "surface")
    *character = detailed(scene, std::move(*character), prepared.inputs);
  prepared.notes = character->notes;
  scale_character(*character, scene.character.scale);

  const MotionSettings& motion = scene.character.motion;
  if (!motion.file.empty()) {
    const Motion source = read_motion(motion.file, motion.clip);
    prepared.inputs.push_back(motion.file);
    Clip clip = retarget(source.skeleton, source.clip, character->skeleton,
                         {motion.joint_map, motion.scale}, &prepared.retargeting);
    clip.name = std::filesystem::path(motion.file).stem().string();
    character->clips.push_back(std::move(clip));
    prepared.clip = &character->clips.back();
  } else {
    prepared.clip = choose_clip(*character, scene.character.clip);
    if (!prepared.clip && scene.frames.last == FrameSettings::automatic &&
        !moves_alone(body_type(scene.body, *character)))
      prepared.notes.emplace_back(
          "there is no animation: one frame is made; give a motion with --motion FILE.bvh, or a "
          "last frame with --frames FIRST-LAST");
  }
  if (scene.body.voxels.split) {
    if (body_type(scene.body, *character) == "voxels")
      split_for_voxels(*character, scene.body, scene.name.empty() ? "scene" : scene.name);
    else
      prepared.notes.emplace_back(
          "the skin is not split: body.voxels.split is for bodies of type 'voxels'");
  }
  prepared.character = std::move(character);
  return prepared;
}

}  // namespace supple
