#include "supple/io/gltf_reader.h"

#include "supple/core/error.h"
#include "supple/io/gltf_nodes.h"

namespace supple {

Character character_from_gltf(const GltfDocument& document) {
  GltfReading reading{document, {}, {}, {}, {}, {}, {}};
  reading.character.source = document.file;
  reading.character.name = std::filesystem::path(document.file).stem().string();
  read_gltf_nodes(reading);
  read_gltf_meshes(reading);
  read_gltf_animations(reading);
  if (reading.character.skin.positions.empty())
    throw_input_error(document.file, "meshes", "the scene has no mesh with vertices");
  for (const Vec3f& p : reading.character.skin.positions)
    if (!p.allFinite())
      throw_input_error(document.file, "nodes",
                        "transforms put vertices outside the range of numbers");
  return std::move(reading.character);
}

Character read_gltf(const std::filesystem::path& path) {
  return character_from_gltf(read_gltf_document(path));
}

}  // namespace supple
