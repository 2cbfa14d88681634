#include "supple/io/draco_decoder.h"

#include <draco/compression/decode.h>

#include "supple/core/chunk.h"
#include "supple/core/error.h"
#include "supple/core/isolate.h"

namespace supple {
namespace {

template <class T>
bool convert(const draco::PointAttribute& attribute, size_t points, int components, Bytes& out) {
  std::vector<T> values(points * static_cast<size_t>(components));
  for (size_t p = 0; p < points; ++p) {
    const auto index = attribute.mapped_index(draco::PointIndex(static_cast<uint32_t>(p)));
    if (index.value() >= attribute.size() ||
        !attribute.ConvertValue<T>(index, static_cast<int8_t>(components),
                                   values.data() + p * static_cast<size_t>(components)))
      return false;
  }
  const auto* first = reinterpret_cast<const std::byte*>(values.data());
  out.assign(first, first + values.size() * sizeof(T));
  return true;
}

bool convert(const draco::PointAttribute& attribute, size_t points, const DracoRequest& request,
             Bytes& out) {
  switch (request.component_type) {
    case 5120:
      return convert<int8_t>(attribute, points, request.components, out);
    case 5121:
      return convert<uint8_t>(attribute, points, request.components, out);
    case 5122:
      return convert<int16_t>(attribute, points, request.components, out);
    case 5123:
      return convert<uint16_t>(attribute, points, request.components, out);
    case 5125:
      return convert<uint32_t>(attribute, points, request.components, out);
    case 5126:
      return convert<float>(attribute, points, request.components, out);
    default:
      return false;
  }
}

// Runs in the isolated process; an empty result stands for data that cannot be decoded.
Bytes decode_to_chunk(ByteView compressed, const std::vector<DracoRequest>& requests) {
  draco::DecoderBuffer buffer;
  buffer.Init(reinterpret_cast<const char*>(compressed.data()), compressed.size());
  draco::Decoder decoder;
  auto decoded = decoder.DecodeMeshFromBuffer(&buffer);
  if (!decoded.ok()) return {};
  const std::unique_ptr<draco::Mesh> mesh = std::move(decoded).value();
  if (!mesh) return {};

  Chunk chunk;
  const std::vector<uint64_t> points = {mesh->num_points()};
  chunk.add<uint64_t>("points", points);
  std::vector<int32_t> indices;
  indices.reserve(3 * static_cast<size_t>(mesh->num_faces()));
  for (uint32_t f = 0; f < mesh->num_faces(); ++f)
    for (int corner = 0; corner < 3; ++corner)
      indices.push_back(static_cast<int32_t>(
          mesh->face(draco::FaceIndex(f))[static_cast<size_t>(corner)].value()));
  chunk.add<int32_t>("indices", indices);
  for (size_t i = 0; i < requests.size(); ++i) {
    const draco::PointAttribute* attribute = mesh->GetAttributeByUniqueId(requests[i].id);
    Bytes values;
    if (!attribute || !convert(*attribute, mesh->num_points(), requests[i], values)) return {};
    chunk.add(ChunkArray{std::to_string(i), ElementType::u8, 1, std::move(values)});
  }
  return chunk.serialise();
}

}  // namespace

DracoMesh decode_draco(ByteView compressed, const std::vector<DracoRequest>& requests,
                       const JsonField& field) {
  const IsolationResult result =
      try_isolated([&] { return decode_to_chunk(compressed, requests); }, IsolationLimits{});
  if (result.ending != IsolationEnding::finished)
    field.fail("Draco data is damaged: " + result.problem);
  if (result.bytes.empty()) field.fail("Draco data is damaged or lacks an attribute");
  const Chunk chunk = Chunk::parse(result.bytes, field.file());
  DracoMesh mesh;
  mesh.points = chunk.get<uint64_t>("points", 1, 1, field.file())[0];
  for (const int32_t index : chunk.get<int32_t>("indices", 1, -1, field.file()))
    mesh.indices.push_back(static_cast<uint32_t>(index));
  for (size_t i = 0; i < requests.size(); ++i)
    mesh.attributes.push_back(chunk.find(std::to_string(i))->data);
  return mesh;
}

}  // namespace supple
