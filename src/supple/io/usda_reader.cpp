#include "supple/io/usda_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "supple/core/error.h"
#include "supple/io/text_scanner.h"
#include "supple/io/usda_layer.h"
#include "supple/math/flat.h"

namespace supple {
namespace {

constexpr int64_t most_vertices = std::numeric_limits<int32_t>::max() / 3;

std::string line_of(const UsdaSpan& span) { return fmt::format("line {}", span.line); }

// The points of one mesh in every frame.
struct MeshPoints {
  std::string name;
  size_t count = 0;
  std::vector<UsdaSample> samples;  // in the order of time; empty when it stands still
  std::vector<Vec3f> constant;
};

// What the frames are read from.
struct UsdaFrames {
  std::shared_ptr<const InputFile> file;
  float meters_per_unit = 1;
  std::vector<MeshPoints> meshes;

  std::vector<Vec3f> points(const UsdaSpan& span) const {
    std::vector<Vec3f> result = to_vectors(read_usda_tuples(*file, span, 3));
    if (meters_per_unit != 1)
      for (Vec3f& p : result) p *= meters_per_unit;
    return result;
  }

  SkinFrame frame(int index) const {
    SkinFrame result;
    for (const MeshPoints& mesh : meshes) {
      if (mesh.samples.empty()) {
        result.positions.insert(result.positions.end(), mesh.constant.begin(), mesh.constant.end());
        continue;
      }
      const UsdaSample& sample = mesh.samples[static_cast<size_t>(index)];
      const std::vector<Vec3f> here = points(sample.value);
      if (here.size() != mesh.count)
        throw_input_error(file->name(), line_of(sample.value),
                          fmt::format("mesh '{}' has {} points at time {}, {} in the first frame",
                                      printable(mesh.name), here.size(), sample.time, mesh.count));
      result.positions.insert(result.positions.end(), here.begin(), here.end());
    }
    return result;
  }
};

// Time samples in order; each time only once.
std::vector<UsdaSample> sorted_samples(const InputFile& file, const UsdaProperty& points) {
  std::vector<UsdaSample> samples = points.samples;
  std::stable_sort(samples.begin(), samples.end(),
                   [](const UsdaSample& a, const UsdaSample& b) { return a.time < b.time; });
  for (size_t i = 1; i < samples.size(); ++i)
    if (samples[i].time == samples[i - 1].time)
      throw_input_error(file.name(), line_of(samples[i].value),
                        fmt::format("time {} is there twice", samples[i].time));
  return samples;
}

// Turns the meshes of a layer into one skin.
class SkinBuilder {
 public:
  SkinBuilder(const std::shared_ptr<const InputFile>& file, const UsdaLayer& layer)
      : m_file(*file), m_layer(layer), m_frames(std::make_shared<UsdaFrames>()) {
    m_frames->file = file;
    m_frames->meters_per_unit = static_cast<float>(layer.meters_per_unit);
  }

  FileAnimation build() {
    for (size_t p = 0; p < m_layer.prims.size(); ++p) {
      const UsdaPrim& prim = m_layer.prims[p];
      const UsdaProperty* points = prim.find("points");
      const bool has_points = points && (!points->value.empty() || !points->samples.empty());
      if (prim.type == "Mesh" && prim.is_defined && has_points) add_mesh(p, *points);
    }
    if (m_frames->meshes.empty())
      throw_input_error(m_file.name(), "Mesh", "there is no mesh with points");
    AnimatedSkin& skin = m_animation.skin;
    if (skin.rest.empty()) throw_input_error(m_file.name(), "Mesh", "the meshes have no points");
    set_times();
    if (m_frames->meshes.size() == 1) split_into_subsets();
    finish_attribute(m_uv);
    finish_attribute(m_colour);
    m_animation.up = m_layer.up_axis == "Y" ? UpAxis::y : UpAxis::z;
    m_animation.has_rest = m_has_rest;
    skin.frame = [frames = std::shared_ptr<const UsdaFrames>(m_frames)](int index) {
      return frames->frame(index);
    };
    return std::move(m_animation);
  }

 private:
  struct Primvar {
    VertexAttribute attribute;
    bool complete = true;  // every mesh has it
  };

