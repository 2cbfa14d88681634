// The body without flesh: the skin follows the rig by blend shapes and skinning.
#pragma once

#include "supple/rig/character.h"
#include "supple/sim/body.h"

namespace supple {

/// A body that is its rig: no elasticity, no dynamics, no memory of earlier frames.
class SkinnedBody final : public Body {
 public:
  /// `character` must outlive the body.
  SkinnedBody(const Character& character, SkinningMethod method);

  StepReport step(const Drive& drive, double dt) override;
  void skin(BodyFrame& out) const override;
  void save(Chunk& state) const override;
  void load(const Chunk& state, std::string_view file) override;

 private:
  const Character& m_character;
  SkinningMethod m_method;
  Skinner m_skinner;
  std::vector<Vec3f> m_positions;
};

}  // namespace supple
