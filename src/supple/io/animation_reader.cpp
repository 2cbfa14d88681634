#include "supple/io/animation_reader.h"

#include <cmath>
#include <memory>

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "supple/io/cache.h"
#include "supple/io/export.h"
#include "supple/io/load.h"
#include "supple/io/mdd_reader.h"
#include "supple/io/obj_sequence_reader.h"
#include "supple/io/pc2_reader.h"
#include "supple/io/text_scanner.h"
#include "supple/io/usda_reader.h"
#include "supple/io/vtu_reader.h"

namespace supple {
namespace {

namespace fs = std::filesystem;

// Where triangles and the rest shape come from: a mesh the user names, or a cache.
struct Companion {
  std::string name;
  std::string file;
  std::vector<Vec3f> rest;
  std::vector<Vec3i> triangles;
  std::vector<Part> parts;
  std::vector<VertexAttribute> attributes;
  SplitMap split_map;
  std::shared_ptr<const CacheReader> cache;  // null for a mesh
};

Companion companion_from_cache(const fs::path& folder) {
  Companion companion;
  companion.cache = std::make_shared<CacheReader>(folder);
  const CacheInfo& info = companion.cache->info();
  companion.name = info.name;
  companion.file = folder.string();
  companion.rest = info.skin.positions;
  companion.triangles = info.skin.triangles;
  companion.parts = info.parts;
  companion.attributes = info.attributes;
  companion.split_map = info.split_map;
  return companion;
}

Companion companion_from(const fs::path& mesh) {
  if (is_cache(mesh)) return companion_from_cache(mesh);
  Character character = read_character(mesh);
  Companion companion;
  companion.name = character.name;
  companion.file = mesh.string();
  companion.rest = std::move(character.skin.positions);
  companion.triangles = std::move(character.skin.triangles);
  companion.parts = std::move(character.parts);
  companion.attributes = std::move(character.attributes);
  return companion;
}

bool is_point_cache(const fs::path& path) {
  const std::string extension = lower_extension(path);
  return extension == ".pc2" || extension == ".mdd";
}

// The cache an export left beside its file. What is wrong with it matters only to files that have
// no triangles of their own.
std::optional<Companion> cache_of(const fs::path& path, bool is_needed) {
  const fs::path folder = cache_beside(path, clean_name(path.stem().string()));
  if (!is_cache(folder)) return std::nullopt;
  try {
    return companion_from_cache(folder);
  } catch (const Error&) {
    if (is_needed) throw;
    return std::nullopt;
  }
}

FileAnimation read_format(const fs::path& path, double rate) {
  const std::string extension = lower_extension(path);
  std::error_code code;
  if (fs::is_directory(path, code) || extension == ".obj") return read_obj_sequence(path, rate);
  if (extension == ".pvd") return read_pvd(path, rate);
  if (extension == ".vtu") return read_vtu(path, rate);
  const auto file = std::make_shared<const InputFile>(path);
  if (extension == ".pc2") return read_pc2(file, rate);
  if (extension == ".mdd") return read_mdd(file, rate);
  if (extension == ".usda") return read_usda(file);
  throw_input_error(path.string(), "",
                    "is no animated mesh (.pc2, .mdd, .usda, .pvd or a folder of OBJ files)");
}

// Throws when a companion does not have the file's vertices.
void check_vertices(const std::string& file, const AnimatedSkin& skin, const Companion& mesh) {
  if (mesh.rest.size() != skin.rest.size())
    throw_input_error(file, "points",
                      fmt::format("there are {}, but {} has {} vertices: give the mesh it was made "
                                  "from",
                                  skin.rest.size(), mesh.file, mesh.rest.size()));
}

// Root of the mean squared distance from the centre.
double radius(const std::vector<Vec3f>& points) {
  Vec3d centre = Vec3d::Zero();
  for (const Vec3f& p : points) centre += p.cast<double>();
  centre /= static_cast<double>(points.size());
  double sum = 0;
  for (const Vec3f& p : points) sum += (p.cast<double>() - centre).squaredNorm();
  return std::sqrt(sum / static_cast<double>(points.size()));
}

// How differently two shapes rise: the mean squared difference of heights above their means.
// Headings and steps along the ground do not matter.
double height_difference(const std::vector<Vec3f>& shape, int shape_axis,
                         const std::vector<Vec3f>& other, int other_axis, double scale) {
  double mean = 0, squares = 0;
  for (size_t v = 0; v < shape.size(); ++v) {
    const double d = static_cast<double>(shape[v][shape_axis]) -
                     scale * static_cast<double>(other[v][other_axis]);
    mean += d;
    squares += d * d;
  }
  const auto n = static_cast<double>(shape.size());
  return squares / n - (mean / n) * (mean / n);
}

// The file's up axis as its first frame suggests, beside a shape that is Y up.
UpAxis nearer_axis(const std::vector<Vec3f>& frame, const std::vector<Vec3f>& shape) {
  const double size = radius(shape);
  const double scale = size > 0 ? radius(frame) / size : 1;
  return height_difference(frame, 2, shape, 1, scale) < height_difference(frame, 1, shape, 1, scale)
             ? UpAxis::z
             : UpAxis::y;
}

// The shape to compare the first frame with: the same frame of the cache, or the rest shape.
std::vector<Vec3f> shape_to_compare(const Companion& companion, int first_frame) {
  if (companion.cache) try {
      return companion.cache->read_frame(first_frame).positions;
    } catch (const Error&) {
      // Frames may have been removed: the rest shape is there.
    }
  return companion.rest;
}

// Puts a mesh the user named into metres and Y up beside a frame that already is: it may be one
// frame of a Z-up export, or a model in centimetres.
void fit_to_frame(std::vector<Vec3f>& rest, const std::vector<Vec3f>& frame, bool may_turn) {
  const double size = radius(rest), ratio = size > 0 ? radius(frame) / size : 1;
  const double unit = ratio > 0 ? std::pow(10.0, std::round(std::log10(ratio))) : 1;
  const bool turned = may_turn && height_difference(frame, 1, rest, 2, ratio) <
                                      height_difference(frame, 1, rest, 1, ratio);
  for (Vec3f& p : rest) {
    if (turned) p = from_file_axes(p, UpAxis::z);
    if (unit != 1) p = (p.cast<double>() * unit).cast<float>();
  }
}

// Gives a skin what its companion knows.
void adopt(AnimatedSkin& skin, Companion companion) {
  if (companion.cache) skin.name = companion.name;
  skin.rest = std::move(companion.rest);
  skin.triangles = std::move(companion.triangles);
  skin.parts = std::move(companion.parts);
  skin.attributes = std::move(companion.attributes);
  skin.split_map = std::move(companion.split_map);
}

// The frames of a file, turned to Y up and checked.
std::function<SkinFrame(int)> upright_frames(const AnimatedSkin& skin, UpAxis up,
                                             const std::string& file) {
  return [read = skin.frame, up, file, first = int64_t{skin.first_frame},
          count = skin.frame_count](int index) {
    if (index < 0 || index >= count)
      throw_input_error(file, fmt::format("frame {}", first + index),
                        fmt::format("does not exist ({} to {})", first, first + count - 1));
    SkinFrame frame = read(index);
    check_finite(frame.positions, file, first + index);
    for (Vec3f& p : frame.positions) p = from_file_axes(p, up);
    return frame;
  };
}

// Fills in what the file does not say.
class Completion {
 public:
  Completion(const fs::path& path, const AnimationHints& hints, std::vector<std::string>* notes)
      : m_path(path), m_hints(hints), m_notes(notes) {}

