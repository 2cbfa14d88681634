#include "viewer/open_exhibits.h"

#include <exception>

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "supple/core/log.h"
#include "supple/io/animation_reader.h"
#include "supple/io/bvh_reader.h"
#include "supple/io/load.h"
#include "supple/io/scene_file.h"
#include "supple/io/tet_reader.h"
#include "supple/math/flat.h"
#include "viewer/animation_exhibit.h"
#include "viewer/cache_exhibit.h"
#include "viewer/character_exhibit.h"
#include "viewer/facts.h"

namespace supple::viewer {
namespace {

namespace fs = std::filesystem;
using Exhibits = std::vector<std::unique_ptr<Exhibit>>;

// What the page shows in place of a file that cannot be opened.
class FailedExhibit final : public Exhibit {
 public:
  FailedExhibit(const fs::path& file, std::string problem)
      : m_facts(basic_facts(file.filename().string(), file, "")), m_problem(std::move(problem)) {
    m_facts["error"] = m_problem;
  }

  Json facts() const override { return m_facts; }
  Availability availability() const override { return {0, "failed: " + m_problem}; }
  Bytes static_chunk() const override { fail(); }
  Bytes frame_chunk(int) const override { fail(); }
  Json report(int) const override { return nullptr; }

 private:
  [[noreturn]] void fail() const { throw Error(ErrorKind::input, m_problem); }

  Json m_facts;
  std::string m_problem;
};

// One exhibit per clip; the rest pose when there is none.
void add_clips(const std::shared_ptr<const Character>& character, const fs::path& file,
               const ExhibitOptions& options, Exhibits& exhibits) {
  if (!options.clip.empty() && character->clip(options.clip)) {
    exhibits.push_back(
        std::make_unique<CharacterExhibit>(character, character->clip(options.clip), file));
    return;
  }
  if (!options.clip.empty()) {
    std::vector<std::string> names;
    for (const Clip& clip : character->clips) names.push_back(clip.name);
    throw_input_error(file.string(), "clips",
                      fmt::format("there is no clip '{}'{}", printable(options.clip),
                                  suggestion(options.clip, names)));
  }
  for (const Clip& clip : character->clips)
    exhibits.push_back(std::make_unique<CharacterExhibit>(character, &clip, file));
  if (character->clips.empty())
    exhibits.push_back(std::make_unique<CharacterExhibit>(character, nullptr, file));
}

// A motion without a skin: the bones alone.
std::shared_ptr<const Character> bare_skeleton(const fs::path& file) {
  Motion motion = read_bvh(file);
  auto character = std::make_shared<Character>();
  character->name = file.stem().string();
  character->source = file.string();
  character->skeleton = std::move(motion.skeleton);
  character->clips.push_back(std::move(motion.clip));
  return character;
}

std::unique_ptr<Exhibit> tet_exhibit(const fs::path& file) {
  const TetMesh tets = read_tets(file);
  std::vector<Vec3f> nodes;
  for (const Vec3d& p : tets.positions) nodes.push_back(p.cast<float>());
  std::vector<int32_t> corners;
  for (const Vec4i& tet : tets.tets) corners.insert(corners.end(), tet.data(), tet.data() + 4);
  Chunk overlay;
  overlay.add<float>("mesh/nodes", as_floats(nodes), 3);
  overlay.add<int32_t>("mesh/tetrahedra", corners, 4);
  return std::make_unique<CharacterExhibit>(std::make_shared<Character>(read_character(file)),
                                            nullptr, file, overlay.arrays());
}

void open_file(const fs::path& file, const ExhibitOptions& options, Exhibits& exhibits) {
  const std::string extension = lower_extension(file);
  if (is_cache(file) || extension == ".supple") {
    exhibits.push_back(std::make_unique<CacheExhibit>(file));
  } else if (is_animation(file)) {
    exhibits.push_back(
        std::make_unique<AnimationExhibit>(read_animation(file, options.mesh), file));
  } else if (extension == ".bvh") {
    add_clips(bare_skeleton(file), file, {}, exhibits);
  } else if (extension == ".json") {
    Scene settings = read_scene(file.string());
    const PreparedScene scene = prepare_scene(settings);
    exhibits.push_back(std::make_unique<CharacterExhibit>(scene.character, scene.clip, file));
  } else if (extension == ".mesh" || extension == ".msh" || extension == ".node" ||
             extension == ".ele") {
    exhibits.push_back(tet_exhibit(file));
  } else {
    const auto character = std::make_shared<const Character>(read_character(file));
    for (const std::string& note : character->notes) log_warning("{}", note);
    add_clips(character, file, options, exhibits);
  }
}

}  // namespace

Exhibits open_exhibits(const std::vector<std::string>& files, const ExhibitOptions& options) {
  Exhibits exhibits;
  std::exception_ptr first_problem;
  size_t problems = 0;
  for (const std::string& file : files) {
    try {
      open_file(file, options, exhibits);
    } catch (const Error& error) {
      if (!first_problem) first_problem = std::current_exception();
      ++problems;
      if (files.size() > 1) log_warning("{}", error.what());
      exhibits.push_back(std::make_unique<FailedExhibit>(file, error.what()));
    }
  }
  if (problems == files.size() && first_problem) std::rethrow_exception(first_problem);
  return exhibits;
}

}  // namespace supple::viewer
