// What a voxel body is built from: few cells, each with the stiffness and mass of the matter in it.
#pragma once

#include "supple/mesh/cell_skin.h"
#include "supple/sim/flesh_model.h"
#include "supple/voxels/voxel_system.h"

namespace supple {

/// How a scene wants its voxels cut.
VoxelSolidOptions voxel_options(const BodySettings& settings);

/// The constant part of a voxel body.
struct VoxelModel : FleshModel {
  /// Cuts the skin into voxels and gathers what is in them. Throws an input error naming `file`
  /// when that is not possible.
  VoxelModel(const Character& character, const BodySettings& settings, const FrameRange& range,
             const std::string& file);

  CellSkin cell_skin;               ///< of the skin's points
  std::vector<CellMatrices> cells;  ///< numbered as in `mesh`
  size_t leaves = 0;                ///< cubes of matter that were looked at
  std::vector<uint8_t> held;        ///< whether each node is; empty when none is

  /// Whether the body has inertia: by default it does.
  static bool is_dynamic(const BodySettings& settings) { return settings.dynamic.value_or(true); }

  /// The equations of the body.
  std::unique_ptr<VoxelSystem> make_system() const;

 private:
  VoxelModel(const Character& character, const BodySettings& settings, const FrameRange& range,
             const std::string& file, VoxelSolid voxels);
  void gather(const BodySettings& settings, const VoxelSolid& voxels,
              std::span<const VoxelMaterial> materials, const std::string& file);
};

}  // namespace supple
