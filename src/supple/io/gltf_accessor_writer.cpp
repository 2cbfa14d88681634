#include "supple/io/gltf_accessor_writer.h"

#include "supple/io/gltf_accessor.h"
#include "supple/math/flat.h"

namespace supple {

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

int add_index_accessor(GltfDocument& document, std::span<const uint32_t> indices) {
  return add_accessor(document, std::as_bytes(indices), 5125, "SCALAR", indices.size());
}

}  // namespace supple