  AnimatedSkin read() {
    find_companions();
    const double rate = m_hints.rate ? *m_hints.rate
                        : m_beside   ? m_beside->cache->info().range.rate
                                     : usual_rate;
    FileAnimation file = read_format(m_path, rate);
    m_skin = std::move(file.skin);
    if (m_hints.rate) m_skin.rate = *m_hints.rate;
    if (m_skin.name.empty()) m_skin.name = clean_name(m_path.stem().string());
    check_companions();
    const std::vector<Vec3f> first = m_skin.frame(0).positions;
    check_finite(first, m_path.string(), m_skin.first_frame);
    const UpAxis up = choose_up(file, first);
    m_skin.frame = upright_frames(m_skin, up, m_path.string());
    for (Vec3f& p : m_skin.rest) p = from_file_axes(p, up);
    check_finite(m_skin.rest, m_path.string(), m_skin.first_frame);
    take_companion(first, up);
    return std::move(m_skin);
  }

 private:
  void find_companions() {
    if (!m_hints.mesh.empty()) m_mesh = companion_from(m_hints.mesh);
    m_beside = cache_of(m_path, is_point_cache(m_path) && !m_mesh);
  }

  // Refuses a mesh that does not fit; a cache beside a file with triangles may be of another run.
  void check_companions() {
    if (m_mesh) check_vertices(m_path.string(), m_skin, *m_mesh);
    if (!m_beside) return;
    if (m_skin.triangles.empty() && !m_mesh) check_vertices(m_path.string(), m_skin, *m_beside);
    const bool same = m_beside->rest.size() == m_skin.rest.size() &&
                      (m_skin.triangles.empty() || m_beside->triangles == m_skin.triangles);
    if (!same) m_beside.reset();
  }

