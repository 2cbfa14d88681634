#include "supple/io/gltf_accessor_writer.h"

#include <algorithm>

#include "supple/io/export_frames.h"
#include "supple/io/gltf_accessor.h"
#include "supple/math/flat.h"
#include "supple/rig/split_skin.h"

namespace supple {
namespace {

// An attribute's name in the file: names and widths glTF does not know get an underscore.
std::string attribute_name(const VertexAttribute& attribute) {
  const std::string& name = attribute.name;
  const bool known = (name.starts_with("TEXCOORD_") && attribute.components == 2) ||
                     (name.starts_with("COLOR_") && attribute.components >= 3);
  return known || name.starts_with('_') ? name : "_" + name;
}

}  // namespace

int add_accessor(GltfDocument& document, ByteView data, int component, const char* type,
                 size_t count) {
  const int view = add_buffer_view(document, data);
  document.root["accessors"].push_back(
      {{"bufferView", view}, {"componentType", component}, {"count", count}, {"type", type}});
  return static_cast<int>(document.root["accessors"].size()) - 1;
}

int add_float_accessor(GltfDocument& document, std::span<const float> values, const char* type) {
  const auto components = static_cast<size_t>(components_of_type(type));
  return add_accessor(document, std::as_bytes(values), 5126, type, values.size() / components);
}

int add_vector_accessor(GltfDocument& document, const std::vector<Vec3f>& values, bool bounds) {
  const int index = add_float_accessor(document, as_floats(values), "VEC3");
  if (!bounds || values.empty()) return index;
  Box3f box;
  for (const Vec3f& v : values) box.extend(v);
  Json& accessor = document.root["accessors"][static_cast<size_t>(index)];
  accessor["min"] = {box.min()[0], box.min()[1], box.min()[2]};
  accessor["max"] = {box.max()[0], box.max()[1], box.max()[2]};
  return index;
}

int add_time_accessor(GltfDocument& document, std::span<const float> times) {
  const int index = add_float_accessor(document, times, "SCALAR");
  Json& accessor = document.root["accessors"][static_cast<size_t>(index)];
  accessor["min"] = {times.front()};
  accessor["max"] = {times.back()};
  return index;
}

int add_part_indices(GltfDocument& document, std::span<const Vec3i> triangles, const Part& part) {
  std::vector<uint32_t> indices;
  for (int32_t t = part.triangles.first; t < part.triangles.end(); ++t)
    for (int corner = 0; corner < 3; ++corner)
      indices.push_back(
          static_cast<uint32_t>(triangles[static_cast<size_t>(t)][corner] - part.vertices.first));
  return add_accessor(document, std::as_bytes(std::span<const uint32_t>(indices)), 5125, "SCALAR",
                      indices.size());
}

void add_part_attributes(GltfDocument& document, const std::vector<VertexAttribute>& given,
                         const Part& part, Json& attributes) {
  static constexpr const char* types[] = {"", "SCALAR", "VEC2", "VEC3", "VEC4"};
  for (const VertexAttribute& attribute : given) {
    if (attribute.components < 1 || attribute.components > 4) continue;
    const std::string name = attribute_name(attribute);
    const bool colour = name.starts_with("COLOR_");  // 0 to 1 in a valid file
    std::vector<float> values;
    values.reserve(static_cast<size_t>(part.vertices.count) *
                   static_cast<size_t>(attribute.components));
    for (int32_t v = part.vertices.first; v < part.vertices.end(); ++v)
      for (int k = 0; k < attribute.components; ++k) {
        const float value = attribute_value(attribute, static_cast<size_t>(v), k);
        values.push_back(colour ? std::clamp(value, 0.0f, 1.0f) : value);
      }
    attributes[name] = add_float_accessor(document, values, types[attribute.components]);
  }
}

// Numbers are floats, as glTF has no whole numbers of 32 bits here: exact up to 2^24.
void add_part_sources(GltfDocument& document, const SplitMap& map, const Part& part,
                      Json& attributes) {
  if (map.empty()) return;
  const int32_t first = input_vertices(map, part).first;
  std::vector<Vec3f> vertices, weights;
  for (int32_t v = part.vertices.first; v < part.vertices.end(); ++v) {
    const VertexSource& source = map.vertices[static_cast<size_t>(v)];
    vertices.push_back((source.vertices - Vec3i::Constant(first)).cast<float>());
    weights.push_back(source.weights);
  }
  attributes["_SOURCE_VERTICES"] = add_vector_accessor(document, vertices, false);
  attributes["_SOURCE_WEIGHTS"] = add_vector_accessor(document, weights, false);
}

}  // namespace supple
