// What a lattice body is built from: a body of cells, each full or scaled by how much of it is.
#pragma once

#include "supple/lattice/lattice_system.h"
#include "supple/sim/flesh_model.h"

namespace supple {

/// The constant part of a lattice body.
struct LatticeModel : FleshModel {
  /// Fills the skin with cells and looks up what the scene says about them. Throws an
  /// input error naming `file` when that is not possible.
  LatticeModel(const Character& character, const BodySettings& settings, const FrameRange& range,
               const std::string& file);

  std::vector<CellMaterial> moduli;  ///< of the cells, scaled by how much of them is filled

  /// Whether the body has inertia: by default characters do, plain solids do not.
  bool is_dynamic(const BodySettings& settings) const {
    return settings.dynamic.value_or(skin.rigged);
  }

  /// The springs of pulled nodes, at rest.
  std::vector<TargetSpring> springs() const;

  /// The equations of the body at rest, without springs.
  std::unique_ptr<LatticeSystem> make_system() const;
};

}  // namespace supple
