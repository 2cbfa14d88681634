#include "supple/io/fbx_reader.h"

#include <assimp/config.h>
#include <assimp/postprocess.h>

#include <algorithm>
#include <assimp/DefaultLogger.hpp>
#include <assimp/Importer.hpp>
#include <assimp/LogStream.hpp>
#include <cmath>

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "supple/io/fbx_clips.h"
#include "supple/io/fbx_meshes.h"
#include "supple/io/fbx_tree.h"
#include "supple/rig/character_chunk.h"

namespace supple {
namespace {

constexpr double metres_per_centimetre = 0.01;

// Assimp drops objects it cannot read and only logs the reason, so its errors become notes.
class ErrorNotes : public Assimp::LogStream {
 public:
  explicit ErrorNotes(std::vector<std::string>& notes) : m_notes(notes) {}

  // A message is "Error, T0: FBX: what happened", with a line end.
  void write(const char* message) override {
    std::string_view text = message;
    if (const size_t colon = text.find(": "); colon != std::string_view::npos)
      text.remove_prefix(colon + 2);
    if (text.find("no material assigned") != std::string_view::npos) return;
    while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    std::string note = fmt::format("Assimp: {}", text);
    for (char& c : note)
      if (static_cast<unsigned char>(c) < ' ') c = '?';
    if (m_notes.size() < most_notes &&
        std::find(m_notes.begin(), m_notes.end(), note) == m_notes.end())
      m_notes.push_back(std::move(note));
  }

 private:
  static constexpr size_t most_notes = 20;
  std::vector<std::string>& m_notes;
};

// Both kinds of FBX file say so at the start; everything else must not reach Assimp, which would
// try all of its other importers on it.
void check_signature(const Bytes& bytes, std::string_view file) {
  constexpr std::string_view binary = "Kaydara FBX Binary  ";
  constexpr size_t head_size = 4096;
  const std::string_view text = as_text(bytes);
  if (text.substr(0, binary.size()) == binary) return;
  const std::string_view head = text.substr(0, head_size);
  if (head.find("FBXHeaderExtension") != std::string_view::npos &&
      head.find('\0') == std::string_view::npos)
    return;
  throw_input_error(file, "", "is not an FBX file");
}

// Pivots are kept as helper nodes, which fbx_tree joins again: without them Assimp 5.2 loses the
// animation of nodes with pivots, turns post-rotations the wrong way and hands geometric offsets
// down to children. The importer is never destroyed: damaged files can leave it in a state that
// crashes on destruction, and the process ends anyway.
const aiScene& import_scene(const Bytes& bytes, std::string_view file,
                            std::vector<std::string>& notes) {
  Assimp::DefaultLogger::create("", Assimp::Logger::NORMAL, 0);
  Assimp::DefaultLogger::get()->attachStream(new ErrorNotes(notes), Assimp::Logger::Err);
  auto* importer = new Assimp::Importer;
  importer->SetPropertyBool(AI_CONFIG_IMPORT_FBX_PRESERVE_PIVOTS, true);
  importer->SetPropertyBool(AI_CONFIG_IMPORT_FBX_READ_TEXTURES, false);
  importer->SetPropertyBool(AI_CONFIG_IMPORT_FBX_READ_CAMERAS, false);
  importer->SetPropertyBool(AI_CONFIG_IMPORT_FBX_READ_LIGHTS, false);
  importer->SetPropertyBool(AI_CONFIG_IMPORT_FBX_OPTIMIZE_EMPTY_ANIMATION_CURVES, false);
  const aiScene* scene =
      importer->ReadFileFromMemory(bytes.data(), bytes.size(), aiProcess_Triangulate, "fbx");
  if (!scene) throw_input_error(file, "", printable(importer->GetErrorString()));
  return *scene;
}

// A number of the file's settings, whatever type Assimp gave it.
std::optional<double> setting(const aiScene& scene, const char* name) {
  if (!scene.mMetaData) return std::nullopt;
  double as_double = 0;
  float as_float = 0;
  int32_t as_int = 0;
  if (scene.mMetaData->Get(name, as_double)) return as_double;
  if (scene.mMetaData->Get(name, as_float)) return as_float;
  if (scene.mMetaData->Get(name, as_int)) return as_int;
  return std::nullopt;
}

// One of the file's axes as a unit vector with its sign, or zero where the file states nonsense.
Vec3d stated_axis(const aiScene& scene, const std::string& name, int fallback) {
  const double axis = setting(scene, name.c_str()).value_or(fallback);
  const double sign = setting(scene, (name + "Sign").c_str()).value_or(1);
  if (axis != 0 && axis != 1 && axis != 2) return Vec3d::Zero();
  return Vec3d::Unit(static_cast<int>(axis)) * (sign < 0 ? -1 : 1);
}

// Turns the file's right, up and front axes into our x, y and z.
Mat3d axis_turn(const aiScene& scene, std::vector<std::string>& notes) {
  Mat3d turn;
  turn.row(0) = stated_axis(scene, "CoordAxis", 0).transpose();
  turn.row(1) = stated_axis(scene, "UpAxis", 1).transpose();
  turn.row(2) = stated_axis(scene, "FrontAxis", 2).transpose();
  if (turn.determinant() > 0.5) {
    if (!turn.isIdentity()) notes.emplace_back("axes: turned as the file states, so that Y is up");
    return turn;
  }
  notes.emplace_back("axes: the file states no right-handed axes; Y is taken as up");
  return Mat3d::Identity();
}

double unit_scale(const aiScene& scene, std::vector<std::string>& notes) {
  const std::optional<double> factor = setting(scene, "UnitScaleFactor");
  if (factor && std::isfinite(*factor) && *factor > 1e-6 && *factor < 1e6) {
    notes.push_back(fmt::format("units: {:.6g} m, as the file states (UnitScaleFactor {:.6g})",
                                *factor * metres_per_centimetre, *factor));
    return *factor * metres_per_centimetre;
  }
  notes.emplace_back("units: the file states none; centimetres are assumed");
  return metres_per_centimetre;
}

Character import_character(const Bytes& bytes, std::string_view file) {
  Character character;
  const aiScene& scene = import_scene(bytes, file, character.notes);
  Affine to_model = Affine::Identity();
  to_model.linear() = axis_turn(scene, character.notes) * unit_scale(scene, character.notes);
  const fbx::Tree tree = fbx::build_tree(scene, to_model, file);
  character.skeleton = tree.skeleton;
  const std::vector<fbx::ShapeGroup> groups =
      fbx::add_meshes(scene, tree, to_model, file, character);
  fbx::add_clips(scene, tree, groups, file, character);
  if (!tree.repeated_names.empty())
    character.notes.push_back(
        fmt::format("{} node names repeat, such as '{}'; skins and animations use the first bone "
                    "of a name",
                    tree.repeated_names.size(), printable(tree.repeated_names.front())));
  return character;
}

}  // namespace

Character read_fbx(const std::filesystem::path& path, const IsolationLimits& limits) {
  const std::string file = path.string();
  const Bytes bytes = read_file(path);
  check_signature(bytes, file);
  const auto import = [&] { return to_chunk(import_character(bytes, file)).serialise(); };
  const Bytes result = run_isolated(import, limits, file);
  Character character = character_from_chunk(Chunk::parse(result, file), file);
  character.name = path.stem().string();
  character.source = file;
  return character;
}

}  // namespace supple