  UpAxis choose_up(const FileAnimation& file, const std::vector<Vec3f>& first) {
    if (m_hints.up) return *m_hints.up;
    if (file.up) return *file.up;
    const Companion* known = m_beside ? &*m_beside : m_mesh ? &*m_mesh : nullptr;
    if (!known) return UpAxis::y;
    const UpAxis up = nearer_axis(first, shape_to_compare(*known, m_skin.first_frame));
    if (up == UpAxis::z)
      note(fmt::format("taken as Z up, because {} then stands the same way", known->file));
    return up;
  }

  void take_companion(const std::vector<Vec3f>& first, UpAxis up) {
    const std::string file = m_path.string();
    if (m_mesh) {
      if (!m_mesh->cache) {
        std::vector<Vec3f> upright = first;
        for (Vec3f& p : upright) p = from_file_axes(p, up);
        const bool up_is_sure = m_hints.up || m_beside;
        fit_to_frame(m_mesh->rest, upright, up_is_sure);
      }
      adopt(m_skin, std::move(*m_mesh));
    } else if (m_beside) {
      adopt(m_skin, std::move(*m_beside));
    } else if (m_skin.triangles.empty()) {
      note("points without triangles: there is no cache beside the file and no mesh was named");
    }
  }

  void note(const std::string& text) {
    if (m_notes) m_notes->push_back(text);
  }

  const fs::path& m_path;
  const AnimationHints& m_hints;
  std::vector<std::string>* m_notes;
  std::optional<Companion> m_mesh;    // named by the caller
  std::optional<Companion> m_beside;  // the cache the export left
  AnimatedSkin m_skin;
};

}  // namespace

bool is_animation(const fs::path& path) {
  std::error_code code;
  const std::string extension = lower_extension(path);
  const bool folder = fs::is_directory(path, code);
  if (folder) return !is_cache(path) && is_obj_sequence(path);
  if (extension == ".obj") return is_obj_sequence(path);
  return is_point_cache(path) || extension == ".usda" || extension == ".pvd" || extension == ".vtu";
}

AnimatedSkin read_animation(const fs::path& path, const AnimationHints& hints,
                            std::vector<std::string>* notes) {
  return Completion(path, hints, notes).read();
}

AnimatedSkin read_animation(const fs::path& path, const fs::path& mesh, std::optional<UpAxis> up) {
  return read_animation(path, AnimationHints{mesh, up, std::nullopt});
}

}  // namespace supple