  void add_mesh(size_t index, const UsdaProperty& points) {
    const UsdaPrim& prim = m_layer.prims[index];
    refuse_transforms(index);
    AnimatedSkin& skin = m_animation.skin;
    if (m_frames->meshes.empty()) skin.name = root_name(index);
    MeshPoints mesh;
    mesh.name = prim.name;
    mesh.samples = sorted_samples(m_file, points);
    if (!points.value.empty()) mesh.constant = m_frames->points(points.value);
    std::vector<Vec3f> first =
        mesh.samples.empty() ? mesh.constant : m_frames->points(mesh.samples.front().value);
    mesh.count = first.size();
    if (!mesh.samples.empty()) {
      // Points without a time beside those with times are the rest shape.
      if (mesh.constant.size() == mesh.count)
        first = std::move(mesh.constant);
      else
        m_has_rest = false;
      mesh.constant.clear();
    }
    const auto offset = static_cast<int64_t>(skin.rest.size());
    if (offset + static_cast<int64_t>(mesh.count) > most_vertices)
      throw_input_error(m_file.name(), "points",
                        fmt::format("more than {} vertices are not allowed", most_vertices));
    Part part;
    part.name = prim.name;
    part.material = text_of(prim, "userProperties:material");
    part.vertices = {static_cast<int32_t>(offset), static_cast<int32_t>(mesh.count)};
    part.triangles.first = static_cast<int32_t>(skin.triangles.size());
    add_faces(prim, mesh.count, static_cast<int32_t>(offset));
    part.triangles.count = static_cast<int32_t>(skin.triangles.size()) - part.triangles.first;
    skin.parts.push_back(std::move(part));
    add_primvar(prim, "primvars:st", mesh.count, m_uv);
    add_primvar(prim, "primvars:displayColor", mesh.count, m_colour);
    skin.rest.insert(skin.rest.end(), first.begin(), first.end());
    if (m_frames->meshes.empty()) m_first_prim = index;
    m_frames->meshes.push_back(std::move(mesh));
  }

  void refuse_transforms(size_t index) const {
    for (int p = static_cast<int>(index); p >= 0;
         p = m_layer.prims[static_cast<size_t>(p)].parent) {
      const UsdaPrim& prim = m_layer.prims[static_cast<size_t>(p)];
      const UsdaProperty* order = prim.find("xformOpOrder");
      if (order && !order->value.empty() && read_usda_text(m_file, order->value) != "[]")
        throw_input_error(m_file.name(), line_of(order->value),
                          fmt::format("'{}' has a transform, which is not read: apply it to the "
                                      "points first",
                                      printable(prim.name)));
    }
  }

  std::string root_name(size_t index) const {
    while (m_layer.prims[index].parent >= 0)
      index = static_cast<size_t>(m_layer.prims[index].parent);
    return clean_name(m_layer.prims[index].name);
  }

  std::string text_of(const UsdaPrim& prim, std::string_view name) const {
    const UsdaProperty* property = prim.find(name);
    return property && !property->value.empty()
               ? clean_name(read_usda_text(m_file, property->value))
               : std::string{};
  }

  std::vector<int64_t> integers(const UsdaPrim& prim, std::string_view name) const {
    const UsdaProperty* property = prim.find(name);
    if (!property || property->value.empty()) return {};
    return read_usda_integers(m_file, property->value);
  }

  void add_faces(const UsdaPrim& prim, size_t points, int32_t offset) {
    const std::vector<int64_t> counts = integers(prim, "faceVertexCounts");
    const std::vector<int64_t> corners = integers(prim, "faceVertexIndices");
    const auto refuse = [&](const char* property, const std::string& problem) {
      throw_input_error(m_file.name(), fmt::format("{}.{}", prim.name, property), problem);
    };
    for (const int64_t corner : corners)
      if (corner < 0 || corner >= static_cast<int64_t>(points))
        refuse("faceVertexIndices",
               fmt::format("point {} does not exist, there are {}", corner, points));
    if (corners.size() + m_face_of_triangle.size() > static_cast<size_t>(most_vertices))
      refuse("faceVertexIndices", fmt::format("more than {} are not allowed", most_vertices));
    const bool flipped = text_of(prim, "orientation") == "leftHanded";
    size_t begin = 0;
    for (size_t face = 0; face < counts.size(); ++face) {
      if (counts[face] < 0 || static_cast<uint64_t>(counts[face]) > corners.size() - begin)
        refuse("faceVertexCounts", fmt::format("face {} has {} corners, {} are left", face,
                                               counts[face], corners.size() - begin));
      const auto count = static_cast<size_t>(counts[face]);
      const auto corner = [&](size_t i) {
        return static_cast<int32_t>(corners[begin + i]) + offset;
      };
      for (size_t i = 1; i + 1 < count; ++i) {
        const int32_t a = corner(i), b = corner(i + 1);
        m_animation.skin.triangles.emplace_back(corner(0), flipped ? b : a, flipped ? a : b);
        m_face_of_triangle.push_back(face);
      }
      begin += count;
    }
    if (begin != corners.size())
      refuse("faceVertexCounts",
             fmt::format("add up to {}, there are {} faceVertexIndices", begin, corners.size()));
  }

  // Keeps a value per vertex; anything else (per corner, per face, indexed) is left out.
  void add_primvar(const UsdaPrim& prim, const std::string& name, size_t points, Primvar& result) {
    const UsdaProperty* property = prim.find(name);
    const bool simple =
        property && !property->value.empty() && !prim.find(name + ":indices") &&
        (property->interpolation == "vertex" || property->interpolation == "varying");
    std::vector<float> values;
    if (simple) values = read_usda_tuples(m_file, property->value, result.attribute.components);
    result.complete &=
        simple && values.size() == points * static_cast<size_t>(result.attribute.components);
    if (result.complete)
      result.attribute.values.insert(result.attribute.values.end(), values.begin(), values.end());
  }

