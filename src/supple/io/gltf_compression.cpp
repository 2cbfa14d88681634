// Unpacks the two geometry compressions in use for glTF, so that no other code need know of them.
#include <meshoptimizer.h>

#include <algorithm>
#include <set>

#include "supple/core/error.h"
#include "supple/io/draco_decoder.h"
#include "supple/io/gltf_accessor.h"
#include "supple/io/gltf_document.h"

namespace supple {
namespace {

constexpr const char* draco_extension = "KHR_draco_mesh_compression";
constexpr const char* meshopt_extension = "EXT_meshopt_compression";

std::optional<JsonField> extension(const JsonField& owner, std::string_view name) {
  const auto extensions = owner.find("extensions");
  return extensions ? extensions->find(name) : std::nullopt;
}

void erase_extension(Json& owner, const char* name) {
  if (!owner.contains("extensions")) return;
  owner["extensions"].erase(name);
  if (owner["extensions"].empty()) owner.erase("extensions");
}

void erase_from_list(Json& root, const char* list, const char* name) {
  if (!root.contains(list)) return;
  Json kept = Json::array();
  for (const Json& entry : root[list])
    if (entry != name) kept.push_back(entry);
  if (kept.empty())
    root.erase(list);
  else
    root[list] = kept;
}

ByteView slice(const GltfDocument& document, const JsonField& from) {
  const auto buffer = static_cast<size_t>(from["buffer"].index(document.buffers.size(), "buffers"));
  const ByteView data = document.buffers[buffer];
  const auto offset = from.has("byteOffset")
                          ? static_cast<size_t>(from["byteOffset"].integer(0, int64_t{1} << 40))
                          : 0;
  const auto length = static_cast<size_t>(from["byteLength"].integer(0, int64_t{1} << 40));
  if (offset > data.size() || length > data.size() - offset)
    from.fail(fmt::format("reaches past the end of its buffer ({} bytes)", data.size()));
  return data.subspan(offset, length);
}

// --- EXT_meshopt_compression -------------------------------------------------------------------

Bytes decode_meshopt(const GltfDocument& document, const JsonField& field) {
  const ByteView packed = slice(document, field);
  const auto stride = static_cast<size_t>(field["byteStride"].integer(1, 256));
  const auto count = static_cast<size_t>(field["count"].integer(0, 0xFFFFFFFFll));
  // The codec packs at most a few hundred to one; a larger promise is a lie.
  if (count * stride > 4096 + 2048 * packed.size())
    field["count"].fail(fmt::format("{} elements cannot come from {} bytes", count, packed.size()));
  const std::string mode = field["mode"].text();
  const auto* source = reinterpret_cast<const unsigned char*>(packed.data());
  Bytes result(count * stride);
  int status = -1;
  if (mode == "ATTRIBUTES") {
    if (stride % 4 != 0) field["byteStride"].fail("must be a multiple of 4");
    status = meshopt_decodeVertexBuffer(result.data(), count, stride, source, packed.size());
  } else if (mode == "TRIANGLES" || mode == "INDICES") {
    if (stride != 2 && stride != 4) field["byteStride"].fail("must be 2 or 4 for indices");
    if (mode == "TRIANGLES" && count % 3 != 0) field["count"].fail("must be a multiple of 3");
    status = mode == "TRIANGLES"
                 ? meshopt_decodeIndexBuffer(result.data(), count, stride, source, packed.size())
                 : meshopt_decodeIndexSequence(result.data(), count, stride, source, packed.size());
  } else {
    field["mode"].fail(
        fmt::format("'{}' is not one of ATTRIBUTES, TRIANGLES, INDICES", printable(mode)));
  }
  if (status != 0) field.fail("compressed data is damaged");

  const auto filter_field = field.find("filter");
  const std::string filter = filter_field ? filter_field->text() : "NONE";
  if (filter == "OCTAHEDRAL" && (stride == 4 || stride == 8))
    meshopt_decodeFilterOct(result.data(), count, stride);
  else if (filter == "QUATERNION" && stride == 8)
    meshopt_decodeFilterQuat(result.data(), count, stride);
  else if (filter == "EXPONENTIAL" && stride % 4 == 0)
    meshopt_decodeFilterExp(result.data(), count, stride);
  else if (filter != "NONE")
    field.fail(
        fmt::format("filter '{}' with a stride of {} is not allowed", printable(filter), stride));
  return result;
}

void unpack_meshopt(GltfDocument& document) {
  if (!document.root.contains("bufferViews")) return;
  const size_t count = document.fields()["bufferViews"].size();
  Bytes unpacked;
  std::vector<std::pair<size_t, std::pair<size_t, size_t>>> placed;  // view, (offset, length)
  for (size_t v = 0; v < count; ++v) {
    const JsonField view = document.fields()["bufferViews"][v];
    const auto packed = extension(view, meshopt_extension);
    if (!packed) continue;
    const Bytes data = decode_meshopt(document, *packed);
    unpacked.resize((unpacked.size() + 3) / 4 * 4);
    placed.push_back({v, {unpacked.size(), data.size()}});
    unpacked.insert(unpacked.end(), data.begin(), data.end());
  }
  if (placed.empty()) return;
  for (const auto& [v, place] : placed) {
    Json& view = document.root["bufferViews"][v];
    view["buffer"] = document.buffers.size();
    view["byteOffset"] = place.first;
    view["byteLength"] = place.second;
    erase_extension(view, meshopt_extension);
  }
  document.root["buffers"].push_back(Json{{"byteLength", unpacked.size()}});
  document.buffers.push_back(std::move(unpacked));
  for (Json& buffer : document.root["buffers"]) erase_extension(buffer, meshopt_extension);
}

// --- KHR_draco_mesh_compression ----------------------------------------------------------------

// Puts decoded values behind an accessor as a buffer view of their own.
void fill_accessor(GltfDocument& document, size_t accessor, ByteView values, size_t element_size,
                   bool vertex_attribute) {
  // Vertex attributes must start on multiples of four bytes.
  const size_t stride = vertex_attribute ? (element_size + 3) / 4 * 4 : element_size;
  Bytes padded;
  if (stride != element_size) {
    const size_t count = values.size() / element_size;
    padded.resize(count * stride);
    for (size_t i = 0; i < count; ++i)
      std::copy_n(values.begin() + static_cast<ptrdiff_t>(i * element_size), element_size,
                  padded.begin() + static_cast<ptrdiff_t>(i * stride));
    values = padded;
  }
  const int view = add_buffer_view(document, values);
  if (stride != element_size)
    document.root["bufferViews"][static_cast<size_t>(view)]["byteStride"] = stride;
  Json& target = document.root["accessors"][accessor];
  target["bufferView"] = view;
  target.erase("byteOffset");
}

void store_indices(GltfDocument& document, const JsonField& field, const DracoMesh& mesh) {
  const JsonField accessors = document.fields()["accessors"];
  const auto index = static_cast<size_t>(field.index(accessors.size(), "accessors"));
  const JsonField accessor = accessors[index];
  const size_t size = component_size(accessor["componentType"].integer());
  if (size == 0) accessor["componentType"].fail("is no component type");
  if (accessor["count"].integer() != static_cast<int64_t>(mesh.indices.size()))
    accessor["count"].fail(fmt::format("compressed mesh has {} indices", mesh.indices.size()));
  Bytes packed;
  for (const uint32_t i : mesh.indices) {
    const auto* raw = reinterpret_cast<const std::byte*>(&i);
    packed.insert(packed.end(), raw, raw + size);
  }
  fill_accessor(document, index, packed, size, false);
}

void unpack_draco_primitive(GltfDocument& document, const JsonField& primitive,
                            const JsonField& compressed) {
  const JsonField accessors = document.fields()["accessors"];
  const JsonField ids = compressed["attributes"].object();
  const JsonField attributes = primitive["attributes"].object();
  std::vector<DracoRequest> requests;
  std::vector<size_t> targets;
  for (const auto& [name, id] : ids.value().items()) {
    const JsonField attribute = attributes[name];
    const auto index = static_cast<size_t>(attribute.index(accessors.size(), "accessors"));
    const JsonField accessor = accessors[index];
    DracoRequest request;
    request.name = name;
    request.id = static_cast<uint32_t>(ids[name].integer(0, 0x7FFFFFFF));
    request.component_type = static_cast<int>(accessor["componentType"].integer(0, 1 << 20));
    request.components = components_of_type(accessor["type"].text());
    if (request.components < 1 || request.components > 4 ||
        component_size(request.component_type) == 0)
      accessor.fail("has a type Draco cannot hold");
    requests.push_back(request);
    targets.push_back(index);
  }
  const JsonField views = document.fields()["bufferViews"];
  const JsonField view =
      views[static_cast<size_t>(compressed["bufferView"].index(views.size(), "buffer views"))];
  const Bytes packed = [&] {
    const ByteView bytes = slice(document, view);
    return Bytes(bytes.begin(), bytes.end());
  }();
  const DracoMesh mesh = decode_draco(packed, requests, compressed);
  for (size_t i = 0; i < requests.size(); ++i) {
    const JsonField accessor = accessors[targets[i]];
    if (accessor["count"].integer() != static_cast<int64_t>(mesh.points))
      accessor["count"].fail(fmt::format("compressed mesh has {} vertices", mesh.points));
    const size_t size =
        component_size(requests[i].component_type) * static_cast<size_t>(requests[i].components);
    fill_accessor(document, targets[i], mesh.attributes[i], size, true);
  }
  if (const auto indices = primitive.find("indices")) store_indices(document, *indices, mesh);
}

void unpack_draco(GltfDocument& document) {
  const auto meshes = document.fields().find("meshes");
  if (!meshes) return;
  std::vector<std::pair<size_t, size_t>> unpacked;
  for (size_t m = 0; m < meshes->size(); ++m) {
    const JsonField primitives = (*meshes)[m]["primitives"];
    for (size_t p = 0; p < primitives.size(); ++p)
      if (const auto compressed = extension(primitives[p].object(), draco_extension)) {
        unpack_draco_primitive(document, primitives[p], *compressed);
        unpacked.emplace_back(m, p);
      }
  }
  for (const auto& [m, p] : unpacked)
    erase_extension(document.root["meshes"][m]["primitives"][p], draco_extension);
}

bool uses(const GltfDocument& document, const char* name) {
  const auto used = document.fields().find("extensionsUsed");
  if (!used) return false;
  for (size_t i = 0; i < used->size(); ++i)
    if ((*used)[i].text() == name) return true;
  return false;
}

}  // namespace

void unpack_compressed_geometry(GltfDocument& document) {
  if (uses(document, meshopt_extension)) unpack_meshopt(document);
  if (uses(document, draco_extension)) unpack_draco(document);
  for (const char* name : {meshopt_extension, draco_extension})
    for (const char* list : {"extensionsUsed", "extensionsRequired"})
      erase_from_list(document.root, list, name);
}

}  // namespace supple
