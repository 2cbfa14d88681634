#include "supple/sim/voxel_split.h"

#include "supple/core/error.h"
#include "supple/core/log.h"
#include "supple/rig/split_skin.h"
#include "supple/sim/voxel_model.h"

namespace supple {

void split_for_voxels(Character& character, const BodySettings& settings, const std::string& file) {
  const size_t vertices = character.skin.positions.size();
  const size_t triangles = character.skin.triangles.size();
  try {
    const FleshSkin skin(character);
    split_skin(character,
               voxel_planes(skin.mesh.positions, skin.all_triangles(), voxel_options(settings)));
  } catch (const Error& error) {
    throw_input_error(file, "body.voxels.split", error.what());
  }
  log_info("voxels: split the skin of {} vertices and {} triangles into {} and {}", vertices,
           triangles, character.skin.positions.size(), character.skin.triangles.size());
}

}  // namespace supple
