// Unpacking of Draco-compressed triangle meshes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "supple/core/bytes.h"
#include "supple/io/json_field.h"

namespace supple {

/// An attribute asked of a compressed mesh, and how its values are to be stored.
struct DracoRequest {
  std::string name;
  uint32_t id = 0;         ///< the attribute's unique number in the compressed data
  int component_type = 0;  ///< glTF component type of the result
  int components = 0;
};

/// A decompressed mesh: triangle corners, and the requested attributes as tightly packed values.
struct DracoMesh {
  size_t points = 0;
  std::vector<uint32_t> indices;
  std::vector<Bytes> attributes;  ///< in the order of the requests
};

/// Unpacks a mesh in a process of its own (damaged data cannot harm this one); mistakes are
/// reported as input errors about `field`.
DracoMesh decode_draco(ByteView compressed, const std::vector<DracoRequest>& requests,
                       const JsonField& field);

}  // namespace supple