  void finish_attribute(Primvar& primvar) {
    if (!primvar.complete) return;
    // Texture coordinates of ours run down.
    if (primvar.attribute.components == 2)
      for (size_t i = 1; i < primvar.attribute.values.size(); i += 2)
        primvar.attribute.values[i] = 1 - primvar.attribute.values[i];
    m_animation.skin.attributes.push_back(std::move(primvar.attribute));
  }

  // Frames from time codes: those of the first mesh that moves, which all others must share.
  void set_times() {
    AnimatedSkin& skin = m_animation.skin;
    const MeshPoints* moving = nullptr;
    for (const MeshPoints& mesh : m_frames->meshes) {
      if (mesh.samples.empty()) continue;
      if (!moving) moving = &mesh;
      if (!std::equal(mesh.samples.begin(), mesh.samples.end(), moving->samples.begin(),
                      moving->samples.end(),
                      [](const UsdaSample& a, const UsdaSample& b) { return a.time == b.time; }))
        throw_input_error(m_file.name(), line_of(mesh.samples.front().value),
                          fmt::format("meshes '{}' and '{}' have points at different times",
                                      printable(mesh.name), printable(moving->name)));
    }
    skin.rate = m_layer.time_codes_per_second;
    skin.frame_count = 1;
    double first = m_layer.start_time;
    if (moving) {
      const std::vector<UsdaSample>& samples = moving->samples;
      const double step = samples.size() > 1 ? samples[1].time - samples[0].time : 1;
      for (size_t i = 2; i < samples.size(); ++i)
        if (std::abs(samples[i].time - samples[i - 1].time - step) > 1e-3 * step)
          throw_input_error(m_file.name(), line_of(samples[i].value),
                            fmt::format("time {} does not follow {} at the same distance ({}) as "
                                        "those before",
                                        samples[i].time, samples[i - 1].time, step));
      skin.rate /= step;
      first = samples[0].time / step;
      skin.frame_count = static_cast<int>(samples.size());
    }
    constexpr double largest = std::numeric_limits<int32_t>::max();
    if (!(std::abs(first) + skin.frame_count < largest) || !(skin.rate > 0))
      throw_input_error(m_file.name(), "points", "the time codes are out of range");
    skin.first_frame = static_cast<int>(std::round(first));
  }

  // The only mesh's GeomSubsets as parts, where they divide its faces into one run each.
  void split_into_subsets() {
    AnimatedSkin& skin = m_animation.skin;
    std::vector<Part> named;
    const size_t faces = m_face_of_triangle.empty() ? 0 : m_face_of_triangle.back() + 1;
    std::vector<int> part_of_face(faces, -1);
    for (const UsdaPrim& prim : m_layer.prims) {
      if (prim.type != "GeomSubset" || prim.parent != static_cast<int>(m_first_prim)) continue;
      const std::string element = text_of(prim, "elementType");
      if (!element.empty() && element != "face") continue;
      for (const int64_t face : integers(prim, "indices"))
        if (face >= 0 && face < static_cast<int64_t>(faces))
          part_of_face[static_cast<size_t>(face)] = static_cast<int>(named.size());
      Part part;
      part.name = prim.name;
      part.material = text_of(prim, "userProperties:material");
      named.push_back(std::move(part));
    }
    std::vector<int> part_of_triangle;
    for (const size_t face : m_face_of_triangle) part_of_triangle.push_back(part_of_face[face]);
    std::vector<Part> runs = parts_of_triangles(part_of_triangle, skin.triangles, skin.rest.size());
    if (named.empty() || runs.size() != named.size()) return;
    std::vector<bool> used(named.size());
    for (Part& run : runs) {
      const int number = part_of_triangle[static_cast<size_t>(run.triangles.first)];
      if (number < 0 || used[static_cast<size_t>(number)]) return;
      used[static_cast<size_t>(number)] = true;
      run.name = named[static_cast<size_t>(number)].name;
      run.material = named[static_cast<size_t>(number)].material;
    }
    skin.parts = std::move(runs);
  }

  const InputFile& m_file;
  const UsdaLayer& m_layer;
  std::shared_ptr<UsdaFrames> m_frames;
  FileAnimation m_animation;
  Primvar m_uv{{"TEXCOORD_0", 2, {}}, true};
  Primvar m_colour{{"COLOR_0", 3, {}}, true};
  std::vector<size_t> m_face_of_triangle;
  size_t m_first_prim = 0;
  bool m_has_rest = true;
};

}  // namespace

FileAnimation read_usda(const std::shared_ptr<const InputFile>& file) {
  const UsdaLayer layer = read_usda_layer(*file);
  return SkinBuilder(file, layer).build();
}

}  // namespace supple
