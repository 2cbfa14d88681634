#include "supple/io/export_frames.h"

#include <cmath>
#include <limits>

#include "supple/core/error.h"
#include "supple/rig/split_skin.h"

namespace supple {
namespace {

void check_triangles(const std::string& path, const AnimatedSkin& skin) {
  const auto vertices = static_cast<int64_t>(skin.rest.size());
  for (size_t t = 0; t < skin.triangles.size(); ++t)
    for (int corner = 0; corner < 3; ++corner) {
      const int64_t vertex = skin.triangles[t][corner];
      if (vertex < 0 || vertex >= vertices)
        throw_output_error(path, fmt::format("triangle {} uses vertex {}, the skin has 0 to {}", t,
                                             vertex, vertices - 1));
    }
}

void check_frame(const std::string& path, const AnimatedSkin& skin, int64_t number,
                 const SkinFrame& frame) {
  const size_t vertices = skin.rest.size();
  if (frame.positions.size() != vertices)
    throw_output_error(path, fmt::format("frame {} has {} vertices, the skin {}", number,
                                         frame.positions.size(), vertices));
  if (frame.maps.size() != skin.map_names.size())
    throw_output_error(path, fmt::format("frame {} has {} maps, the skin {}", number,
                                         frame.maps.size(), skin.map_names.size()));
  for (size_t m = 0; m < frame.maps.size(); ++m)
    if (frame.maps[m].size() != vertices)
      throw_output_error(
          path, fmt::format("frame {}: map '{}' has {} values, the skin {} vertices", number,
                            printable(skin.map_names[m]), frame.maps[m].size(), vertices));
  for (size_t v = 0; v < vertices; ++v)
    if (!frame.positions[v].allFinite())
      throw_output_error(
          path, fmt::format("frame {}: the position of vertex {} is not finite", number, v));
}

}  // namespace

void check_exportable(const std::filesystem::path& path, const AnimatedSkin& skin) {
  const std::string file = path.string();
  constexpr int64_t largest = std::numeric_limits<int32_t>::max();
  if (skin.frame_count <= 0 || !skin.frame) throw_output_error(file, "no frames to write");
  if (int64_t{skin.first_frame} + skin.frame_count - 1 > largest)
    throw_output_error(file, fmt::format("frame numbers must not pass {}", largest));
  if (skin.rest.empty()) throw_output_error(file, "the skin has no vertices");
  if (skin.rest.size() > static_cast<size_t>(largest) / 3 ||
      skin.triangles.size() > static_cast<size_t>(largest) / 3)
    throw_output_error(file, fmt::format("more than {} vertices or triangles", largest / 3));
  if (!std::isfinite(skin.rate) || skin.rate <= 0)
    throw_output_error(file, fmt::format("the frame rate is {}, it must be positive", skin.rate));
  for (size_t v = 0; v < skin.rest.size(); ++v)
    if (!skin.rest[v].allFinite())
      throw_output_error(file, fmt::format("the rest position of vertex {} is not finite", v));
  check_triangles(file, skin);
  if (!skin.split_map.empty() && (skin.split_map.vertices.size() != skin.rest.size() ||
                                  skin.split_map.triangles.size() != skin.triangles.size()))
    throw_output_error(file, "the skin's map to what it was split from is of another skin");
  for (const VertexAttribute& a : skin.attributes)
    if (a.components < 1 || a.values.size() != skin.rest.size() * static_cast<size_t>(a.components))
      throw_output_error(
          file, fmt::format("attribute '{}' has {} values, {} vertices need {} each",
                            printable(a.name), a.values.size(), skin.rest.size(), a.components));
}

SkinFrame checked_frame(const std::filesystem::path& path, const AnimatedSkin& skin, int index) {
  SkinFrame frame = skin.frame(index);
  check_frame(path.string(), skin, int64_t{skin.first_frame} + index, frame);
  return frame;
}

void for_each_frame(const std::filesystem::path& path, const AnimatedSkin& skin,
                    const ExportOptions& options,
                    const std::function<void(int64_t number, const SkinFrame& frame)>& body) {
  for (int index = 0; index < skin.frame_count; ++index) {
    SkinFrame frame = checked_frame(path, skin, index);
    for (Vec3f& p : frame.positions) p = to_file_axes(p, options.up);
    body(int64_t{skin.first_frame} + index, frame);
    if (options.progress) options.progress(index + 1, skin.frame_count);
  }
}

double seconds_of_frame(const AnimatedSkin& skin, int64_t number) {
  return static_cast<double>(number) / skin.rate;
}

std::string frame_digits(int64_t number) {
  return fmt::format("{}{:04}", number < 0 ? "-" : "", std::abs(number));
}

std::vector<Part> parts_to_write(const AnimatedSkin& skin) {
  int64_t next = 0;
  bool consecutive = true;
  for (const Part& part : skin.parts) {
    consecutive &= part.triangles.first == next && part.triangles.count >= 0;
    next += part.triangles.count;
  }
  if (consecutive && next == static_cast<int64_t>(skin.triangles.size()) && !skin.parts.empty())
    return skin.parts;
  Part whole;
  whole.name = skin.name;
  whole.vertices = {0, static_cast<int32_t>(skin.rest.size())};
  whole.triangles = {0, static_cast<int32_t>(skin.triangles.size())};
  return {whole};
}

bool parts_are_separate(const AnimatedSkin& skin, const std::vector<Part>& parts) {
  int64_t next = 0;
  for (const Part& part : parts) {
    if (part.vertices.first != next || part.vertices.count < 0) return false;
    next += part.vertices.count;
    for (int32_t t = part.triangles.first; t < part.triangles.end(); ++t)
      if (skin.triangles[t].minCoeff() < part.vertices.first ||
          skin.triangles[t].maxCoeff() >= next)
        return false;
  }
  return next == static_cast<int64_t>(skin.rest.size());
}

const VertexAttribute* find_attribute(const AnimatedSkin& skin, std::string_view name,
                                      int components) {
  for (const VertexAttribute& a : skin.attributes)
    if (a.name == name && a.components >= components) return &a;
  return nullptr;
}

float attribute_value(const VertexAttribute& attribute, size_t vertex, int k) {
  const float value =
      attribute.values[vertex * static_cast<size_t>(attribute.components) + static_cast<size_t>(k)];
  return std::isfinite(value) ? value : 0.0f;
}

Vec2f texture_coordinate(const VertexAttribute& attribute, size_t vertex) {
  return {attribute_value(attribute, vertex, 0), 1.0f - attribute_value(attribute, vertex, 1)};
}

std::vector<float> split_values(const std::string& path, const AnimatedSkin& skin, const Part& part,
                                const std::vector<float>& values, int components) {
  if (skin.split_map.empty()) return values;
  const auto width = static_cast<size_t>(components);
  const Range input = input_vertices(skin.split_map, part);
  if (values.size() != width * static_cast<size_t>(input.count))
    throw_output_error(path, fmt::format("part '{}' was made of {} vertices, its file has {}",
                                         printable(part.name), input.count, values.size() / width));
  std::vector<float> result;
  result.reserve(width * static_cast<size_t>(part.vertices.count));
  for (int32_t v = part.vertices.first; v < part.vertices.end(); ++v) {
    const VertexSource source = skin.split_map.vertices[static_cast<size_t>(v)];
    for (size_t c = 0; c < width; ++c) {
      double sum = 0;
      for (int k = 0; k < 3; ++k) {
        if (source.weights[k] == 0) continue;
        const int32_t local = source.vertices[k] - input.first;
        if (local < 0 || local >= input.count)
          throw_output_error(path, fmt::format("vertex {} comes from another part", v));
        sum += static_cast<double>(source.weights[k]) *
               static_cast<double>(values[width * static_cast<size_t>(local) + c]);
      }
      result.push_back(static_cast<float>(sum));
    }
  }
  return result;
}

std::string file_stem(std::string_view name) {
  constexpr size_t longest = 100;
  std::string stem(name.substr(0, longest));
  for (char& c : stem)
    if (static_cast<unsigned char>(c) <= 32 || c == 127 ||
        std::string_view("/\\:*?\"<>|").find(c) != std::string_view::npos)
      c = '_';
  // A name of dots alone is a folder, a leading one hides the file.
  while (!stem.empty() && stem.front() == '.') stem.erase(0, 1);
  return stem.empty() ? "skin" : stem;
}

ByteView position_bytes(const std::vector<Vec3f>& positions) {
  static_assert(sizeof(Vec3f) == 12);
  return std::as_bytes(std::span(positions));
}

std::string UniqueNames::take(const std::string& name) {
  std::string candidate = name;
  for (int i = 2; !m_taken.insert(candidate).second; ++i) candidate = fmt::format("{}_{}", name, i);
  return candidate;
}

}  // namespace supple
